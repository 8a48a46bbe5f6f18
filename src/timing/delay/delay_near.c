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

/* On another CPU than it was calibrated on the stages would calibrate anew. */
static inline int may_be_after_pause(const struct waiter *waiter, int64_t left, unsigned flags)
{
    return may_be(waiter, left) && !waiter->is_calibrating &&
        evidence_cpu(&waiter->evidence) == waiter->cpu && waiter_prefers_exact(waiter, flags);
}

/* To load its lines takes a tenth of a microsecond, where they are near: then they are in the second level. */
APPROACH_WAY int64_t delay_near_left_after_pause(struct waiter *waiter, uint64_t delay_ns,
                                                 unsigned flags)
{
    enum { LOADING_NS = 100, MORE_NS = 150 };
    const struct waiter_need *need = &waiter->learnt.near_exact_needs[EVENT_RETURNS];
    int64_t needed = (int64_t)need->ticks + waiter_ticks_of_ns(waiter, MORE_NS);
    int64_t left = rounded_ticks(&waiter->learnt, delay_ns);
    if (left < needed + waiter_ticks_of_ns(waiter, LOADING_NS) ||
        !may_be_after_pause(waiter, left, flags))
        return 0;
    near_exact_load(waiter);
    waiter->delay_touched_ticks = (int64_t)(timebase_ticks_ordered() - waiter->delay_called_ticks);
    if (left - waiter->delay_touched_ticks < needed)
        return 0;
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
    asked.frame = frame;
    return near_exact(&asked);
}
