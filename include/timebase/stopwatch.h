/* SPDX-License-Identifier: MIT */
/*
 * stopwatch: measures how long a few instructions take, and subtracts its own cost.
 *
 *     struct timebase_stopwatch watch;
 *     timebase_stopwatch_calibrate(&watch, timebase_clock_default());
 *
 *     struct timebase_elapsed elapsed;
 *     TIMEBASE_STOPWATCH(&watch, &elapsed) {
 *         work();
 *     }
 *     printf("%.1f ns +/- %.1f\n", elapsed.ns, elapsed.uncertainty_ns);
 *
 * or by hand, nested if need be:
 *
 *     struct timebase_lap outer = timebase_stopwatch_start(&watch);
 *     struct timebase_lap inner = timebase_stopwatch_start(&watch);
 *     ... timebase_stopwatch_stop(&watch, inner) ... timebase_stopwatch_stop(&watch, outer) ...
 *
 * The Lisp thread of 2008 called its timer four times: the first reading is cold, so it is thrown
 * away, and (t4 - t3) - (t3 - t2) is the code without the timer. Here calibration takes the cold
 * and the empty readings, many times: the median of the empty laps is subtracted, and their spread
 * is the uncertainty. Start and stop are serialised: the measured code begins after the start is
 * read and ends before the stop is read.
 *
 * A stopwatch belongs to one thread. A lap must start and stop on the same CPU or on CPUs with
 * synchronised counters. The cost of an inner lap is subtracted from the outer one.
 */
#ifndef TIMEBASE_STOPWATCH_H
#define TIMEBASE_STOPWATCH_H

#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/clock.h>
#include <timebase/counter.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_stopwatch {
    uint64_t overhead_ticks;    /* median of an empty lap */
    uint64_t spread_ticks;      /* 99th percentile of an empty lap - its minimum */
    uint64_t pair_ticks;        /* what a whole inner lap adds to an outer one, median */
    uint64_t granularity_ticks; /* step of the counter: see counter.h */
    double period_ns;           /* length of a tick */
    uint64_t laps;              /* laps stopped so far */
};

struct timebase_lap {
    uint64_t start_ticks;
    uint64_t laps; /* stopwatch->laps at the start, to count the inner laps */
};

struct timebase_elapsed {
    int64_t ticks;         /* overhead subtracted; may be slightly negative for an empty lap */
    double ns;             /* the same in nanoseconds */
    double uncertainty_ns; /* the empty lap's spread plus one granule; disturbances come on top */
};

/*
 * Learn the overhead: 1,001 empty laps, then 1,001 with a lap inside; 16 laps before each of the
 * two warm it up. About 0.5 ms, plus up to 1 ms if the clock is new; 20 KiB of stack, so not for
 * signal handlers.
 * Returns 0, or TIMEBASE_E_INVALID if an argument is null.
 */
TIMEBASE_API int timebase_stopwatch_calibrate(struct timebase_stopwatch *watch,
                                              const timebase_clock *clock);

TIMEBASE_API TIMEBASE_COLD uint64_t timebase_stopwatch_ticks_slow(void);

TIMEBASE_PART uint64_t timebase_stopwatch_begin(void)
{
    return timebase_counter_is_readable() ? timebase_arch_ticks_begin()
                                          : timebase_stopwatch_ticks_slow();
}

TIMEBASE_PART uint64_t timebase_stopwatch_end(void)
{
    return timebase_counter_is_readable() ? timebase_arch_ticks_end()
                                          : timebase_stopwatch_ticks_slow();
}

TIMEBASE_INLINE struct timebase_lap timebase_stopwatch_start(struct timebase_stopwatch *watch)
{
    struct timebase_lap lap;
    lap.laps = watch->laps;
    lap.start_ticks = timebase_stopwatch_begin();
    return lap;
}

TIMEBASE_INLINE struct timebase_elapsed timebase_stopwatch_stop(struct timebase_stopwatch *watch,
                                                                struct timebase_lap lap)
{
    uint64_t stop_ticks = timebase_stopwatch_end();
    struct timebase_elapsed elapsed;
    uint64_t inner = watch->laps - lap.laps;
    elapsed.ticks =
        (int64_t)(stop_ticks - lap.start_ticks - watch->overhead_ticks - inner * watch->pair_ticks);
    elapsed.ns = (double)elapsed.ticks * watch->period_ns;
    elapsed.uncertainty_ns =
        (double)(watch->spread_ticks * (inner + 1) + watch->granularity_ticks) * watch->period_ns;
    watch->laps++;
    return elapsed;
}

/* For TIMEBASE_STOPWATCH: starts in the first round of the loop, stops before the second. */
struct timebase_stopwatch_scope {
    struct timebase_lap lap;
    int rounds;
};

TIMEBASE_PART int timebase_stopwatch_round(struct timebase_stopwatch *watch,
                                           struct timebase_elapsed *elapsed,
                                           struct timebase_stopwatch_scope *scope)
{
    if (scope->rounds++ == 0) {
        scope->lap = timebase_stopwatch_start(watch);
        return 1;
    }
    *elapsed = timebase_stopwatch_stop(watch, scope->lap);
    return 0;
}

/* Time the statement or block that follows, once. Leaving it by break or return leaves *elapsed
 * unset. */
#define TIMEBASE_STOPWATCH(watch, elapsed)                                                         \
    TIMEBASE_STOPWATCH_AS(watch, elapsed, TIMEBASE_JOIN(timebase_scope_, __COUNTER__))

/* With a name of its own for each, so that they nest. */
#define TIMEBASE_STOPWATCH_AS(watch, elapsed, name)                                                \
    for (struct timebase_stopwatch_scope name = {{0, 0}, 0};                                       \
         timebase_stopwatch_round((watch), (elapsed), &name);)
#define TIMEBASE_JOIN(a, b) TIMEBASE_JOIN_NOW(a, b)
#define TIMEBASE_JOIN_NOW(a, b) a##b

TIMEBASE_EXTERN_END

#endif
