/* SPDX-License-Identifier: MIT */
/* asked: what a wait was asked for: its event and its target, and how near that is. */
#ifndef WAITER_ASKED_H
#define WAITER_ASKED_H

#include <stddef.h>

#include "waiter.h"

static inline enum event_way event_way_of(void (*function)(void *),
                                          const struct timebase_wait_result *result)
{
    return function != NULL ? EVENT_CALLED : result != NULL ? EVENT_TELLS : EVENT_RETURNS;
}

static inline enum event_way wait_event_way(const struct wait *wait)
{
    return event_way_of(wait->function, wait->result);
}

/* The code of its event comes into the innermost cache. Where ways->foresee is null that is not possible. */
static inline __attribute__((always_inline)) void asked_foresee(const struct approach_ways *ways,
                                                                void (*function)(void *),
                                                                void *argument, void *frame)
{
    if (function != NULL)
        ways->foresee((const void *)(uintptr_t)function, argument);
    else if (frame != NULL)
        ways->foresee_return(frame);
}

/* The target in ticks, as the clock sees it now. */
static inline void wait_convert(struct wait *wait)
{
    if (wait->ticks_at != NULL)
        wait->ticks = wait->ticks_at(wait->waiter->clock, wait->ns);
}

/* How long before its target. */
static inline int64_t wait_asked_before_ticks(const struct wait *wait)
{
    return (int64_t)(wait->ticks - wait->entered_ticks);
}

/*
 * Is the target nearer than the shortest rehearsal? Then there is no time to lead up to it. By cold
 * code what leads up to it is cold, too, and late itself: then more of the waits in a series can be
 * exact without. Those that are by the loop, or want the steadier tail, are steadier with it.
 */
static inline int wait_is_near(const struct wait *wait)
{
    const struct waiter_learnt *learnt = &wait->waiter->learnt;
    int is_steady = (wait->flags & (WAITER_LOOP_FLAGS | TIMEBASE_WAIT_STEADY)) != 0;
    int64_t nearest = wait->is_at_once && !is_steady ? learnt->cold_near_ticks
                                                     : (int64_t)learnt->lead_need.ticks;
    return wait_asked_before_ticks(wait) < nearest;
}

static inline int64_t wait_left_ticks(const struct wait *wait)
{
    return (int64_t)(wait->ticks - timebase_ticks());
}

#endif
