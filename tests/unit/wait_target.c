/* SPDX-License-Identifier: MIT */
/* What is ahead and what has passed, whatever the counter reads: just booted, and about to wrap. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/waiter/target.h"

#define SECOND_NS 1e9
#define CENTURY_NS ((double)TARGET_FARTHEST_NS)
#define HALF (UINT64_C(1) << 63)

static const uint64_t readings[] = {
    0, 1, 12345, 2500000000, HALF - 1, HALF, HALF + 1, UINT64_MAX - 2500000000, UINT64_MAX - 12345,
    UINT64_MAX - 1, UINT64_MAX};
static const double periods_ns[] = {0.2, 0.4, 1, 41.67, 1000};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef void case_function(uint64_t now, double period_ns);

static void for_each_case(case_function *check)
{
    for (size_t i = 0; i < COUNT(readings); i++)
        for (size_t k = 0; k < COUNT(periods_ns); k++)
            check(readings[i], periods_ns[k]);
}

static uint64_t ticks_of(double ns, double period_ns)
{
    return (uint64_t)(ns / period_ns);
}

/* UINT64_MAX itself is none of them. */
static int is_far(uint64_t target, uint64_t now, double period_ns)
{
    return target_tick_is_far(target - (target == UINT64_MAX), now, period_ns);
}

static void check_near(uint64_t now, double period_ns)
{
    static const double distances_ns[] = {1, 1e3, SECOND_NS, 3600 * SECOND_NS, 1e6 * SECOND_NS};
    for (size_t i = 0; i < COUNT(distances_ns); i++) {
        uint64_t ticks = ticks_of(distances_ns[i], period_ns);
        assert_false(is_far(now + ticks, now, period_ns));
        assert_false(is_far(now - ticks, now, period_ns));
    }
    assert_false(is_far(now, now, period_ns));
}

static void an_hour_and_a_week_either_way_are_no_mistake(void **state)
{
    (void)state;
    for_each_case(check_near);
}

static void check_century(uint64_t now, double period_ns)
{
    uint64_t ticks = ticks_of(CENTURY_NS * 1.001, period_ns);
    if (CENTURY_NS * 1.001 / period_ns >= TARGET_FARTHEST_TICKS)
        return; /* half the range is nearer: the next test */
    assert_true(is_far(now + ticks, now, period_ns));
    assert_false(is_far(now + ticks_of(CENTURY_NS * 0.999, period_ns), now, period_ns));
    assert_false(is_far(now - ticks, now, period_ns));
}

static void a_century_ahead_is_a_mistake_and_a_century_ago_has_passed(void **state)
{
    (void)state;
    for_each_case(check_century);
}

static void check_half(uint64_t now, double period_ns)
{
    const uint64_t band = 1000000000;
    assert_true(is_far(now + HALF - band, now, period_ns));
    assert_true(is_far(now + HALF, now, period_ns));
    assert_true(is_far(now + HALF + band, now, period_ns));
}

static void half_the_range_away_is_neither_ahead_nor_passed(void **state)
{
    (void)state;
    for_each_case(check_half);
}

static void check_never(uint64_t now, double period_ns)
{
    assert_true(target_tick_is_far(UINT64_MAX, now, period_ns));
}

static void the_last_tick_means_never_whatever_the_counter_reads(void **state)
{
    (void)state;
    for_each_case(check_never);
}

static void a_time_has_passed_however_long_ago(void **state)
{
    (void)state;
    assert_false(target_time_is_far(INT64_MIN, 0));
    assert_false(target_time_is_far(INT64_MIN, INT64_MAX));
    assert_false(target_time_is_far(-1, 0));
    assert_false(target_time_is_far(TARGET_FARTHEST_NS, 0));
    assert_true(target_time_is_far(TARGET_FARTHEST_NS + 1, 0));
    assert_true(target_time_is_far(INT64_MAX, INT64_MIN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_and_a_week_either_way_are_no_mistake),
        cmocka_unit_test(a_century_ahead_is_a_mistake_and_a_century_ago_has_passed),
        cmocka_unit_test(half_the_range_away_is_neither_ahead_nor_passed),
        cmocka_unit_test(the_last_tick_means_never_whatever_the_counter_reads),
        cmocka_unit_test(a_time_has_passed_however_long_ago),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
