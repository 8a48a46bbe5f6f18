/* SPDX-License-Identifier: MIT */
#include "accuracy.h"

#include <stdbool.h>
#include <stddef.h>

#include "accuracy_event.h"
#include "accuracy_loops.h"
#include "accuracy_walk.h"

/*
 * Unrecorded trials before the others. The caller's own work has made the caches cold;
 * method->before asks for cold ones.
 */
#define WARM_UP_TRIALS 16

static int check(const struct timebase_bench_method *method)
{
    if (method->waiter == NULL)
        return TIMEBASE_E_INVALID;
    if (method->loop != TIMEBASE_BENCH_WAITER && !bench_loop_exists(method->loop, method->place))
        return TIMEBASE_E_INVALID;
    if ((method->before & ~timebase_bench_before_possible()) != 0)
        return TIMEBASE_E_UNSUPPORTED;
    if ((method->before & TIMEBASE_BENCH_WALK) && !bench_walk_prepare())
        return TIMEBASE_E_UNSUPPORTED;
    return TIMEBASE_OK;
}

static int by_waiter(const struct timebase_bench_method *method, uint64_t target,
                     struct bench_event *event, struct timebase_bench_hit *out)
{
    struct timebase_wait_result result;
    int waited = timebase_wait_call_ticks(method->waiter, target, method->flags, bench_event_take,
                                          event, &result);
    if (waited < 0)
        return waited;
    out->late = result.late != 0;
    out->disturbance = result.disturbance;
    return TIMEBASE_OK;
}

/* The target had passed before the loop began. */
static int by_loop(const struct timebase_bench_method *method, uint64_t target,
                   struct bench_event *event, struct timebase_bench_hit *out)
{
    out->late = (int64_t)(timebase_ticks() - target) >= 0;
    out->disturbance = 0;
    bench_loop_until(method->loop, method->place, target);
    bench_event_take(event);
    return TIMEBASE_OK;
}

static int try_once(const struct timebase_bench_method *method, uint32_t ahead_ticks,
                    struct timebase_bench_hit *out)
{
    struct bench_event event;
    bench_event_disorder(method->before, method->waiter);
    uint64_t target = timebase_ticks_ordered() + ahead_ticks;
    bench_event_expect(&event, method->waiter, target);
    bool looping = method->loop != TIMEBASE_BENCH_WAITER;
    int result = (looping ? by_loop : by_waiter)(method, target, &event, out);
    return result < 0 ? result : bench_event_hit(&event, target, out);
}

int timebase_bench_hits(const struct timebase_bench_method *method, const uint32_t *ahead_ticks,
                        uint32_t trials, struct timebase_bench_hit *out)
{
    if (method == NULL || ahead_ticks == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    int result = check(method);
    for (uint32_t i = 0; i < WARM_UP_TRIALS && trials != 0 && result == TIMEBASE_OK; i++)
        result = try_once(method, ahead_ticks[i % trials], out);
    for (uint32_t trial = 0; trial < trials && result == TIMEBASE_OK; trial++)
        result = try_once(method, ahead_ticks[trial], &out[trial]);
    return result;
}
