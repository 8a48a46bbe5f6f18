/* SPDX-License-Identifier: MIT */
/* What a calibration finds of short delays, where something holds up some of its trials. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calibration/calibration_delay.h"

/* Ticks: of a cycle, of a shorter run, and of what holds one up, which is more than they differ by. */
#define CYCLE 0.4
#define SHORTER 2000.0
#define HELD_UP 20000.0

static void undisturbed(double shorter[CALIBRATION_RUNS], double longer[CALIBRATION_RUNS])
{
    for (int i = 0; i < CALIBRATION_RUNS; i++) {
        shorter[i] = SHORTER;
        longer[i] = SHORTER + CALIBRATION_LONGER * CYCLE;
    }
}

/* Five of nine. */
static void hold_up_most(double runs[CALIBRATION_RUNS])
{
    for (int i = 0; i < CALIBRATION_RUNS; i += 2)
        runs[i] += HELD_UP;
}

static void assert_cycle(double shorter[CALIBRATION_RUNS], double longer[CALIBRATION_RUNS])
{
    const double rounding = 1e-9;
    assert_true(fabs(calibration_delay_cycle_of(shorter, longer) - CYCLE) < rounding);
}

static void a_cycle_is_what_longer_runs_have_more(void **state)
{
    double shorter[CALIBRATION_RUNS], longer[CALIBRATION_RUNS];
    (void)state;
    undisturbed(shorter, longer);
    assert_cycle(shorter, longer);
}

/* By the least difference it would be less than nothing. */
static void a_cycle_is_no_shorter_where_short_runs_are_held_up(void **state)
{
    double shorter[CALIBRATION_RUNS], longer[CALIBRATION_RUNS];
    (void)state;
    undisturbed(shorter, longer);
    hold_up_most(shorter);
    assert_cycle(shorter, longer);
}

static void a_cycle_is_no_longer_where_long_runs_are_held_up(void **state)
{
    double shorter[CALIBRATION_RUNS], longer[CALIBRATION_RUNS];
    (void)state;
    undisturbed(shorter, longer);
    hold_up_most(longer);
    assert_cycle(shorter, longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_is_what_longer_runs_have_more),
        cmocka_unit_test(a_cycle_is_no_shorter_where_short_runs_are_held_up),
        cmocka_unit_test(a_cycle_is_no_longer_where_long_runs_are_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
