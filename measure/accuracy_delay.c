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
    struct bench_event begin, end;
    int waited; /* what the delay returned */
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
 * Only the delay stands between its two readings, so the cost of calling it counts. The delay is
 * called without a result, as programs call it.
 */
static void run(const struct timebase_bench_method *method, int loop, struct lap *lap)
{
    uint64_t ticks = (uint64_t)(method->delay_ticks + 0.5);
    switch (loop) {
    case TIMEBASE_BENCH_WAITER:
        bench_event_take(&lap->begin);
        lap->waited = timebase_delay_ns(method->waiter, method->delay_ns, method->flags, NULL);
        bench_event_take(&lap->end);
        break;
    case TIMEBASE_BENCH_NAIVE:
        bench_event_take(&lap->begin);
        poll_for(ticks);
        bench_event_take(&lap->end);
        break;
    case TIMEBASE_BENCH_SLEEP:
        bench_event_take(&lap->begin);
        sleep_for(method->delay_ns);
        bench_event_take(&lap->end);
        break;
    default:
        bench_event_take(&lap->begin);
        bench_event_take(&lap->end);
        break;
    }
}

/* Both are placed when both have been taken: that takes longer or shorter, and is no part of a lap. */
static int place(struct lap *lap)
{
    struct timebase_fine_reading begin, end;
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
    bench_event_expect(&lap->begin, method->instrument, base);
    bench_event_expect(&lap->end, method->instrument, base);
    run(method, loop, lap);
    return lap->waited < 0 ? lap->waited : place(lap);
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
