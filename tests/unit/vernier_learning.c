/* SPDX-License-Identifier: MIT */
/* The distances of the readings: fitted to series at random phases, then following the core clock.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stepped.h"
#include "wait/vernier.h"

#define SERIES_FIT 4000
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

static int fit(struct vernier *vernier, const struct stepped *counter,
               const double truth[APPROACH_FINE], struct dice *dice)
{
    struct vernier_sums sums;
    uint32_t readings[APPROACH_FINE];
    memset(&sums, 0, sizeof(sums));
    for (int i = 0; i < SERIES_FIT; i++) {
        stepped_series(counter, dice_between(dice, 1e6, 1e10), truth, readings);
        vernier_add(&sums, readings);
    }
    return vernier_fit(vernier, &sums);
}

/* The mean of 4,000 has a standard error of 0.17 ticks. */
static void the_fit_finds_the_distances_at_any_spacing_and_pad(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 50; i++) {
        double truth[APPROACH_FINE];
        struct vernier vernier = {.step_ticks = 26};
        stepped_distances(truth, dice_between(&dice, 5, 80), dice_between(&dice, 0.2, 2));
        assert_int_equal(fit(&vernier, &steps_of_26, truth, &dice), 0);
        assert_true(vernier.offsets[0] == 0);
        assert_true(greatest_error(&vernier, truth, APPROACH_FINE) < 1.5);
    }
}

static void the_fit_is_exact_where_the_counter_is(void **state)
{
    const struct stepped fine = {1, 0};
    double truth[APPROACH_FINE];
    struct vernier_sums sums;
    struct vernier vernier = {.step_ticks = 1};
    uint32_t readings[APPROACH_FINE];
    (void)state;
    memset(&sums, 0, sizeof(sums));
    stepped_distances(truth, 30, 2);
    stepped_series(&fine, 4294967000.0, truth, readings);
    vernier_add(&sums, readings);
    assert_int_equal(vernier_fit(&vernier, &sums), 0);
    assert_true(greatest_error(&vernier, truth, APPROACH_FINE) < 1e-6);
}

static void assert_refused(const struct vernier_sums *sums)
{
    struct vernier vernier = {.step_ticks = 26, .readings = 1};
    stepped_distances(vernier.offsets, SPACING, PAD);
    struct vernier before = vernier;
    assert_int_equal(vernier_fit(&vernier, sums), 1);
    assert_memory_equal(&vernier, &before, sizeof(vernier));
}

/* As of seven series. */
static struct vernier_sums sums_of(double spacing, double pad)
{
    struct vernier_sums sums;
    memset(&sums, 0, sizeof(sums));
    sums.count = 7;
    for (int k = 0; k < APPROACH_FINE; k++)
        sums.elapsed[k] = 7 * stepped_distance(spacing, pad, k);
    return sums;
}

static void sums_that_make_no_sense_are_refused_and_change_nothing(void **state)
{
    struct vernier_sums none, still = sums_of(0, 0), back = sums_of(-20, 1);
    struct vernier_sums ever_closer = sums_of(40, -1);
    (void)state;
    memset(&none, 0, sizeof(none));
    assert_refused(&none);
    assert_refused(&still);
    assert_refused(&back);
    assert_refused(&ever_closer);
}

/* ---- following ---------------------------------------------------------------------------- */

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
        low = fmax(low, end);
        high = fmin(high, end + chase->vernier.step_ticks);
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
        cmocka_unit_test(the_fit_finds_the_distances_at_any_spacing_and_pad),
        cmocka_unit_test(the_fit_is_exact_where_the_counter_is),
        cmocka_unit_test(sums_that_make_no_sense_are_refused_and_change_nothing),
        cmocka_unit_test(they_follow_the_core_clock_within_some_hundred_series),
        cmocka_unit_test(they_follow_even_if_all_series_begin_at_one_phase),
        cmocka_unit_test(they_stay_where_they_are_right_at_any_phase_however_often_it_comes),
        cmocka_unit_test(they_stay_where_they_are_right_at_random_phases),
        cmocka_unit_test(no_series_moves_them_by_more_than_a_twentieth_of_a_percent),
        cmocka_unit_test(readings_after_those_of_the_sample_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
