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

APPROACH_WAY void event_set(const struct wait *wait)
{
    struct approach *a = &wait->waiter->approach;
    if (wait->function != NULL)
        event_set_call(a, wait->function, wait->argument);
    else if (wait->frame == NULL)
        event_set_call(a, approach_event_none, NULL);
    else
        event_set_return(wait->waiter, wait_event_way(wait));
    a->held = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    if (a->held && waiter_is_bare(wait->waiter))
        a->behind = wait->waiter->ways.poll_held;
    if (a->held && a->end == result_end)
        a->end = result_end_held;
    a->frame = wait->frame;
}
