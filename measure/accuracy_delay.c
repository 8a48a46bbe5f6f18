/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "accuracy_delay.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "accuracy_event.h"
#include "phase.h"

struct lap {
    bool is_bare;                    /* one reading is enough at each end: */
    uint64_t begin_ticks, end_ticks; /* these */
    struct bench_event begin, end;   /* else these */
    int waited;                      /* what the delay returned */
    double ticks, bound_ticks;
};

static void sleep_for(uint64_t ns)
{
    struct timespec rest = {
        .tv_sec = (time_t)(ns / 1000000000),
        .tv_nsec = (long)(ns % 1000000000),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
        ;
}

static void poll_for(uint64_t ticks)
{
    uint64_t start = timebase_ticks();
    while (timebase_ticks() - start < ticks)
        ;
}

bool bench_delay_exists(int loop)
{
    return loop == TIMEBASE_BENCH_WAITER || loop == TIMEBASE_BENCH_NAIVE ||
        loop == TIMEBASE_BENCH_NOTHING || loop == TIMEBASE_BENCH_SLEEP;
}

/*
 * In line where one is enough: behind 0.1 ms a function of a library has gone cold, and the 5 ns by
 * which it comes later would be in the error.
 */
static inline __attribute__((always_inline)) void take(uint64_t *ticks, struct bench_event *event,
                                                       bool is_bare)
{
    if (is_bare)
        *ticks = timebase_ticks_ordered();
    else
        bench_event_take(event);
}

/*
 * Only the delay stands between its two readings, so the cost of calling it counts. The delay is
 * called without a result, as programs call it.
 */
static inline __attribute__((always_inline)) void run_between(
    const struct timebase_bench_method *method, int loop, struct lap *lap, bool is_bare)
{
    uint64_t ticks = (uint64_t)(method->delay_ticks + 0.5);
    switch (loop) {
    case TIMEBASE_BENCH_WAITER:
        take(&lap->begin_ticks, &lap->begin, is_bare);
        lap->waited = timebase_delay_ns(method->waiter, method->delay_ns, method->flags, NULL);
        take(&lap->end_ticks, &lap->end, is_bare);
        break;
    case TIMEBASE_BENCH_NAIVE:
        take(&lap->begin_ticks, &lap->begin, is_bare);
        poll_for(ticks);
        take(&lap->end_ticks, &lap->end, is_bare);
        break;
    case TIMEBASE_BENCH_SLEEP:
        take(&lap->begin_ticks, &lap->begin, is_bare);
        sleep_for(method->delay_ns);
        take(&lap->end_ticks, &lap->end, is_bare);
        break;
    default:
        take(&lap->begin_ticks, &lap->begin, is_bare);
        take(&lap->end_ticks, &lap->end, is_bare);
        break;
    }
}

/* Which is asked before: a branch behind the delay would be in its error. */
static void run(const struct timebase_bench_method *method, int loop, struct lap *lap)
{
    if (lap->is_bare)
        run_between(method, loop, lap, true);
    else
        run_between(method, loop, lap, false);
}

static struct timebase_waiter_description described(const struct timebase_waiter *waiter)
{
    struct timebase_waiter_description about = {.readings = 0};
    timebase_waiter_describe(waiter, &about);
    return about;
}

/* With no length at all two readings are those of waits: what these leave open is to be seen. */
static bool is_bare(const struct timebase_bench_method *method)
{
    return method->delay_ns > 0 && described(method->instrument).readings == 1;
}

/* Each reading stands for a step of the counter. */
static void place_bare(const struct timebase_bench_method *method, struct lap *lap)
{
    double ticks_per_ns = method->delay_ticks / (double)method->delay_ns;
    lap->ticks = (double)(lap->end_ticks - lap->begin_ticks);
    lap->bound_ticks = described(method->instrument).quantum_ns * ticks_per_ns;
}

/* Both are placed when both have been taken: that takes longer or shorter, and is no part of a lap. */
static int place(const struct timebase_bench_method *method, struct lap *lap)
{
    struct timebase_fine_reading begin, end;
    if (lap->is_bare) {
        place_bare(method, lap);
        return TIMEBASE_OK;
    }
    if (bench_event_place(&lap->begin, &begin) < 0 || bench_event_place(&lap->end, &end) < 0)
        return TIMEBASE_E_UNSUPPORTED;
    lap->ticks = end.ticks - begin.last_ticks;
    lap->bound_ticks = begin.bound_ticks + end.bound_ticks;
    return TIMEBASE_OK;
}

static int measure(const struct timebase_bench_method *method, int loop, struct lap *lap)
{
    bench_pass_phases();
    uint64_t base = timebase_ticks();
    lap->waited = TIMEBASE_OK;
    lap->is_bare = is_bare(method);
    bench_event_expect(&lap->begin, method->instrument, base);
    bench_event_expect(&lap->end, method->instrument, base);
    run(method, loop, lap);
    return lap->waited < 0 ? lap->waited : place(method, lap);
}

/* Two readings with nothing between, the second less the first. */
static int measure_added(const struct timebase_bench_method *method, double *out)
{
    struct lap lap;
    int result = measure(method, TIMEBASE_BENCH_NOTHING, &lap);
    *out = lap.ticks;
    return result;
}

/*
 * A lap contains what comes behind the last reading of its beginning and before the first one of its
 * end. How long that takes follows the core's clock, so a lap around nothing measures it each time.
 * This lap comes first, except with TIMEBASE_BENCH_NOTHING: there it would warm up what that
 * method is to show as it is.
 */
int bench_delay(const struct timebase_bench_method *method, struct timebase_bench_hit *out)
{
    struct lap lap;
    bool alone = method->loop == TIMEBASE_BENCH_NOTHING;
    int result = alone ? TIMEBASE_OK : measure_added(method, &out->added_ticks);
    if (result == TIMEBASE_OK)
        result = measure(method, method->loop, &lap);
    if (result == TIMEBASE_OK && alone)
        result = measure_added(method, &out->added_ticks);
    if (result < 0)
        return result;
    out->error_ticks = lap.ticks - (alone ? 0 : method->delay_ticks);
    out->bound_ticks = lap.bound_ticks;
    out->late = lap.waited == 1;
    return TIMEBASE_OK;
}
