/* SPDX-License-Identifier: MIT */
#include "event.h"

#include <stddef.h>

#include "timing/waiter/asked.h"

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

APPROACH_WAY void event_set_never_early(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    a->never_early = 1;
    if (waiter_is_bare(waiter))
        a->behind = waiter->ways.poll_never_early;
    if (a->end == result_end)
        a->end = result_end_never_early;
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
    a->never_early = 0;
    if (wait->flags & TIMEBASE_WAIT_NEVER_EARLY)
        event_set_never_early(wait->waiter);
    a->frame = wait->frame;
}
