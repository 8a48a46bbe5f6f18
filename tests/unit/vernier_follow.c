/* SPDX-License-Identifier: MIT */
/* The distances of the readings follow the core clock, and nothing but it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "stepped.h"
#include "timing/wait/vernier.h"

#define SPACING 27.3
#define PAD 0.71

static const struct stepped steps_of_26 = {26, 11};

static double greatest_error(const struct vernier *vernier, const double truth[APPROACH_FINE],
                             int count)
{
    double greatest = 0;
    for (int k = 0; k < count; k++)
        greatest = fmax(greatest, fabs(vernier->offsets[k] - truth[k]));
    return greatest;
}

struct chase {
    struct vernier vernier;
    double truth[APPROACH_FINE];
};

/* The core clock has changed: what took `spacing` now takes `factor` times as many ticks. */
static struct chase new_chase(double factor)
{
    struct chase chase = {.vernier = {.step_ticks = 26, .readings = APPROACH_FINE}};
    stepped_distances(chase.vernier.offsets, SPACING, PAD);
    stepped_distances(chase.truth, SPACING * factor, PAD * factor);
    return chase;
}

static void follow_once(struct chase *chase, double first)
{
    uint32_t readings[APPROACH_FINE];
    stepped_series(&steps_of_26, first, chase->truth, readings);
    vernier_follow(&chase->vernier, readings, APPROACH_VERNIER);
}

/* Whether the readings have a common instant by now, at this phase. */
static int all_agree(const struct chase *chase, double first)
{
    uint32_t readings[APPROACH_FINE];
    double low = 0, high = chase->vernier.step_ticks;
    stepped_series(&steps_of_26, first, chase->truth, readings);
    for (int k = 0; k < APPROACH_VERNIER; k++) {
        double end = (double)(int32_t)(readings[k] - readings[0]) - chase->vernier.offsets[k];
        if (end > low)
            low = end;
        if (end + chase->vernier.step_ticks < high)
            high = end + chase->vernier.step_ticks;
    }
    return low <= high + 0.05;
}

static const double changes[] = {0.95, 0.98, 0.995, 1.005, 1.02, 1.05};
#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static void they_follow_the_core_clock_within_some_hundred_series(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (size_t i = 0; i < CHANGES; i++) {
        struct chase chase = new_chase(changes[i]);
        for (int series = 0; series < 800; series++)
            follow_once(&chase, dice_between(&dice, 1e6, 1e9));
        assert_true(greatest_error(&chase.vernier, chase.truth, APPROACH_VERNIER) < 2);
    }
}

/*
 * A series that begins just after a poll saw the counter step always begins at one phase. There,
 * distances with which the readings agree cannot be told from the true ones, a step off or not.
 */
static void they_follow_even_if_all_series_begin_at_one_phase(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGES; i++)
        for (int phase = 0; phase < 26; phase++) {
            struct chase chase = new_chase(changes[i]);
            double first = 26e6 + phase + 0.3;
            for (int series = 0; series < 800; series++)
                follow_once(&chase, first);
            assert_true(all_agree(&chase, first));
            assert_true(greatest_error(&chase.vernier, chase.truth, APPROACH_VERNIER) < 26);
        }
}

static void they_stay_where_they_are_right_at_any_phase_however_often_it_comes(void **state)
{
    (void)state;
    for (int phase = 0; phase < 52; phase++) {
        struct chase chase = new_chase(1), before = chase;
        for (int series = 0; series < 2000; series++)
            follow_once(&chase, 26e6 + phase / 2.0 + 0.1);
        assert_memory_equal(&chase.vernier, &before.vernier, sizeof(chase.vernier));
    }
}

static void they_stay_where_they_are_right_at_random_phases(void **state)
{
    struct dice dice = dice_new();
    struct chase chase = new_chase(1), before = chase;
    (void)state;
    for (int series = 0; series < 100000; series++)
        follow_once(&chase, dice_between(&dice, 1e6, 1e9));
    assert_memory_equal(&chase.vernier, &before.vernier, sizeof(chase.vernier));
}

static void assert_scaled_by_little(const struct vernier *before, const struct vernier *after)
{
    for (int k = 1; k < APPROACH_FINE; k++) {
        double ratio = after->offsets[k] / before->offsets[k];
        assert_true(ratio > 1 - 0.00051 && ratio < 1 + 0.00051);
        assert_true(fabs(ratio - after->offsets[1] / before->offsets[1]) < 1e-9);
    }
    assert_true(after->offsets[0] == 0);
}

/* Interruptions lengthen a series by any amount. */
static void no_series_moves_them_by_more_than_a_twentieth_of_a_percent(void **state)
{
    struct dice dice = dice_new();
    struct chase chase = new_chase(1);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct vernier before = chase.vernier;
        uint32_t readings[APPROACH_FINE];
        for (int k = 0; k < APPROACH_FINE; k++)
            readings[k] = (uint32_t)dice_wide(&dice);
        vernier_follow(&chase.vernier, readings, APPROACH_VERNIER);
        assert_scaled_by_little(&before, &chase.vernier);
    }
}

static void readings_after_those_of_the_sample_are_not_looked_at(void **state)
{
    struct chase chase = new_chase(1), before = chase;
    uint32_t readings[APPROACH_FINE];
    (void)state;
    stepped_series(&steps_of_26, 1e6, chase.truth, readings);
    for (int k = APPROACH_VERNIER; k < APPROACH_FINE; k++)
        readings[k] = 0x5a5a5a5a;
    vernier_follow(&chase.vernier, readings, APPROACH_VERNIER);
    assert_memory_equal(&chase.vernier, &before.vernier, sizeof(chase.vernier));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_follow_the_core_clock_within_some_hundred_series),
        cmocka_unit_test(they_follow_even_if_all_series_begin_at_one_phase),
        cmocka_unit_test(they_stay_where_they_are_right_at_any_phase_however_often_it_comes),
        cmocka_unit_test(they_stay_where_they_are_right_at_random_phases),
        cmocka_unit_test(no_series_moves_them_by_more_than_a_twentieth_of_a_percent),
        cmocka_unit_test(readings_after_those_of_the_sample_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
