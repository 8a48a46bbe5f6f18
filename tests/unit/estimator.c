/* SPDX-License-Identifier: MIT */
/* From points of a reference to where it is and how fast it goes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "clock/discipline/estimator.h"

#define MS 1000000
#define HALF ((uint64_t)1 << 63)

/* A point that a perfect reference of 1.5 ns a tick would give. */
static struct estimator_point point_at(uint64_t ticks, uint64_t width_ns)
{
    int64_t ns = (int64_t)(5000 + ticks + ticks / 2);
    struct estimator_point point = {1000 + ticks, ns, width_ns, 0, 0};
    return point;
}

/* Followed over points a tenth of a second apart, ended by `ticks`. */
static struct estimator settled(uint64_t ticks)
{
    struct estimator estimator = {0};
    struct estimator_point point;
    for (uint64_t at = 0; at < ticks; at += 66666666) {
        point = point_at(at, 50);
        estimator_observe(&estimator, &point);
    }
    point = point_at(ticks, 50);
    estimator_observe(&estimator, &point);
    return estimator;
}

static uint64_t period_off(const struct estimator *estimator, struct fixed truth)
{
    struct fixed off = fixed_abs(fixed_subtract(estimator->period, truth));
    assert_true(off.ns == 0);
    return off.frac;
}

static void the_first_slope_waits_for_a_baseline(void **state)
{
    struct estimator estimator = {0};
    struct estimator_point first = point_at(0, 50), soon = point_at(300000, 50),
                           later = point_at(400000, 50);
    struct fixed truth = {1, HALF};
    (void)state;
    assert_int_equal(estimator_observe(&estimator, &first), ESTIMATOR_WAIT);
    assert_int_equal(estimator_observe(&estimator, &soon), ESTIMATOR_WAIT);
    assert_false(estimator.ready);
    assert_int_equal(estimator_observe(&estimator, &later), ESTIMATOR_FOLLOWED);
    assert_true(estimator.ready);
    assert_true(period_off(&estimator, truth) <= estimator.period_error_frac);
    assert_true(estimator.value.ns == later.ns && estimator.newest.ticks == later.ticks);
}

static void a_jump_begins_afresh_and_keeps_the_known_period(void **state)
{
    struct estimator estimator = settled(200000000);
    struct fixed period = estimator.period;
    struct estimator_point point = point_at(200100000, 50);
    (void)state;
    point.ns += 2 * MS;
    assert_int_equal(estimator_observe(&estimator, &point), ESTIMATOR_JUMPED);
    assert_true(estimator.ready);
    assert_int_equal(estimator.count, 1);
    assert_true(estimator.value.ns == point.ns && estimator.value.frac == 0);
    assert_true(estimator.period.ns == period.ns && estimator.period.frac == period.frac);
}

/* However far off: the reference was read somewhere in the width. */
static void an_interruption_of_a_sample_is_no_jump(void **state)
{
    struct estimator estimator = settled(200000000);
    struct estimator_point interrupted = point_at(200100000, 200 * MS),
                           jumped = point_at(200200000, 50);
    (void)state;
    interrupted.ns += 199 * MS;
    assert_int_equal(estimator_observe(&estimator, &interrupted), ESTIMATOR_FOLLOWED);
    jumped.ns += 199 * MS;
    assert_int_equal(estimator_observe(&estimator, &jumped), ESTIMATOR_JUMPED);
}

/* Of a counter with coarse steps hardly any point is kept: one is, as after a jump. */
static void the_slope_across_a_jump_is_no_rate(void **state)
{
    struct estimator estimator = {0};
    struct estimator_point first = point_at(0, 50), later = point_at(400000, 50),
                           wide = point_at(1000000, 1000), jumped = point_at(2000000, 50);
    (void)state;
    estimator_observe(&estimator, &first);
    estimator_observe(&estimator, &later);
    estimator.count = 1;
    estimator_observe(&estimator, &wide);
    assert_int_equal(estimator.count, 1);
    struct fixed period = estimator.period;
    jumped.ns += 3 * MS;
    assert_int_equal(estimator_observe(&estimator, &jumped), ESTIMATOR_JUMPED);
    assert_true(estimator.period.ns == period.ns && estimator.period.frac == period.frac);
}

/* Two jumps in a row look like another rate, but like no counter's. */
static void after_any_jumps_the_clock_is_followed_again(void **state)
{
    struct estimator estimator = settled(200000000);
    struct estimator_point point;
    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        point = point_at(200000000 + i * 1000000, 50);
        point.ns += (int64_t)i * 3600 * 1000 * MS;
        assert_int_equal(estimator_observe(&estimator, &point), ESTIMATOR_JUMPED);
    }
    point = point_at(204000000, 50);
    point.ns += 3 * 3600 * (int64_t)1000 * MS;
    assert_int_equal(estimator_observe(&estimator, &point), ESTIMATOR_FOLLOWED);
}

static void what_a_slewing_reference_can_do_is_no_jump(void **state)
{
    (void)state;
    assert_false(estimator_is_jump(1 * MS, 0));
    assert_true(estimator_is_jump(1 * MS + 1, 0));
    assert_false(estimator_is_jump(-1 * MS, 0));
    assert_true(estimator_is_jump(-1 * MS - 1, 0));
    assert_false(estimator_is_jump(11 * MS, 100 * MS));
    assert_true(estimator_is_jump(-11 * MS - 1, 100 * MS));
}

static void a_counter_that_goes_back_or_stands_still_begins_afresh(void **state)
{
    struct estimator back = settled(200000000), still = settled(200000000);
    struct estimator_point earlier = point_at(199999999, 50), same = point_at(200000000, 50);
    (void)state;
    same.ns += 102; /* more than both widths */
    assert_int_equal(estimator_observe(&back, &earlier), ESTIMATOR_BACKWARDS);
    assert_int_equal(back.count, 1);
    assert_true(back.newest.ticks == earlier.ticks && back.value.ns == earlier.ns);
    assert_int_equal(estimator_observe(&still, &same), ESTIMATOR_BACKWARDS);
}

/* What widths explain is no fault of the counter; what was told with it is not lost. */
static void two_samples_of_one_tick_are_of_the_same_moment(void **state)
{
    struct estimator estimator = settled(200000000);
    struct estimator_point same = point_at(200000000, 50), newest = estimator.newest;
    uint64_t growth_frac = estimator.growth_frac;
    (void)state;
    same.ns += 90;
    same.growth_ppb = same.slew_limit_ppm = 5000000;
    assert_int_equal(estimator_observe(&estimator, &same), ESTIMATOR_FOLLOWED);
    assert_true(estimator.newest.ticks == newest.ticks && estimator.newest.ns == newest.ns);
    assert_true(estimator.growth_frac > growth_frac);
    assert_int_equal(estimator.newest.slew_limit_ppm, 5000000);
}

static void a_counter_may_wrap(void **state)
{
    struct estimator estimator = {0};
    (void)state;
    for (uint64_t at = 0; at < 20; at++) {
        struct estimator_point point = point_at(at * 1000000, 50);
        point.ticks -= 10000000;
        assert_true(estimator_observe(&estimator, &point) <= ESTIMATOR_FOLLOWED);
    }
    assert_true(estimator.ready);
}

/* From 1.5 ns a tick to 1.500450: +300 ppm. */
static void a_change_of_rate_cuts_the_run_and_the_new_rate_is_found(void **state)
{
    struct estimator estimator = settled(1000000000);
    struct fixed truth = fixed_over(fixed_from_ns(150045), 100000);
    int cuts = 0;
    (void)state;
    for (uint64_t at = 1; at <= 10; at++) {
        struct estimator_point point = point_at(1000000000, 50);
        point.ticks += at * 66666666;
        point.ns += fixed_times(truth, at * 66666666).ns;
        cuts += estimator_observe(&estimator, &point) == ESTIMATOR_RATE_CHANGED;
    }
    assert_true(cuts >= 1 && cuts <= 3);
    assert_true(period_off(&estimator, truth) <= estimator.period_error_frac);
    assert_true(estimator.period_error_frac < truth.frac / 1000000);
}

static void a_disturbed_point_that_allows_the_prediction_moves_nothing(void **state)
{
    struct estimator estimator = settled(1000000000);
    struct estimator_point point = point_at(1066666666, 10000);
    struct fixed predicted = estimator_at(&estimator, point.ticks);
    uint64_t error_frac = estimator.period_error_frac;
    (void)state;
    point.ns += 9000;
    assert_int_equal(estimator_observe(&estimator, &point), ESTIMATOR_FOLLOWED);
    assert_true(estimator.value.ns == predicted.ns && estimator.value.frac == predicted.frac);
    assert_true(estimator.period_error_frac == error_frac);
}

static void a_disturbed_point_moves_the_estimate_only_as_far_as_it_must(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct estimator estimator = settled(1000000000);
        struct estimator_point point = point_at(1066666666, 10000);
        struct fixed predicted = estimator_at(&estimator, point.ticks);
        point.ns += sign * 15000;
        estimator_observe(&estimator, &point);
        int64_t moved = (estimator.value.ns - predicted.ns) * sign;
        assert_in_range(moved, 5000, 5060);
    }
}

static void the_usual_width_follows_improvements_at_once_and_forgets_slowly(void **state)
{
    struct estimator estimator = {0};
    struct estimator_point point = point_at(0, 400);
    (void)state;
    estimator_observe(&estimator, &point);
    assert_true(estimator.best_width_ns == 400);
    point = point_at(1000000, 100);
    estimator_observe(&estimator, &point);
    assert_true(estimator.best_width_ns == 100);
    point = point_at(2000000, 400);
    estimator_observe(&estimator, &point);
    assert_in_range(estimator.best_width_ns, 101, 110);
    for (uint64_t at = 3; at < 203; at++) {
        point = point_at(at * 1000000, 400);
        estimator_observe(&estimator, &point);
    }
    assert_true(estimator.best_width_ns == 400);
}

static void the_history_is_short_in_number_and_long_in_time(void **state)
{
    struct estimator estimator = {0};
    (void)state;
    for (uint64_t at = 0; at < 5000; at++) {
        struct estimator_point point = point_at(at * 1000000, 50);
        estimator_observe(&estimator, &point);
        assert_true(estimator.count <= ESTIMATOR_POINTS);
    }
    assert_int_equal(estimator.count, ESTIMATOR_POINTS);
    int64_t run_ns = estimator.newest.ns - estimator.points[0].ns;
    assert_true(run_ns > 1400000000 && run_ns < 1800000000);
}

static void an_idle_hour_is_bridged(void **state)
{
    struct estimator estimator = settled(1000000000);
    struct estimator_point point = point_at(2400000000000, 50);
    struct fixed truth = {1, HALF};
    (void)state;
    assert_int_equal(estimator_observe(&estimator, &point), ESTIMATOR_FOLLOWED);
    assert_true(estimator.value.ns == point.ns);
    assert_true(period_off(&estimator, truth) <= estimator.period_error_frac);
    assert_true(estimator.period_error_frac < ((uint64_t)1 << 44));
}

static void whole_ticks_of_a_time_are_rounded_down(void **state)
{
    struct fixed slow = {41, HALF}, fast = {0, HALF >> 1};
    (void)state;
    assert_true(fixed_ticks(slow, 415) == 10);
    assert_true(fixed_ticks(slow, 414) == 9);
    assert_true(fixed_ticks(fast, 4000000000) == 16000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_slope_waits_for_a_baseline),
        cmocka_unit_test(a_jump_begins_afresh_and_keeps_the_known_period),
        cmocka_unit_test(an_interruption_of_a_sample_is_no_jump),
        cmocka_unit_test(the_slope_across_a_jump_is_no_rate),
        cmocka_unit_test(after_any_jumps_the_clock_is_followed_again),
        cmocka_unit_test(what_a_slewing_reference_can_do_is_no_jump),
        cmocka_unit_test(a_counter_that_goes_back_or_stands_still_begins_afresh),
        cmocka_unit_test(two_samples_of_one_tick_are_of_the_same_moment),
        cmocka_unit_test(a_counter_may_wrap),
        cmocka_unit_test(a_change_of_rate_cuts_the_run_and_the_new_rate_is_found),
        cmocka_unit_test(a_disturbed_point_that_allows_the_prediction_moves_nothing),
        cmocka_unit_test(a_disturbed_point_moves_the_estimate_only_as_far_as_it_must),
        cmocka_unit_test(the_usual_width_follows_improvements_at_once_and_forgets_slowly),
        cmocka_unit_test(the_history_is_short_in_number_and_long_in_time),
        cmocka_unit_test(an_idle_hour_is_bridged),
        cmocka_unit_test(whole_ticks_of_a_time_are_rounded_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
