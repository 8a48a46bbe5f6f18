/* SPDX-License-Identifier: MIT */
/*
 * wait: the public waits for a time, and what all begin with that do not hurry: check the target,
 * follow the CPU, run the stages.
 */
#include <stddef.h>

#include "timing/calibration/calibration.h"
#include "timing/stages/stages.h"
#include "timing/waiter/asked.h"
#include "timing/waiter/target.h"

#include "wait_for.h"

static int is_too_far(const struct wait *wait, int64_t now_ns)
{
    if (wait->ticks_at != NULL)
        return target_time_is_far(wait->ns, now_ns);
    return target_tick_is_far(wait->ticks, wait->entered_ticks, wait->waiter->learnt.period_ns);
}

static int is_known(const timebase_clock *clock)
{
    struct timebase_interval interval;
    int status = timebase_utc_interval(clock, &interval);
    return status >= 0 && status != TIMEBASE_STATUS_UNKNOWN;
}

APPROACH_WAY int wait_for(struct timebase_waiter *public, struct wait *wait, int64_t now_ns)
{
    wait->entered_ticks = timebase_ticks();
    wait->waiter = waiter_for(public, wait->flags);
    if (wait->waiter == NULL || is_too_far(wait, now_ns))
        return TIMEBASE_E_INVALID;
    if (wait->ticks_at != NULL && !is_known(wait->waiter->clock))
        return TIMEBASE_E_UNSUPPORTED;
    wait_convert(wait);
    calibrate_before(wait);
    return stages_run(wait);
}

/* Not in line: see wait_ticks.h. */
APPROACH_WAY int wait_for_asked(struct timebase_waiter *waiter, const struct hurried *asked)
{
    struct wait wait = {.ticks = asked->ticks,
                        .flags = asked->flags,
                        .function = asked->function,
                        .argument = asked->argument,
                        .frame = asked->frame,
                        .result = asked->result};
    return wait_for(waiter, &wait, 0);
}

static int64_t utc_now(const struct timebase_waiter *public)
{
    struct waiter *waiter = waiter_checked(public);
    return waiter != NULL ? timebase_utc_ns(waiter->clock) : 0;
}

static int64_t mono_now(const struct timebase_waiter *public)
{
    struct waiter *waiter = waiter_checked(public);
    return waiter != NULL ? timebase_mono_ns(waiter->clock) : 0;
}

APPROACH_WAY static int until_mono(void *waiter, uint64_t ns, uint64_t flags, void *result,
                                   void *frame)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_mono,
                        .ns = (int64_t)ns,
                        .flags = (unsigned)flags,
                        .frame = frame,
                        .result = (struct timebase_wait_result *)result};
    return wait_for((struct timebase_waiter *)waiter, &wait, mono_now(waiter));
}

TIMEBASE_API APPROACH_WAY int timebase_wait_until_mono(struct timebase_waiter *waiter,
                                                       int64_t mono_ns, unsigned flags,
                                                       struct timebase_wait_result *result)
{
    return approach_from(waiter, (uint64_t)mono_ns, flags, result, until_mono);
}

APPROACH_WAY static int until_utc(void *waiter, uint64_t ns, uint64_t flags, void *result,
                                  void *frame)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_utc,
                        .ns = (int64_t)ns,
                        .flags = (unsigned)flags,
                        .frame = frame,
                        .result = (struct timebase_wait_result *)result};
    return wait_for((struct timebase_waiter *)waiter, &wait, utc_now(waiter));
}

TIMEBASE_API APPROACH_WAY int timebase_wait_until_utc(struct timebase_waiter *waiter,
                                                      int64_t utc_ns, unsigned flags,
                                                      struct timebase_wait_result *result)
{
    return approach_from(waiter, (uint64_t)utc_ns, flags, result, until_utc);
}

TIMEBASE_API APPROACH_WAY int timebase_wait_call_mono(struct timebase_waiter *waiter,
                                                      int64_t mono_ns, unsigned flags,
                                                      void (*function)(void *), void *argument,
                                                      struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_mono,
                        .ns = mono_ns,
                        .flags = flags,
                        .function = function,
                        .argument = argument,
                        .result = result};
    return function != NULL ? wait_for(waiter, &wait, mono_now(waiter)) : TIMEBASE_E_INVALID;
}

TIMEBASE_API APPROACH_WAY int timebase_wait_call_utc(struct timebase_waiter *waiter, int64_t utc_ns,
                                                     unsigned flags, void (*function)(void *),
                                                     void *argument,
                                                     struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_utc,
                        .ns = utc_ns,
                        .flags = flags,
                        .function = function,
                        .argument = argument,
                        .result = result};
    return function != NULL ? wait_for(waiter, &wait, utc_now(waiter)) : TIMEBASE_E_INVALID;
}
