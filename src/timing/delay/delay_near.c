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
APPROACH_WAY int64_t delay_near_left_ticks(struct waiter *waiter, uint64_t delay_ns,
                                           unsigned flags, struct timebase_wait_result *result)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double ticks = (double)(int64_t)delay_ns / learnt->period_ns - learnt->delay_call_ticks;
    int64_t left = (int64_t)(ticks + 0.5);
    if (left >= learnt->near_delay_ticks || waiter->is_in_event) /* the wait around it has to be told */
        return 0;
    delay_note_loop(waiter, &waiter->choice); /* exact waits say the same of themselves */
    uint64_t end_ticks = waiter->delay_called_ticks + (uint64_t)left;
    struct hurried asked = asked_for(waiter, end_ticks, flags, result);
    if (!near_exact_is_possible(&asked, left))
        return 0;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    delay_counted_ends(waiter);
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
