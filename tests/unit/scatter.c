/* SPDX-License-Identifier: MIT */
/* What corrections say of the error: scatter, or a change of pace; and how it is forgotten. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/scatter.h"

#define MS 1000000

/* After 100 ms of 1 ns a tick; widths explain 40 ns of it. */
static void correct(struct scatter *scatter, int64_t ns)
{
    struct scatter_sample sample = {fixed_from_ns(ns), 100 * MS, 100 * MS, 40, 2};
    scatter_learn(scatter, &sample);
}

/* In 2^-64 ns per tick of 1 ns: parts in 10^12. */
static uint64_t pace_ppt(const struct scatter *scatter)
{
    return scatter->pace / (UINT64_MAX / 1000000000000);
}

static void corrections_have_the_scatter_of_two_samples(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    assert_int_equal(scatter_ns(&scatter, 0), 1);
    correct(&scatter, 8);
    correct(&scatter, -3);
    assert_int_equal(scatter_ns(&scatter, 0), 4);
    correct(&scatter, -11);
    assert_int_equal(scatter_ns(&scatter, 0), 6);
}

static void a_reading_has_half_a_step_of_the_counter_if_samples_show_it(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 12);
    assert_int_equal(scatter_ns(&scatter, 4), 6 + 2 + 1);
    assert_int_equal(scatter_ns(&scatter, 14), 6 + 7 + 1);
    assert_int_equal(scatter_ns(&scatter, 1000), scatter_ns(&scatter, 16)); /* much of it faded */
}

/* 100 ns in its 100 ms is one part in a million. */
static void a_slope_is_as_good_as_corrections_are_small(void **state)
{
    uint64_t ppm = UINT64_MAX / 1000000, known = 2 * ppm, widths_ns = 110;
    struct scatter scatter = {0};
    (void)state;
    assert_int_equal(scatter_slope(&scatter, known, widths_ns, 100 * MS), known);
    correct(&scatter, 9);
    uint64_t seen = scatter_slope(&scatter, known, widths_ns, 100 * MS);
    assert_in_range(seen, ppm - 1, ppm + 1); /* what is not of the usual widths stays */
    assert_int_equal(scatter_slope(&scatter, ppm / 2, widths_ns, 100 * MS), 0);
    /* A slope that was taken over. */
    assert_int_equal(scatter_slope(&scatter, known, widths_ns, 0), known);
    correct(&scatter, 40);
    assert_true(scatter_slope(&scatter, known, widths_ns, 100 * MS) > seen);
    assert_int_equal(scatter_slope(&scatter, known, 30, 100 * MS), known);
}

static void what_samples_do_not_explain_is_a_change_of_pace(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 12); /* a quarter of the widths, and the slope's 2 ns */
    assert_int_equal(scatter.pace, 0);
    correct(&scatter, -202);
    assert_in_range(pace_ppt(&scatter), 1999000, 2000000); /* 200 ns in 100 ms: 2 ppm */
    assert_in_range(scatter_ns(&scatter, 0), 20, 21);         /* and the scatter is the widths' */
}

static void what_the_next_sample_takes_back_is_none(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 60);
    assert_in_range(pace_ppt(&scatter), 579000, 580000); /* it may be one */
    correct(&scatter, -55);
    assert_int_equal(scatter.pace, 0);
    correct(&scatter, 0);
    assert_int_equal(scatter.pace, 0);
}

static void what_it_leaves_is_one(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 60);
    correct(&scatter, 0);
    correct(&scatter, -60);
    correct(&scatter, 60);
    assert_in_range(pace_ppt(&scatter), 579000, 580000);
}

/* As in the first second of a clock. */
static void what_a_rough_slope_explains_is_neither(void **state)
{
    struct scatter scatter = {0};
    struct scatter_sample rough = {fixed_from_ns(35), 100 * MS, 100 * MS, 40, 36};
    (void)state;
    scatter_learn(&scatter, &rough);
    assert_int_equal(scatter_ns(&scatter, 0), 1);
    assert_int_equal(scatter.pace, 0);
}

static void what_is_usual_is_no_change_of_pace(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    for (int64_t ns = 10; ns < 40; ns++)
        correct(&scatter, ns);
    assert_int_equal(scatter.pace, 0);
}

static void both_are_forgotten_in_some_minutes(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 1040);
    uint64_t pace = scatter.pace;
    for (int i = 0; i < 600; i++) /* a minute */
        correct(&scatter, 0);
    assert_in_range(scatter.pace, pace / 10 * 7, pace / 10 * 9);
    for (int i = 0; i < 54000; i++)
        correct(&scatter, 0);
    assert_int_equal(scatter_ns(&scatter, 0), 1);
    assert_true(scatter.pace < pace / 1000);
}

static void a_long_pause_forgets_everything(void **state)
{
    struct scatter scatter = {0};
    struct scatter_sample late = {fixed_from_ns(0), 1000 * MS, 3600000000000, 40, 2};
    (void)state;
    correct(&scatter, 1040);
    scatter_learn(&scatter, &late);
    assert_int_equal(scatter_ns(&scatter, 0), 1);
    assert_true(scatter.pace < UINT64_MAX / 1000000000000);
}

static void a_change_beyond_all_numbers_is_the_largest(void **state)
{
    struct scatter scatter = {0};
    struct scatter_sample large = {fixed_from_ns(5000), 1000, 1000, 40, 2};
    (void)state;
    scatter_learn(&scatter, &large);
    assert_true(scatter.pace == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corrections_have_the_scatter_of_two_samples),
        cmocka_unit_test(a_reading_has_half_a_step_of_the_counter_if_samples_show_it),
        cmocka_unit_test(a_slope_is_as_good_as_corrections_are_small),
        cmocka_unit_test(what_samples_do_not_explain_is_a_change_of_pace),
        cmocka_unit_test(what_the_next_sample_takes_back_is_none),
        cmocka_unit_test(what_it_leaves_is_one),
        cmocka_unit_test(what_a_rough_slope_explains_is_neither),
        cmocka_unit_test(what_is_usual_is_no_change_of_pace),
        cmocka_unit_test(both_are_forgotten_in_some_minutes),
        cmocka_unit_test(a_long_pause_forgets_everything),
        cmocka_unit_test(a_change_beyond_all_numbers_is_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
