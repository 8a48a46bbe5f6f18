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
    assert_int_equal(scatter_ns(&scatter), 1);
    correct(&scatter, 8);
    correct(&scatter, -3);
    assert_int_equal(scatter_ns(&scatter), 4);
    correct(&scatter, -11);
    assert_int_equal(scatter_ns(&scatter), 6);
}

static void what_samples_do_not_explain_is_a_change_of_pace(void **state)
{
    struct scatter scatter = {0};
    (void)state;
    correct(&scatter, 12); /* a quarter of the widths, and the slope's 2 ns */
    assert_int_equal(scatter.pace, 0);
    correct(&scatter, -202);
    assert_in_range(pace_ppt(&scatter), 1999000, 2000000); /* 200 ns in 100 ms: 2 ppm */
    assert_in_range(scatter_ns(&scatter), 20, 21);         /* and the scatter is the widths' */
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
    assert_int_equal(scatter_ns(&scatter), 1);
    assert_true(scatter.pace < pace / 1000);
}

static void a_long_pause_forgets_everything(void **state)
{
    struct scatter scatter = {0};
    struct scatter_sample late = {fixed_from_ns(0), 1000 * MS, 3600000000000, 40, 2};
    (void)state;
    correct(&scatter, 1040);
    scatter_learn(&scatter, &late);
    assert_int_equal(scatter_ns(&scatter), 1);
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
        cmocka_unit_test(what_samples_do_not_explain_is_a_change_of_pace),
        cmocka_unit_test(what_is_usual_is_no_change_of_pace),
        cmocka_unit_test(both_are_forgotten_in_some_minutes),
        cmocka_unit_test(a_long_pause_forgets_everything),
        cmocka_unit_test(a_change_beyond_all_numbers_is_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
