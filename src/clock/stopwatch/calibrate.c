/* SPDX-License-Identifier: MIT */
/* calibrate: what a lap costs by itself, after the Lisp thread of 2008: warm up, then subtract. */
#include <stddef.h>
#include <string.h>

#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/stopwatch.h>

#include "clock/counter/probe.h"

/*
 * The first readings are cold: code, page, counter path. The Lisp thread asked for three; these are
 * cheap.
 */
#define WARM_UP_LAPS 16
/* Odd, so that the median is one of them; 8 KiB of stack. */
#define LAPS 1001

TIMEBASE_API uint64_t timebase_stopwatch_ticks_slow(void)
{
    return timebase_ticks_ordered_probe();
}

/* Insertion sort: nearly all values are equal, so it is nearly linear; and it allocates nothing. */
static void sort(uint64_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        uint64_t value = values[i];
        int j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

static uint64_t lap_empty(struct timebase_stopwatch *watch)
{
    struct timebase_lap lap = timebase_stopwatch_start(watch);
    return (uint64_t)timebase_stopwatch_stop(watch, lap).ticks;
}

/* An outer lap around one inner lap, its cost not yet subtracted: pair_ticks is still 0. */
static uint64_t lap_nested(struct timebase_stopwatch *watch)
{
    struct timebase_lap lap = timebase_stopwatch_start(watch);
    lap_empty(watch);
    return (uint64_t)timebase_stopwatch_stop(watch, lap).ticks;
}

static void measure(struct timebase_stopwatch *watch, uint64_t (*lap)(struct timebase_stopwatch *),
                    uint64_t *sorted)
{
    for (int i = 0; i < WARM_UP_LAPS; i++)
        lap(watch);
    for (int i = 0; i < LAPS; i++)
        sorted[i] = lap(watch);
    sort(sorted, LAPS);
}

/*
 * What the counter can tell apart. Laps do not show it: empty ones are all as long where a step is
 * longer than they differ by, and on a counter that steps by 24.5 ticks they differ by one.
 */
static uint64_t find_granularity(void)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter_find_granularity(&counter);
    return counter.granularity_ticks;
}

/* Length of a tick, from the clock: a second's worth of ticks, ahead of now. */
static double period_ns(const timebase_clock *clock)
{
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t first = timebase_ticks_at_mono(clock, now_ns);
    uint64_t last = timebase_ticks_at_mono(clock, now_ns + 1000000000);
    return last == first ? 0 : 1e9 / (double)(last - first);
}

TIMEBASE_API int timebase_stopwatch_calibrate(struct timebase_stopwatch *watch,
                                              const timebase_clock *clock)
{
    uint64_t sorted[LAPS];
    struct timebase_stopwatch fresh = {0, 0, 0, 0, 0.0, 0};
    if (watch == NULL || clock == NULL)
        return TIMEBASE_E_INVALID;
    *watch = fresh;
    timebase_ticks();
    watch->period_ns = period_ns(clock);

    measure(watch, lap_empty, sorted);
    watch->overhead_ticks = sorted[LAPS / 2];
    watch->spread_ticks = sorted[LAPS * 99 / 100] - sorted[0];
    watch->granularity_ticks = find_granularity();

    measure(watch, lap_nested, sorted);
    watch->pair_ticks = sorted[LAPS / 2];
    watch->laps = 0;
    return TIMEBASE_OK;
}
