/* SPDX-License-Identifier: MIT */
/*
 * The dispatcher in virtual time: overruns, misses, skips, time-outs, late wake-ups, units that
 * never end, stops in the middle, a thread that stood still for hours, and a million releases.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "calendar_machine.h"

static struct simulated simulated;
static struct timebase_unit units[4];
static struct timebase_release entries[1024];
static struct timebase_release_log log_of_releases;

/* A fresh machine with a calendar of the first so many units, and a log. */
static void set_up(uint32_t count)
{
    static const struct simulated fresh;
    simulated = fresh;
    simulated.calendar = calendar_of(units, count);
    memset(&log_of_releases, 0, sizeof(log_of_releases));
    log_of_releases.entries = entries;
    log_of_releases.capacity = 1024;
    simulated.calendar.log = &log_of_releases;
}

static const struct timebase_unit_result *result(uint32_t unit)
{
    return &simulated.results[unit];
}

static void nothing_goes_wrong_where_nothing_goes_wrong(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    units[1] = unit_of("b", 500 * US, 2 * MS, 300 * US);
    set_up(2);
    simulated.calendar.length_ns = 100 * MS;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->released, 100);
    assert_int_equal(result(1)->released, 50);
    assert_int_equal(log_of_releases.written, 150);
    for (uint32_t i = 0; i < 150; i++) {
        assert_int_equal(entries[i].outcome, 0);
        assert_int_equal(entries[i].count, 1);
        assert_true(entries[i].error_ns == 0);
    }
    assert_int_equal(entries[0].end_ns, START_NS + 100 * US);
    assert_int_equal(result(0)->longest_ns, 100 * US);
    assert_int_equal(result(0)->total_ns, 100 * 100 * US);
    assert_int_equal(result(0)->errors[0], 100);
}

static int64_t every_third_is_long(struct simulated *machine, uint32_t unit)
{
    return unit == 0 && machine->calls % 3 == 2 ? 150 * US : 100 * US;
}

static void a_run_longer_than_its_duration_is_an_overrun_and_no_miss(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    set_up(1);
    units[0].releases = 9;
    simulated.runs_ns = every_third_is_long;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->released, 9);
    assert_int_equal(result(0)->overruns, 3);
    assert_int_equal(result(0)->missed, 0);
    assert_int_equal(entries[2].outcome, TIMEBASE_RELEASE_OVERRUN);
    assert_int_equal(entries[3].outcome, 0);
}

static void an_end_after_the_deadline_is_a_miss_to_the_nanosecond(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    units[0].releases = 5;
    units[0].deadline_ns = 100 * US;
    set_up(1);
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->missed, 0);
    units[0].deadline_ns = 100 * US - 1;
    set_up(1);
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->missed, 5);
    assert_int_equal(result(0)->overruns, 0);
}

static int64_t first_is_very_long(struct simulated *machine, uint32_t unit)
{
    return unit == 0 && machine->calls == 0 ? 3500 * US : 10 * US;
}

/* "a" runs 3.5 ms once. "b", with a deadline of 300 us after each 1 ms + 600 us, loses three. */
static void releases_whose_deadline_has_passed_are_skipped_and_the_next_is_in_time(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, 10 * MS, 100 * US);
    units[1] = unit_of("b", 600 * US, MS, 100 * US);
    units[0].releases = 1;
    units[1].releases = 6;
    units[1].deadline_ns = 300 * US;
    set_up(2);
    simulated.runs_ns = first_is_very_long;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(1)->skipped, 3); /* of 0.6, 1.6 and 2.6 ms */
    assert_int_equal(result(1)->released, 3);
    assert_int_equal(result(1)->late, 0);
    assert_int_equal(log_of_releases.written, 5);
    assert_int_equal(entries[1].outcome, TIMEBASE_RELEASE_SKIPPED);
    assert_int_equal(entries[1].number, 0);
    assert_int_equal(entries[1].count, 3);
    assert_int_equal(entries[1].end_ns, 0);
    assert_int_equal(entries[1].target_ns, START_NS + 600 * US);
    assert_int_equal(entries[2].number, 3);
    assert_int_equal(entries[2].target_ns, START_NS + 3600 * US);
    assert_int_equal(entries[2].outcome, 0);
}

static void a_release_is_skipped_at_its_deadline_and_not_a_nanosecond_before(void **state)
{
    (void)state;
    for (int64_t early = 0; early < 2; early++) {
        units[0] = unit_of("a", 0, 0, 500 * US);
        units[1] = unit_of("b", 100 * US, 0, 10 * US);
        units[1].deadline_ns = 400 * US + early;
        set_up(2);
        assert_int_equal(simulated_run(&simulated), 0);
        assert_int_equal(result(1)->skipped, 1 - early);
        assert_int_equal(result(1)->released, early);
        assert_int_equal(result(1)->missed, early);
        assert_int_equal(result(1)->late, early);
    }
}

static void a_unit_without_deadline_is_never_skipped(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, 0, 3600 * (int64_t)SEC);
    units[1] = unit_of("b", 1, 0, 1);
    set_up(2);
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(1)->released, 1);
    assert_int_equal(entries[1].outcome, TIMEBASE_RELEASE_LATE);
}

static int64_t never_ends(struct simulated *machine, uint32_t unit)
{
    (void)machine;
    return unit == 0 ? NEVER_ENDS : 10 * US;
}

static void a_unit_that_never_ends_is_stopped_and_the_others_stay_in_time(void **state)
{
    (void)state;
    units[0] = unit_of("endless", 0, MS, 100 * US);
    units[1] = unit_of("good", 500 * US, MS, 100 * US);
    units[0].timeout_ns = 200 * US;
    set_up(2);
    simulated.calendar.length_ns = 50 * MS;
    simulated.runs_ns = never_ends;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->timed_out, 50);
    assert_int_equal(result(0)->overruns, 50);
    assert_int_equal(result(0)->missed, 0);
    assert_int_equal(result(0)->longest_ns, 200 * US);
    assert_int_equal(result(1)->released, 50);
    assert_int_equal(result(1)->late, 0);
    assert_int_equal(entries[0].outcome, TIMEBASE_RELEASE_TIMED_OUT | TIMEBASE_RELEASE_OVERRUN);
}

static int64_t wakes_up_late(struct simulated *machine, uint32_t unit)
{
    (void)unit;
    return machine->calls % 10 == 9 ? 40 * US : 0;
}

static void a_late_wake_up_is_late_and_moves_nothing_else(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    units[0].releases = 100;
    set_up(1);
    simulated.delay_ns = wakes_up_late;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->late, 10);
    assert_true(result(0)->error_max_ns == 40 * US && result(0)->error_min_ns == 0);
    assert_true(result(0)->error_sum_ns == 10 * 40 * US);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(entries[i].target_ns, START_NS + (int64_t)i * MS);
}

static int64_t sleeps_for_an_hour_once(struct simulated *machine, uint32_t unit)
{
    (void)unit;
    return machine->calls == 5 ? 3600 * (int64_t)SEC : 0;
}

/* SIGSTOP, or a virtual machine that was suspended: 360 million releases are skipped at once. */
static void an_hour_of_standing_still_is_skipped_in_one_go(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, 10 * US, US);
    set_up(1);
    simulated.delay_ns = sleeps_for_an_hour_once;
    simulated.calendar.length_ns = 3601 * (int64_t)SEC;
    simulated.calendar.log = NULL;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->skipped + result(0)->released, 360100000);
    assert_in_range(result(0)->skipped, 360000000 - 2, 360000000);
    assert_true(simulated.looks < 200000);
    assert_int_equal(result(0)->late, 2); /* that one, and the one in whose time it ended */
}

static void a_stop_before_the_start_runs_nothing(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    set_up(1);
    simulated.stop = 1;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(simulated.calls, 0);
    assert_int_equal(result(0)->released + result(0)->skipped, 0);
}

static void a_stop_in_the_middle_ends_before_the_next_release(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    set_up(1);
    simulated.stop_at_ns = START_NS + 7 * MS + 50 * US; /* in the midst of release 7 */
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->released, 8);
    assert_int_equal(log_of_releases.written, 8);
    assert_int_equal(simulated.now_ns, START_NS + 7 * MS + 100 * US);
}

static void a_long_gap_is_left_within_50_ms_of_a_stop(void **state)
{
    (void)state;
    units[0] = unit_of("a", 3600 * (int64_t)SEC, 0, US);
    for (int64_t early = 0; early < 50 * MS; early += 7 * MS) {
        set_up(1);
        simulated.stop_at_ns = START_NS + 1800 * (int64_t)SEC + 12345;
        simulated.wakes_early_by_ns = early;
        assert_int_equal(simulated_run(&simulated), 0);
        assert_int_equal(simulated.calls, 0);
        assert_in_range(simulated.now_ns - simulated.stop_at_ns, 0, 50 * MS);
        assert_in_range(simulated.longest_blind_ns, 1, 50 * MS);
    }
}

static void an_error_of_the_wait_ends_the_run_with_what_was_done(void **state)
{
    (void)state;
    units[0] = unit_of("a", 0, MS, 100 * US);
    set_up(1);
    simulated.fails_at_ns = START_NS + 10 * MS;
    assert_int_equal(simulated_run(&simulated), TIMEBASE_E_UNSUPPORTED);
    assert_int_equal(result(0)->released, 11); /* the wait for release 10 began before */
    assert_int_equal(log_of_releases.written, 11);
}

static void a_million_releases_do_not_drift(void **state)
{
    (void)state;
    units[0] = unit_of("third", 0, 333333, 1000);
    units[1] = unit_of("odd", 1000, 999999, 999);
    set_up(2);
    units[0].releases = 750000;
    units[1].releases = 250000;
    simulated.delay_ns = wakes_up_late;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->released, 750000);
    assert_int_equal(result(1)->released, 250000);
    assert_int_equal(simulated.last_target_ns, START_NS + 749999 * (int64_t)333333);
    assert_int_equal(log_of_releases.lost, 1000000 - 1024);
}

static void a_unit_ends_with_the_life_of_the_calendar(void **state)
{
    (void)state;
    units[0] = unit_of("rare", 1, PATTERN_LIFE_NS / 4, 1);
    set_up(1);
    simulated.calendar.start_ns = PATTERN_LIFE_NS; /* the latest there is */
    simulated.now_ns = PATTERN_LIFE_NS - MS;
    units[0].deadline_ns = MS;
    simulated.calendar.length_ns = 1;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(simulated.calls, 0);
    simulated.calendar.length_ns = 2;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(simulated.calls, 1);
    /* Years in slices of 50 ms are too many; so the thread has stood still until the end. */
    simulated.calendar.length_ns = 0;
    simulated.now_ns = PATTERN_LIFE_NS + PATTERN_LIFE_NS;
    simulated.last_target_ns = 0;
    assert_int_equal(simulated_run(&simulated), 0);
    assert_int_equal(result(0)->skipped, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_wrong_where_nothing_goes_wrong),
        cmocka_unit_test(a_run_longer_than_its_duration_is_an_overrun_and_no_miss),
        cmocka_unit_test(an_end_after_the_deadline_is_a_miss_to_the_nanosecond),
        cmocka_unit_test(releases_whose_deadline_has_passed_are_skipped_and_the_next_is_in_time),
        cmocka_unit_test(a_release_is_skipped_at_its_deadline_and_not_a_nanosecond_before),
        cmocka_unit_test(a_unit_without_deadline_is_never_skipped),
        cmocka_unit_test(a_unit_that_never_ends_is_stopped_and_the_others_stay_in_time),
        cmocka_unit_test(a_late_wake_up_is_late_and_moves_nothing_else),
        cmocka_unit_test(an_hour_of_standing_still_is_skipped_in_one_go),
        cmocka_unit_test(a_stop_before_the_start_runs_nothing),
        cmocka_unit_test(a_stop_in_the_middle_ends_before_the_next_release),
        cmocka_unit_test(a_long_gap_is_left_within_50_ms_of_a_stop),
        cmocka_unit_test(an_error_of_the_wait_ends_the_run_with_what_was_done),
        cmocka_unit_test(a_million_releases_do_not_drift),
        cmocka_unit_test(a_unit_ends_with_the_life_of_the_calendar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
