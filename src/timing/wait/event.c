/* SPDX-License-Identifier: MIT */
#include "event.h"

#include <stddef.h>

#include "asked.h"
#include "result.h"

APPROACH_WAY void event_set_return(struct waiter *waiter, enum event_way way)
{
    struct approach *a = &waiter->approach;
    a->argument = a;
    a->event = approach_event_none;
    a->behind = waiter->ways.poll_bare;
    a->end = NULL;
    if (a->behind != NULL && way == EVENT_TELLS) {
        a->behind = result_poll;
        a->end = result_end;
    }
}

APPROACH_WAY void event_set_call(struct approach *a, void (*function)(void *), void *argument)
{
    a->event = function;
    a->argument = argument;
    a->behind = NULL;
}

/* A bare loop does not wait until the counter reads the target. */
APPROACH_WAY static int is_bare_too_early(const struct wait *wait)
{
    return wait->flags & TIMEBASE_WAIT_NEVER_EARLY && !wait->exact && wait->result == NULL;
}

/*
 * The stamp is the first reading that is not too early. It is here and not in the approach, where the
 * branch would be predicted wrongly for waits that do not ask for it: 15 ns, in one of fifty.
 */
APPROACH_WAY static void event_not_before(void *argument)
{
    struct waiter *waiter = (struct waiter *)argument;
    struct approach *a = &waiter->approach;
    while ((int64_t)(a->event_ticks - a->not_before_ticks) < 0)
        a->event_ticks = timebase_ticks_ordered();
    waiter->held_event(waiter->held_argument);
}

APPROACH_WAY static void hold(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    waiter->held_event = a->event;
    waiter->held_argument = a->argument;
    a->event = event_not_before;
    a->argument = waiter;
    a->sooner_per_tick = 0; /* it would wait for one more reading then */
}

APPROACH_WAY void event_set(const struct wait *wait)
{
    struct approach *a = &wait->waiter->approach;
    if (wait->function != NULL)
        event_set_call(a, wait->function, wait->argument);
    else if (wait->frame == NULL)
        event_set_call(a, approach_event_none, NULL);
    else
        event_set_return(wait->waiter, wait_event_way(wait));
    if (is_bare_too_early(wait))
        a->behind = NULL;
    a->frame = wait->frame;
    if (wait->exact && wait->flags & TIMEBASE_WAIT_NEVER_EARLY)
        hold(wait->waiter);
}
