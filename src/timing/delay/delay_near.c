/* SPDX-License-Identifier: MIT */
#include "delay_near.h"

#include "delay_at_once.h"

static struct hurried asked_for(struct waiter *waiter, uint64_t end_ticks, unsigned flags,
                                struct timebase_wait_result *result)
{
    return (struct hurried){.waiter = waiter,
                            .ticks = end_ticks,
                            .flags = flags,
                            .result = result,
                            .entered_ticks = waiter->delay_called_ticks};
}

/* Rounded to a tick, which is fine where there are such waits. */
static inline int64_t rounded_ticks(const struct waiter_learnt *learnt, uint64_t delay_ns)
{
    double ticks = (double)(int64_t)delay_ns / learnt->period_ns - learnt->delay_call_ticks;
    return (int64_t)(ticks + 0.5);
}

/* In an event's function the wait around it has to be told. */
static inline int may_be(const struct waiter *waiter, int64_t left)
{
    return left < waiter->learnt.near_delay_ticks && !waiter->is_in_event;
}

APPROACH_WAY int64_t delay_near_left_ticks(struct waiter *waiter, uint64_t delay_ns,
                                           unsigned flags, struct timebase_wait_result *result)
{
    int64_t left = rounded_ticks(&waiter->learnt, delay_ns);
    if (!may_be(waiter, left))
        return 0;
    delay_note_loop(waiter, &waiter->choice); /* exact waits say the same of themselves */
    uint64_t end_ticks = waiter->delay_called_ticks + (uint64_t)left;
    struct hurried asked = asked_for(waiter, end_ticks, flags, result);
    if (!near_exact_is_possible(&asked, left))
        return 0;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    return left;
}

APPROACH_WAY int delay_near(void *waiter, uint64_t end_ticks, uint64_t flags, void *result,
                            void *frame)
{
    struct hurried asked = asked_for((struct waiter *)waiter, end_ticks, (unsigned)flags,
                                     (struct timebase_wait_result *)result);
    asked.frame = frame;
    return near_exact(&asked);
}

APPROACH_WAY int64_t delay_near_left_after_pause(struct waiter *waiter, uint64_t delay_ns,
                                                 unsigned flags)
{
    int64_t left = rounded_ticks(&waiter->learnt, delay_ns);
    uint64_t end_ticks = waiter->delay_called_ticks + (uint64_t)left;
    struct hurried asked = asked_for(waiter, end_ticks, flags, NULL);
    if (!may_be(waiter, left) || near_loads(&asked, left) != NEAR_LOADED)
        return 0;
    waiter->delay_touched_ticks = (int64_t)(asked.entered_ticks - waiter->delay_called_ticks);
    caution_went_well(&waiter->far_code);
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    return left;
}

/* To load its lines was no part of what it needs. */
APPROACH_WAY int delay_near_after_pause(void *waiter, uint64_t end_ticks, uint64_t flags,
                                        void *null, void *frame)
{
    struct hurried asked = asked_for((struct waiter *)waiter, end_ticks, (unsigned)flags, null);
    asked.entered_ticks += (uint64_t)asked.waiter->delay_touched_ticks;
    asked.is_loaded = 1;
    asked.frame = frame;
    return near_exact(&asked);
}
