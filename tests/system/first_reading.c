/* SPDX-License-Identifier: MIT */
/* Whatever a process does first with the clock, the answer is right. A process for each. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "whole_clock.h"

static const timebase_clock *the_clock(void)
{
    return timebase_clock_default();
}

/* The system serves the first reading: a few microseconds at most, plus the truth's own bracket. */
static void read_first(whole_clock_reader read, clockid_t id)
{
    int64_t before = kernel_now(id);
    int64_t now = read(the_clock());
    int64_t after = kernel_now(id);
    EXPECT(before <= now);
    EXPECT(now <= after);
    whole_clock_check(the_clock());
}

static void read_utc(void)
{
    read_first(timebase_utc_ns, CLOCK_REALTIME);
}

static void read_utc_unordered(void)
{
    read_first(timebase_utc_ns_unordered, CLOCK_REALTIME);
}

static void read_mono(void)
{
    read_first(timebase_mono_ns, CLOCK_MONOTONIC);
}

static void read_mono_unordered(void)
{
    read_first(timebase_mono_ns_unordered, CLOCK_MONOTONIC);
}

static void read_tai(void)
{
    read_first(timebase_tai_ns, CLOCK_TAI);
}

static void read_now(void)
{
    struct timebase_instant now;
    int64_t before = kernel_now(CLOCK_REALTIME);
    timebase_now(the_clock(), &now);
    int64_t after = kernel_now(CLOCK_REALTIME);
    EXPECT(before <= now.utc_ns && now.utc_ns <= after);
    EXPECT((now.flags & TIMEBASE_LINE_STATUS_MASK) == TIMEBASE_STATUS_INITIALIZING);
    whole_clock_check(the_clock());
}

/* Each reading of the first 5 ms: from no lines over the first to the second. */
static void read_intervals(void)
{
    int64_t end = kernel_now(CLOCK_MONOTONIC) + 5000000;
    while (kernel_now(CLOCK_MONOTONIC) < end)
        whole_clock_check_intervals(the_clock());
    whole_clock_check(the_clock());
}

static void convert(void)
{
    whole_clock_check_conversions(the_clock());
    whole_clock_check(the_clock());
}

static void invert(void)
{
    int64_t mono = kernel_now(CLOCK_MONOTONIC);
    uint64_t before = timebase_ticks_ordered();
    uint64_t ticks = timebase_ticks_at_mono(the_clock(), mono + 1000000000);
    EXPECT((int64_t)(ticks - before) > 0);
    whole_clock_check(the_clock());
}

static void maintain(void)
{
    EXPECT(timebase_clock_maintain(the_clock()) == 0);
    whole_clock_check(the_clock());
}

static void ask_statistics(void)
{
    struct timebase_statistics statistics;
    EXPECT(timebase_clock_statistics(the_clock(), &statistics) == 0);
    EXPECT(statistics.samples == 0 && statistics.frequency_hz == 0);
    EXPECT(statistics.status == TIMEBASE_STATUS_UNKNOWN);
    whole_clock_check(the_clock());
}

static void restart(void)
{
    EXPECT(timebase_clock_restart(the_clock()) == 0);
    whole_clock_check(the_clock());
}

static void calibrate(void)
{
    whole_clock_check_stopwatch(the_clock());
    whole_clock_check(the_clock());
}

static void each_reading_may_be_the_first(void **state)
{
    (void)state;
    child_must_pass(read_utc);
    child_must_pass(read_utc_unordered);
    child_must_pass(read_mono);
    child_must_pass(read_mono_unordered);
    child_must_pass(read_tai);
    child_must_pass(read_now);
}

static void the_interval_holds_from_the_very_first_reading_on(void **state)
{
    (void)state;
    child_must_pass(read_intervals);
}

static void conversions_may_come_first(void **state)
{
    (void)state;
    child_must_pass(convert);
    child_must_pass(invert);
    child_must_pass(calibrate);
}

static void housekeeping_may_come_first(void **state)
{
    (void)state;
    child_must_pass(maintain);
    child_must_pass(ask_statistics);
    child_must_pass(restart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reading_may_be_the_first),
        cmocka_unit_test(the_interval_holds_from_the_very_first_reading_on),
        cmocka_unit_test(conversions_may_come_first),
        cmocka_unit_test(housekeeping_may_come_first),
    };
    return run_all(tests);
}
