/* SPDX-License-Identifier: MIT */
/* How far apart readings are: shown by themselves, followed when the neighbour comes and goes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "../repeats.h"
#include "stepped.h"
#include "timing/wait/spacing.h"

#define CYCLE 0.7 /* ticks */
#define QUIET 66.6 /* cycles, on Zen 4 */
#define BUSY 77.5

static struct dice dice;

/* A series at a random phase of a counter that steps by 26, or by `step`. */
static double show(double ticks_apart, uint64_t step)
{
    uint32_t readings[APPROACH_FINE];
    struct stepped counter = {step, dice_below(&dice, step)};
    stepped_series(&counter, dice_between(&dice, 1e6, 1e6), ticks_apart, readings);
    return spacing_of_readings(readings, APPROACH_VERNIER);
}

static void the_slope_is_that_of_the_readings(void **state)
{
    static const uint64_t steps[] = {1, 2, 10, 26};
    (void)state;
    for (int i = 0; i < repeats(4000); i++) {
        uint64_t step = steps[i % 4];
        double apart = dice_between(&dice, 20, 60);
        assert_true(fabs(show(apart, step) - apart) <= 0.13 * (double)step);
    }
}

/* Readings across a carry out of the lower 32 bits. */
static void the_slope_minds_no_carry(void **state)
{
    uint32_t readings[APPROACH_VERNIER];
    (void)state;
    for (uint32_t k = 0; k < APPROACH_VERNIER; k++)
        readings[k] = UINT32_MAX - 200 + 40 * k;
    assert_true(fabs(spacing_of_readings(readings, APPROACH_VERNIER) - 40) < 1e-9);
}

static void learn(struct spacing *spacing, double cycles, int series)
{
    for (int i = 0; i < series; i++)
        spacing_learn(spacing, show(cycles * CYCLE, 26), CYCLE);
}

static void a_quiet_core_leaves_it_as_it_is(void **state)
{
    struct spacing spacing;
    (void)state;
    spacing_init(&spacing, QUIET);
    for (int i = 0; i < repeats(20000); i++) {
        learn(&spacing, QUIET, 1);
        assert_true(fabs(spacing.cycles - QUIET) < 0.25);
    }
}

/* A calibration beside a busy neighbour, or one that was held up, is mended too. */
static void a_neighbour_that_comes_or_goes_is_believed_after_four(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(500); i++) {
        struct spacing spacing;
        spacing_init(&spacing, QUIET);
        learn(&spacing, BUSY, 4);
        assert_true(fabs(spacing.cycles - BUSY) < 2);
        learn(&spacing, BUSY, 40);
        assert_true(fabs(spacing.cycles - BUSY) < 0.7);
        learn(&spacing, QUIET, 4);
        assert_true(fabs(spacing.cycles - QUIET) < 2);
    }
}

static void three_that_were_held_up_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(2000); i++) {
        struct spacing spacing;
        spacing_init(&spacing, QUIET);
        for (int k = 0; k < 3; k++)
            spacing_learn(&spacing, dice_between(&dice, 60, 1e6), CYCLE);
        assert_true(spacing.cycles == QUIET);
        learn(&spacing, QUIET, 8);
        assert_true(fabs(spacing.cycles - QUIET) < 0.25);
    }
}

/* The others were held up besides: some of the four by microseconds. */
static void of_four_the_nearest_is_believed(void **state)
{
    struct spacing spacing;
    (void)state;
    spacing_init(&spacing, QUIET);
    spacing_learn(&spacing, 9000, CYCLE);
    spacing_learn(&spacing, BUSY * CYCLE, CYCLE);
    spacing_learn(&spacing, 80000, CYCLE);
    spacing_learn(&spacing, BUSY * CYCLE + 3, CYCLE);
    assert_true(fabs(spacing.cycles - BUSY) < 1e-9);
}

/* A change of the core clock is no change of it. */
static void a_clock_step_changes_nothing(void **state)
{
    struct spacing spacing;
    (void)state;
    spacing_init(&spacing, QUIET);
    for (int i = 0; i < repeats(4000); i++) {
        double cycle = i / 100 % 2 ? CYCLE * 1.3 : CYCLE;
        spacing_learn(&spacing, show(QUIET * cycle, 26), cycle);
        assert_true(fabs(spacing.cycles - QUIET) < 0.25);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slope_is_that_of_the_readings),
        cmocka_unit_test(the_slope_minds_no_carry),
        cmocka_unit_test(a_quiet_core_leaves_it_as_it_is),
        cmocka_unit_test(a_neighbour_that_comes_or_goes_is_believed_after_four),
        cmocka_unit_test(three_that_were_held_up_change_nothing),
        cmocka_unit_test(of_four_the_nearest_is_believed),
        cmocka_unit_test(a_clock_step_changes_nothing),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
