/* SPDX-License-Identifier: MIT */
/* Releases as numbers: counts that end, ready times that do not drift, and the order of a queue. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calendar/queue.h"
#include "calendar_units.h"
#include "dice.h"

static struct pattern one_pattern(struct timebase_unit unit, int64_t length_ns, int64_t moved_ns)
{
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    calendar.length_ns = length_ns;
    return pattern_of(&calendar, 0, moved_ns);
}

static void a_unit_without_period_is_released_once(void **state)
{
    (void)state;
    assert_int_equal(one_pattern(unit_of("once", 5, 0, 1), 0, 0).count, 1);
    assert_false(one_pattern(unit_of("once", 5, 0, 1), 0, 0).is_endless);
}

static void releases_end_with_their_number_the_length_or_the_life(void **state)
{
    struct timebase_unit unit = unit_of("unit", 10, 100, 1);
    (void)state;
    assert_true(one_pattern(unit, 0, 0).is_endless);
    assert_int_equal(one_pattern(unit, 0, 0).count, (PATTERN_LIFE_NS - 10) / 100 + 1);
    assert_int_equal(one_pattern(unit, 10, 0).count, 0);
    assert_int_equal(one_pattern(unit, 11, 0).count, 1);
    assert_int_equal(one_pattern(unit, 110, 0).count, 1);
    assert_int_equal(one_pattern(unit, 111, 0).count, 2);
    unit.releases = 7;
    assert_int_equal(one_pattern(unit, 0, 0).count, 7);
    assert_false(one_pattern(unit, 0, 0).is_endless);
    assert_int_equal(one_pattern(unit, 310, 0).count, 3);
}

static void the_deadline_is_the_period_unless_said_otherwise(void **state)
{
    struct timebase_unit unit = unit_of("unit", 0, 100, 1);
    (void)state;
    assert_int_equal(one_pattern(unit, 0, 0).deadline_ns, 100);
    unit.deadline_ns = 30;
    assert_int_equal(one_pattern(unit, 0, 0).deadline_ns, 30);
    unit.period_ns = 0;
    assert_int_equal(one_pattern(unit, 0, 0).deadline_ns, 30);
    unit.deadline_ns = 0;
    assert_true(one_pattern(unit, 0, 0).deadline_ns == PATTERN_NO_DEADLINE);
}

static void a_deadline_stays_where_it_was_when_the_unit_is_moved(void **state)
{
    struct pattern pattern = one_pattern(unit_of("unit", 7, 100, 1), 0, 20);
    (void)state;
    assert_int_equal(pattern.ready_ns, 27);
    assert_int_equal(pattern.ready_ns + pattern.deadline_ns, 7 + 100);
}

static void ready_times_do_not_drift_in_36_years(void **state)
{
    struct pattern pattern = one_pattern(unit_of("unit", 11, 333333, 1), 0, 0);
    uint64_t last = pattern.count - 1;
    (void)state;
    assert_int_equal(pattern_ready(&pattern, last), 11 + (int64_t)last * 333333);
    assert_in_range(pattern_ready(&pattern, last), PATTERN_LIFE_NS - 333333, PATTERN_LIFE_NS);
}

static void a_common_multiple_that_is_too_large_says_so(void **state)
{
    (void)state;
    assert_int_equal(pattern_lcm(4 * MS, 6 * MS), 12 * MS);
    assert_int_equal(pattern_gcd(4 * MS, 6 * MS), 2 * MS);
    assert_true(pattern_lcm(PATTERN_LIFE_NS - 1, PATTERN_LIFE_NS) == INT64_MAX);
    assert_true(pattern_lcm(INT64_MAX, 2) == INT64_MAX);
    assert_true(pattern_lcm(2, INT64_MAX) == INT64_MAX);
}

/* The next release of all, by looking at each unit; of equal ones the one declared first. */
static uint32_t brute_force_next(const struct pattern *patterns, const uint64_t *done, uint32_t n)
{
    uint32_t next = n;
    for (uint32_t i = 0; i < n; i++)
        if (done[i] < patterns[i].count &&
            (next == n ||
             pattern_ready(&patterns[i], done[i]) < pattern_ready(&patterns[next], done[next])))
            next = i;
    return next;
}

static void fill_at_random(struct dice *dice, struct pattern *patterns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct pattern pattern = {(int64_t)dice_below(dice, 20),
                                  1 + (int64_t)dice_below(dice, 9),
                                  1,
                                  PATTERN_NO_DEADLINE,
                                  dice_below(dice, 30),
                                  false};
        patterns[i] = pattern;
    }
}

static void the_queue_gives_ready_order_and_the_declared_one_among_equals(void **state)
{
    static struct queue queue;
    static struct pattern patterns[TIMEBASE_CALENDAR_UNITS];
    static uint64_t done[TIMEBASE_CALENDAR_UNITS];
    struct dice dice = dice_new();
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint32_t n = 1 + (uint32_t)dice_below(&dice, round < 290 ? 20 : TIMEBASE_CALENDAR_UNITS);
        fill_at_random(&dice, patterns, n);
        memset(done, 0, sizeof(done));
        queue_begin(&queue, patterns, n);
        while (queue.size > 0) {
            uint32_t unit = queue_first(&queue);
            uint64_t several = 1 + dice_below(&dice, 3), left = patterns[unit].count - done[unit];
            assert_int_equal(unit, brute_force_next(patterns, done, n));
            assert_int_equal(queue.number[unit], done[unit]);
            assert_int_equal(queue.ready_ns[unit], pattern_ready(&patterns[unit], done[unit]));
            several = several < left ? several : left;
            queue_advance(&queue, several);
            done[unit] += several;
        }
        assert_int_equal(brute_force_next(patterns, done, n), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_without_period_is_released_once),
        cmocka_unit_test(releases_end_with_their_number_the_length_or_the_life),
        cmocka_unit_test(the_deadline_is_the_period_unless_said_otherwise),
        cmocka_unit_test(a_deadline_stays_where_it_was_when_the_unit_is_moved),
        cmocka_unit_test(ready_times_do_not_drift_in_36_years),
        cmocka_unit_test(a_common_multiple_that_is_too_large_says_so),
        cmocka_unit_test(the_queue_gives_ready_order_and_the_declared_one_among_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
