/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "accuracy.h"
#include "accuracy_event.h"

/* As in accuracy.c; of no more than so long. */
#define WARM_UP_TRIALS 16
#define WARM_UP_NS 20000

struct delay {
    struct timebase_waiter *waiter;
    uint64_t ns, ticks;
};

static int nothing(const struct delay *delay, struct timebase_bench_hit *out)
{
    (void)delay, (void)out;
    return TIMEBASE_OK;
}

/* Without a result, as a delay is used: gathering evidence takes longer than a short delay. */
static int by_waiter(const struct delay *delay, struct timebase_bench_hit *out)
{
    int waited = timebase_delay_ns(delay->waiter, delay->ns, 0, NULL);
    out->late = waited == 1;
    return waited < 0 ? waited : TIMEBASE_OK;
}

static int by_loop(const struct delay *delay, struct timebase_bench_hit *out)
{
    (void)out;
    uint64_t start = timebase_ticks();
    while (timebase_ticks() - start < delay->ticks)
        ;
    return TIMEBASE_OK;
}

static int by_sleep(const struct delay *delay, struct timebase_bench_hit *out)
{
    (void)out;
    struct timespec rest = {
        .tv_sec = (time_t)(delay->ns / 1000000000),
        .tv_nsec = (long)(delay->ns % 1000000000),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
        ;
    return TIMEBASE_OK;
}

static int (*const delayers[])(const struct delay *, struct timebase_bench_hit *) = {
    [TIMEBASE_BENCH_DELAY_NONE] = nothing,
    [TIMEBASE_BENCH_DELAY_WAITER] = by_waiter,
    [TIMEBASE_BENCH_DELAY_LOOP] = by_loop,
    [TIMEBASE_BENCH_DELAY_SLEEP] = by_sleep,
};

#define DELAYERS ((int)(sizeof delayers / sizeof delayers[0]))

/*
 * Between two fine readings. The difference contains the rest of the first one, after its instant.
 */
static int try_once(int delayer, const struct delay *delay, double wanted_ticks,
                    struct timebase_bench_hit *out)
{
    struct bench_event begin, end;
    uint64_t base = timebase_ticks();
    *out = (struct timebase_bench_hit){0};
    bench_event_expect(&begin, delay->waiter, base);
    bench_event_expect(&end, delay->waiter, base);
    bench_event_take(&begin);
    int result = delayers[delayer](delay, out);
    bench_event_take(&end);
    if (result < 0 || begin.result < 0 || end.result < 0)
        return result < 0 ? result : TIMEBASE_E_UNSUPPORTED;
    out->error_ticks = end.reading.ticks - begin.reading.ticks - wanted_ticks;
    out->bound_ticks = begin.reading.bound_ticks + end.reading.bound_ticks;
    return TIMEBASE_OK;
}

static int warm_up(int delayer, struct delay delay, struct timebase_bench_hit *out)
{
    if (delay.ns > WARM_UP_NS) {
        delay.ticks = delay.ticks * WARM_UP_NS / delay.ns;
        delay.ns = WARM_UP_NS;
    }
    int result = TIMEBASE_OK;
    for (int i = 0; i < WARM_UP_TRIALS && result == TIMEBASE_OK; i++)
        result = try_once(delayer, &delay, 0, out);
    return result;
}

int timebase_bench_delays(struct timebase_waiter *waiter, int delayer, uint64_t delay_ns,
                          double delay_ticks, uint32_t trials, struct timebase_bench_hit *out)
{
    if (waiter == NULL || out == NULL || trials == 0 || delayer < 0 || delayer >= DELAYERS ||
        !(delay_ticks >= 0))
        return TIMEBASE_E_INVALID;
    struct delay delay = {waiter, delay_ns, (uint64_t)(delay_ticks + 0.5)};
    double wanted = delayer == TIMEBASE_BENCH_DELAY_NONE ? 0 : delay_ticks;
    int result = warm_up(delayer, delay, out);
    for (uint32_t trial = 0; trial < trials && result == TIMEBASE_OK; trial++)
        result = try_once(delayer, &delay, wanted, &out[trial]);
    return result;
}
