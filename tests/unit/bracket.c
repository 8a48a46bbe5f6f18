/* SPDX-License-Identifier: MIT */
/* A point's width: each of its terms, and no other. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/bracket.h"

/* 2 ns a tick, 100 ticks around the reference. */
static struct discipline_sample sample_of_100_ticks(void)
{
    struct discipline_sample sample = {0};
    sample.ticks_before = 1000;
    sample.ticks_after = 1100;
    sample.mono_ns = 77;
    return sample;
}

static struct estimator_point point(const struct discipline_sample *sample)
{
    return bracket_point(sample, fixed_from_ns(2));
}

static void the_point_is_the_middle_of_the_bracket(void **state)
{
    struct discipline_sample sample = sample_of_100_ticks();
    (void)state;
    assert_int_equal(point(&sample).ticks, 1050);
    assert_int_equal(point(&sample).ns, 77);
}

static void the_width_is_half_the_bracket_and_both_clocks_steps(void **state)
{
    struct discipline_sample sample = sample_of_100_ticks();
    (void)state;
    assert_int_equal(point(&sample).width_ns, 2 * (50 + 1) + 1); /* 102 / 256 is 0 */
    sample.ticks_after = 1101;
    assert_int_equal(point(&sample).width_ns, 2 * (51 + 1) + 1);
}

static void each_step_and_the_spread_of_cpus_comes_on_top(void **state)
{
    struct discipline_sample sample = sample_of_100_ticks();
    (void)state;
    sample.step_ticks = 40;
    assert_int_equal(point(&sample).width_ns, 2 * (50 + 40) + 1);
    sample.step_ticks = 0;
    sample.spread_ticks = 30;
    assert_int_equal(point(&sample).width_ns, 2 * (50 + 1 + 30) + 1);
    sample.spread_ticks = 0;
    sample.reference_step_ns = 280;
    assert_int_equal(point(&sample).width_ns, 2 * (50 + 1) + 280);
}

static void a_bracket_that_ends_before_it_began_was_read_on_two_cpus(void **state)
{
    struct discipline_sample sample = sample_of_100_ticks();
    (void)state;
    sample.ticks_after = 980;
    sample.spread_ticks = 30;
    assert_int_equal(bracket_ticks(&sample), 0);
    assert_int_equal(point(&sample).ticks, 990);
    assert_int_equal(point(&sample).width_ns, 2 * (1 + 30) + 1);
}

static void a_wide_bracket_has_room_for_a_rough_period(void **state)
{
    struct discipline_sample sample = sample_of_100_ticks();
    (void)state;
    sample.ticks_after = sample.ticks_before + 2 * 25600;
    uint64_t ns = 2 * (25600 + 1);
    assert_int_equal(point(&sample).width_ns, ns + ns / 256 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_point_is_the_middle_of_the_bracket),
        cmocka_unit_test(the_width_is_half_the_bracket_and_both_clocks_steps),
        cmocka_unit_test(each_step_and_the_spread_of_cpus_comes_on_top),
        cmocka_unit_test(a_bracket_that_ends_before_it_began_was_read_on_two_cpus),
        cmocka_unit_test(a_wide_bracket_has_room_for_a_rough_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
