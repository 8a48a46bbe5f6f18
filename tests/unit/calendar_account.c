/* SPDX-License-Identifier: MIT */
/* What is written down of releases: buckets of errors, sums, a log that loses nothing unsaid; and
 * times in words. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calendar/account.h"
#include "timing/calendar/refusal.h"
#include "calendar_units.h"
#include "dice.h"

static void buckets_grow_by_the_fourth_root_of_two(void **state)
{
    (void)state;
    assert_true(timebase_calendar_bucket_ns(0) == 0.125);
    assert_true(timebase_calendar_bucket_ns(4) == 0.25);
    assert_true(timebase_calendar_bucket_ns(12) == 1);
    assert_true(timebase_calendar_bucket_ns(160) == 137438953472.0);
    for (int i = 0; i < 160; i++) {
        double ratio = timebase_calendar_bucket_ns(i + 1) / timebase_calendar_bucket_ns(i);
        assert_true(ratio > 1.1892071 && ratio < 1.1892072);
    }
    assert_true(timebase_calendar_bucket_ns(-7) == 0.125);
    assert_true(timebase_calendar_bucket_ns(1000) == timebase_calendar_bucket_ns(160));
}

static int bucket_counted(double error_ns)
{
    struct timebase_unit_result result;
    struct timebase_release release = {.count = 1};
    const int64_t unmoved = 0;
    int bucket = -1;
    account_begin(&result, 1, &unmoved);
    account_run(&result, &release, error_ns, 0);
    for (int i = 0; i < TIMEBASE_CALENDAR_BUCKETS; i++)
        if (result.errors[i] > 0) {
            assert_int_equal(result.errors[i], 1);
            assert_int_equal(bucket, -1);
            bucket = i;
        }
    return bucket;
}

static void each_error_is_counted_in_the_bucket_that_holds_it(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 100000; i++) {
        double size = (double)dice_wide(&dice) / 1e6;
        int bucket = bucket_counted(dice_below(&dice, 2) ? size : -size);
        assert_in_range(bucket, 0, TIMEBASE_CALENDAR_BUCKETS - 1);
        if (bucket > 0)
            assert_true(size >= timebase_calendar_bucket_ns(bucket));
        if (bucket < TIMEBASE_CALENDAR_BUCKETS - 1)
            assert_true(size < timebase_calendar_bucket_ns(bucket + 1));
    }
    assert_int_equal(bucket_counted(0), 0);
    assert_int_equal(bucket_counted(1), 12);
    assert_int_equal(bucket_counted(1e300), TIMEBASE_CALENDAR_BUCKETS - 1);
}

static void extremes_and_sums_are_signed(void **state)
{
    static const double errors[] = {-3, 5, -7, 1};
    struct timebase_unit_result result;
    struct timebase_release release = {.count = 1};
    const int64_t moved = 42;
    (void)state;
    memset(&result, 0xaa, sizeof(result));
    account_begin(&result, 1, &moved);
    for (int i = 0; i < 4; i++)
        account_run(&result, &release, errors[i], 10 * (i + 1));
    assert_true(result.error_min_ns == -7 && result.error_max_ns == 5);
    assert_true(result.error_sum_ns == -4);
    assert_int_equal(result.longest_ns, 40);
    assert_int_equal(result.total_ns, 100);
    assert_int_equal(result.released, 4);
    assert_int_equal(result.moved_ns, 42);
    account_begin(&result, 1, &moved);
    account_run(&result, &release, 2, 0); /* the first one is both extremes, whatever its sign */
    assert_true(result.error_min_ns == 2 && result.error_max_ns == 2);
}

static void each_bit_of_an_outcome_is_counted_by_itself(void **state)
{
    struct timebase_unit_result result;
    struct timebase_release release = {.count = 1};
    const int64_t unmoved = 0;
    (void)state;
    account_begin(&result, 1, &unmoved);
    for (uint32_t outcome = 0; outcome < 64; outcome++) {
        release.outcome = outcome & ~(uint32_t)TIMEBASE_RELEASE_SKIPPED;
        account_run(&result, &release, 0, 0);
    }
    account_skipped(&result, 1000);
    assert_int_equal(result.released, 64);
    assert_int_equal(result.late, 32);
    assert_int_equal(result.overruns, 32);
    assert_int_equal(result.missed, 32);
    assert_int_equal(result.timed_out, 32);
    assert_int_equal(result.disturbed, 32);
    assert_int_equal(result.skipped, 1000);
}

static void a_log_keeps_the_order_across_the_wrap_of_its_numbers(void **state)
{
    struct timebase_release entries[4], release = {0};
    struct timebase_release_log log = {entries, 4, UINT32_MAX - 10, UINT32_MAX - 10, 0};
    uint64_t next = 0;
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        release.number = i;
        account_log(&log, &release);
        if (i % 3 != 2)
            continue;
        for (; log.written - log.read > 0; log.read++, next++)
            assert_int_equal(entries[log.read % 4].number, next);
    }
    assert_int_equal(log.lost, 0);
    assert_int_equal(next, 39);
}

static void a_full_log_loses_the_newest_and_counts_them(void **state)
{
    struct timebase_release entries[4], release = {0};
    struct timebase_release_log log = {entries, 4, 0, 0, 0};
    (void)state;
    for (uint64_t i = 0; i < 7; i++) {
        release.number = i;
        account_log(&log, &release);
    }
    assert_int_equal(log.written, 4);
    assert_int_equal(log.lost, 3);
    assert_int_equal(entries[3].number, 3);
    log.lost = UINT32_MAX;
    account_log(&log, &release);
    assert_int_equal(log.lost, UINT32_MAX);
    log.read = 1;
    account_log(&log, &release);
    assert_int_equal(log.written, 5);
    assert_int_equal(entries[0].number, 6);
    account_log(NULL, &release);
}

static void times_are_written_as_people_write_them(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0 ns"},
                 {999, "999 ns"},
                 {1000, "1 us"},
                 {1500, "1.5 us"},
                 {12345, "12.345 us"},
                 {4000000, "4 ms"},
                 {3333333, "3.333 ms"},
                 {1005000000, "1.005 s"},
                 {-2500, "-2.5 us"},
                 {INT64_MAX, "9223372036.854 s"},
                 {INT64_MIN, "-9223372036.854 s"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(time_text(cases[i].ns).text, cases[i].text);
}

static void every_kind_and_outcome_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 1; i <= TIMEBASE_CALENDAR_BAD_CALENDAR; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(timebase_calendar_problem_name(i),
                                    timebase_calendar_problem_name(j));
    for (int i = 1; i <= TIMEBASE_RELEASE_DISTURBED; i *= 2) {
        assert_string_not_equal(timebase_release_name(i), timebase_release_name(i / 2));
        assert_string_not_equal(timebase_release_name(i), timebase_release_name(64));
    }
    assert_string_equal(timebase_release_name(3), "unknown outcome");
    assert_string_equal(timebase_calendar_problem_name(0), "unknown problem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_grow_by_the_fourth_root_of_two),
        cmocka_unit_test(each_error_is_counted_in_the_bucket_that_holds_it),
        cmocka_unit_test(extremes_and_sums_are_signed),
        cmocka_unit_test(each_bit_of_an_outcome_is_counted_by_itself),
        cmocka_unit_test(a_log_keeps_the_order_across_the_wrap_of_its_numbers),
        cmocka_unit_test(a_full_log_loses_the_newest_and_counts_them),
        cmocka_unit_test(times_are_written_as_people_write_them),
        cmocka_unit_test(every_kind_and_outcome_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
