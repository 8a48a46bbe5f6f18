/* SPDX-License-Identifier: MIT */
/*
 * whole_clock: every function of the clock once, against the kernel's clocks read by system call.
 * For children: failure ends the process. The state of the clock does not matter.
 */
#ifndef TEST_WHOLE_CLOCK_H
#define TEST_WHOLE_CLOCK_H

#include <timebase.h>

#include "../unit/kernel_now.h"
#include "child.h"

/* What a reading may be off by, whichever of two publications it came from. */
static inline int64_t whole_clock_error(const timebase_clock *clock)
{
    struct timebase_instant now;
    timebase_now(clock, &now);
    EXPECT(now.maxerror_ns < 1000000000);
    return (int64_t)now.maxerror_ns + 100000;
}

typedef int64_t (*whole_clock_reader)(const timebase_clock *clock);

static inline void whole_clock_check_reader(const timebase_clock *clock, whole_clock_reader read,
                                            clockid_t id)
{
    int64_t error = whole_clock_error(clock);
    int64_t before = kernel_now(id);
    int64_t now = read(clock);
    int64_t after = kernel_now(id);
    EXPECT(before - error <= now);
    EXPECT(now <= after + error);
}

static inline void whole_clock_check_readers(const timebase_clock *clock)
{
    whole_clock_check_reader(clock, timebase_utc_ns, CLOCK_REALTIME);
    whole_clock_check_reader(clock, timebase_utc_ns_unordered, CLOCK_REALTIME);
    whole_clock_check_reader(clock, timebase_mono_ns, CLOCK_MONOTONIC);
    whole_clock_check_reader(clock, timebase_mono_ns_unordered, CLOCK_MONOTONIC);
    whole_clock_check_reader(clock, timebase_tai_ns, CLOCK_TAI);
    whole_clock_check_reader(clock, timebase_tai_ns_unordered, CLOCK_TAI);
    EXPECT(timebase_utc_ms(clock) / 1000 >= kernel_now(CLOCK_REALTIME) / 1000000000 - 60);
    EXPECT(timebase_mono_ms(clock) <= kernel_now(CLOCK_MONOTONIC) / 1000000 + 1000);
}

static inline void whole_clock_check_intervals(const timebase_clock *clock)
{
    struct timebase_interval when;
    int64_t before = kernel_now(CLOCK_REALTIME);
    int status = timebase_realtime_interval(clock, &when);
    int64_t after = kernel_now(CLOCK_REALTIME);
    EXPECT(status > TIMEBASE_STATUS_UNKNOWN && status <= TIMEBASE_STATUS_UNRELIABLE);
    EXPECT(when.earliest_ns <= after && before <= when.latest_ns);
    before = kernel_now(CLOCK_REALTIME);
    status = timebase_utc_interval(clock, &when);
    after = kernel_now(CLOCK_REALTIME);
    EXPECT(status > TIMEBASE_STATUS_UNKNOWN && status <= TIMEBASE_STATUS_UNRELIABLE);
    EXPECT(when.earliest_ns <= after && before <= when.latest_ns);
}

static inline void whole_clock_check_conversions(const timebase_clock *clock)
{
    int64_t before = kernel_now(CLOCK_MONOTONIC), utc_before = kernel_now(CLOCK_REALTIME);
    uint64_t ticks = timebase_ticks_ordered();
    int64_t after = kernel_now(CLOCK_MONOTONIC), utc_after = kernel_now(CLOCK_REALTIME);
    struct timebase_instant then;
    timebase_at(clock, ticks, &then);
    int64_t error = (int64_t)then.maxerror_ns + 100000;
    EXPECT(then.ticks == ticks);
    EXPECT(before - error <= then.mono_ns && then.mono_ns <= after + error);
    EXPECT(utc_before - error <= then.utc_ns && then.utc_ns <= utc_after + error);
    int64_t mono = timebase_mono_at_ns(clock, ticks), utc = timebase_utc_at_ns(clock, ticks);
    EXPECT(before - error <= mono && mono <= after + error);
    EXPECT(utc_before - error <= utc && utc <= utc_after + error);
    int64_t whole = (timebase_tai_at_ns(clock, ticks) - utc + 500000000) / 1000000000;
    int64_t tai = timebase_tai_at_ns(clock, ticks) - whole * 1000000000;
    EXPECT(utc - 2 * error <= tai && tai <= utc + 2 * error);
    int64_t back = timebase_mono_at_ns(clock, timebase_ticks_at_mono(clock, mono));
    EXPECT(mono <= back + error && back <= mono + error + 1000);
    back = timebase_utc_at_ns(clock, timebase_ticks_at_utc(clock, utc));
    EXPECT(utc <= back + error && back <= utc + error + 1000);
}

static inline void whole_clock_check_stopwatch(const timebase_clock *clock)
{
    struct timebase_stopwatch watch;
    struct timebase_elapsed elapsed = {INT64_MIN, 0, 0};
    EXPECT(timebase_stopwatch_calibrate(&watch, clock) == 0);
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    kernel_now(CLOCK_MONOTONIC);
    EXPECT(elapsed.ticks != INT64_MIN);
    EXPECT(watch.period_ns > 0);
}

static inline void whole_clock_check_ownership(const timebase_clock *clock)
{
    struct timebase_statistics statistics;
    int maintained = timebase_clock_maintain(clock);
    EXPECT(maintained == 0 || maintained == TIMEBASE_E_BUSY);
    EXPECT(timebase_clock_statistics(clock, &statistics) == 0);
    EXPECT(statistics.samples > 0);
    EXPECT(statistics.counter_id == timebase_counter_id());
}

/* Monotonic over as many renewals as come in a tenth of a second. */
static inline void whole_clock_check_flow(const timebase_clock *clock)
{
    int64_t last = timebase_mono_ns(clock), end = last + 100000000;
    while (last < end) {
        int64_t now = timebase_mono_ns(clock);
        EXPECT(now >= last);
        last = now;
    }
}

static inline void whole_clock_check(const timebase_clock *clock)
{
    whole_clock_check_readers(clock);
    whole_clock_check_intervals(clock);
    whole_clock_check_conversions(clock);
    whole_clock_check_ownership(clock);
    whole_clock_check_stopwatch(clock);
    whole_clock_check_flow(clock);
    whole_clock_check_readers(clock);
}

#endif
