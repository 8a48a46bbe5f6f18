/* SPDX-License-Identifier: MIT */
/* How far a slope can be from UTC's: what was told, unless the oscillator says that it is more. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/pace.h"

/* Parts in a million of 1 ns, in 2^-64 ns. */
#define PPM (UINT64_MAX / 1000000)

static struct pace_slope slope(uint64_t fast_ppm, uint64_t error_ppm, uint64_t told_ppm)
{
    struct pace_slope slope = {{1, fast_ppm * PPM}, error_ppm * PPM, told_ppm * PPM, 500 * PPM};
    return slope;
}

static uint64_t growth_ppm(struct pace *pace, struct pace_slope slope)
{
    return pace_growth(pace, &slope) / PPM;
}

static void what_is_told_is_believed_if_the_oscillator_does_not_contradict(void **state)
{
    struct pace pace = {0};
    (void)state;
    assert_int_equal(growth_ppm(&pace, slope(100, 2, 0)), 0);
    assert_int_equal(growth_ppm(&pace, slope(103, 1, 0)), 0);
    assert_int_equal(growth_ppm(&pace, slope(600, 1, 500)), 500);
    assert_int_equal(growth_ppm(&pace, slope(100, 1, 500)), 500);
    assert_int_equal(growth_ppm(&pace, slope(102, 1, 0)), 0);
}

static void a_change_that_nobody_told_is_in_the_growth_until_it_is_gone(void **state)
{
    struct pace pace = {0};
    (void)state;
    assert_int_equal(growth_ppm(&pace, slope(100, 2, 0)), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(growth_ppm(&pace, slope(5100, 1, 0)), 5000 + 2 - 1);
    assert_int_equal(growth_ppm(&pace, slope(100, 1, 0)), 0);
}

/* What may be away from UTC's by 500 ppm to either side does not change by 1,000. */
static void a_change_of_more_than_two_paces_may_be_apart_is_told_by_nobody(void **state)
{
    struct pace pace = {0};
    (void)state;
    assert_int_equal(growth_ppm(&pace, slope(1000, 2, 500)), 500);
    assert_int_equal(growth_ppm(&pace, slope(1503, 2, 500)), 500);
    assert_int_equal(growth_ppm(&pace, slope(1900, 2, 500)), 900 + 500 + 2 - 2);
    assert_int_equal(growth_ppm(&pace, slope(1900, 2, 5000)), 5000); /* told */
    assert_int_equal(growth_ppm(&pace, slope(1003, 2, 500)), 500);
}

static void the_slope_that_is_known_best_is_kept(void **state)
{
    struct pace pace = {0};
    (void)state;
    growth_ppm(&pace, slope(100, 50, 0));
    growth_ppm(&pace, slope(120, 1, 0));
    assert_true(pace.error_frac == 1 * PPM);
    growth_ppm(&pace, slope(120, 1, 500)); /* less is known of UTC's */
    assert_true(pace.error_frac == 1 * PPM);
    assert_int_equal(growth_ppm(&pace, slope(140, 1, 0)), 20 + 1 - 1);
}

static void what_is_a_nanosecond_a_tick_or_more_is_the_largest_number(void **state)
{
    struct pace pace = {0};
    struct pace_slope far = {{3, 0}, PPM, 0, 500 * PPM};
    (void)state;
    assert_true(pace_part(fixed_from_ns(41), 100000000) == UINT64_MAX);
    assert_true(pace_add(UINT64_MAX, 1) == UINT64_MAX);
    growth_ppm(&pace, slope(100, 1, 0));
    assert_true(pace_growth(&pace, &far) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_believed_if_the_oscillator_does_not_contradict),
        cmocka_unit_test(a_change_that_nobody_told_is_in_the_growth_until_it_is_gone),
        cmocka_unit_test(a_change_of_more_than_two_paces_may_be_apart_is_told_by_nobody),
        cmocka_unit_test(the_slope_that_is_known_best_is_kept),
        cmocka_unit_test(what_is_a_nanosecond_a_tick_or_more_is_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
