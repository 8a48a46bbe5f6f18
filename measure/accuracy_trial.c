/* SPDX-License-Identifier: MIT */
#include "accuracy_trial.h"

#include <stdbool.h>
#include <stddef.h>

#include "accuracy_delay.h"
#include "accuracy_event.h"
#include "accuracy_loops.h"
#include "accuracy_walk.h"

static bool is_known(const struct timebase_bench_method *method)
{
    if (method->form == TIMEBASE_BENCH_DELAY)
        return bench_delay_exists(method->loop) && method->delay_ticks >= 0 &&
            method->delay_ticks < 1e18;
    if (method->form != TIMEBASE_BENCH_CALL && method->form != TIMEBASE_BENCH_UNTIL)
        return false;
    return method->loop == TIMEBASE_BENCH_WAITER || method->loop == TIMEBASE_BENCH_NAIVE ||
        bench_loop_exists(method->loop, method->place);
}

int bench_trial_check(const struct timebase_bench_method *method)
{
    if (method->waiter == NULL || method->instrument == NULL || !is_known(method))
        return TIMEBASE_E_INVALID;
    if ((method->before & ~timebase_bench_before_possible()) != 0)
        return TIMEBASE_E_UNSUPPORTED;
    if ((method->before & TIMEBASE_BENCH_WALK) && !bench_walk_prepare())
        return TIMEBASE_E_UNSUPPORTED;
    return TIMEBASE_OK;
}

static int call(const struct timebase_bench_method *method, uint64_t target,
                struct bench_event *event, struct timebase_bench_hit *out)
{
    struct timebase_wait_result result;
    int waited = timebase_wait_call_ticks(method->waiter, target, method->flags, bench_event_take,
                                          event, &result);
    if (waited < 0)
        return waited;
    out->late = result.late != 0;
    out->disturbance = result.disturbance;
    out->mechanism = result.mechanism;
    return TIMEBASE_OK;
}

static int until(const struct timebase_bench_method *method, uint64_t target,
                 struct bench_event *event, struct timebase_bench_hit *out)
{
    int waited = timebase_wait_until_ticks(method->waiter, target, method->flags, NULL);
    bench_event_take(event);
    out->late = waited == 1;
    return waited < 0 ? waited : TIMEBASE_OK;
}

/* Late: the target had passed before the loop began. */
static int poll(const struct timebase_bench_method *method, uint64_t target,
                struct bench_event *event, struct timebase_bench_hit *out)
{
    out->late = (int64_t)(timebase_ticks() - target) >= 0;
    if (method->loop == TIMEBASE_BENCH_NAIVE)
        while ((int64_t)(timebase_ticks() - target) < 0)
            ;
    else
        bench_loop_until(method->loop, method->place, target);
    bench_event_take(event);
    return TIMEBASE_OK;
}

static int wait_for(const struct timebase_bench_method *method, uint32_t ahead_ticks,
                    struct timebase_bench_hit *out)
{
    struct bench_event event;
    uint64_t target = timebase_ticks_ordered() + ahead_ticks;
    bench_event_expect(&event, method->instrument, target);
    bool looping = method->loop != TIMEBASE_BENCH_WAITER;
    int result = (looping                                   ? poll
                      : method->form == TIMEBASE_BENCH_CALL ? call
                                                            : until)(method, target, &event, out);
    return result < 0 ? result : bench_event_hit(&event, target, out);
}

int bench_trial(const struct timebase_bench_method *method, uint32_t ahead_ticks,
                struct timebase_bench_hit *out)
{
    *out = (struct timebase_bench_hit){.mechanism = -1};
    bench_event_disorder(method->before, method->instrument);
    if (method->form == TIMEBASE_BENCH_DELAY)
        return bench_delay(method, out);
    return wait_for(method, ahead_ticks, out);
}
