/* SPDX-License-Identifier: MIT */
/* However wide an error, an interval around a time contains it: it ends where 64 bits end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "dice.h"

static void assert_around(int64_t utc_ns, uint64_t error_ns, int64_t earliest, int64_t latest)
{
    struct timebase_interval interval = timebase_interval_around(utc_ns, error_ns);
    assert_true(interval.earliest_ns == earliest);
    assert_true(interval.latest_ns == latest);
}

static void an_interval_is_the_time_and_its_error_to_both_sides(void **state)
{
    (void)state;
    assert_around(1000, 0, 1000, 1000);
    assert_around(1000, 1001, -1, 2001);
    assert_around(-5, 5, -10, 0);
}

static void what_64_bits_cannot_hold_ends_at_their_ends(void **state)
{
    (void)state;
    assert_around(INT64_MAX - 1, 1, INT64_MAX - 2, INT64_MAX);
    assert_around(INT64_MAX - 1, 2, INT64_MAX - 3, INT64_MAX);
    assert_around(INT64_MIN + 1, 2, INT64_MIN, INT64_MIN + 3);
    assert_around(1, INT64_MAX, 1 - INT64_MAX, INT64_MAX);
    assert_around(0, UINT64_MAX, INT64_MIN, INT64_MAX);
    assert_around(-2, (uint64_t)1 << 63, INT64_MIN, INT64_MAX - 1);
}

static void no_interval_lies_beside_its_time(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        int64_t utc_ns = (int64_t)dice_wide(&dice);
        uint64_t error_ns = dice_wide(&dice);
        struct timebase_interval interval = timebase_interval_around(utc_ns, error_ns);
        assert_true(interval.earliest_ns <= utc_ns && utc_ns <= interval.latest_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_is_the_time_and_its_error_to_both_sides),
        cmocka_unit_test(what_64_bits_cannot_hold_ends_at_their_ends),
        cmocka_unit_test(no_interval_lies_beside_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
