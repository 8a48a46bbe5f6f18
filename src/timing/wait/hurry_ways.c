/* SPDX-License-Identifier: MIT */
#include "hurry_ways.h"

#include "asked.h"
#include "hurry_tell.h"

APPROACH_WAY int hurry_end_within(struct waiter *waiter)
{
    hurry_poll(waiter, NULL, NULL);
    return hurry_count(waiter);
}

APPROACH_WAY static void look_at_function(const void *what)
{
    const struct hurried *asked = (const struct hurried *)what;
    const struct approach *a = &asked->waiter->approach;
    if (a->foresee != NULL)
        a->foresee((const void *)(uintptr_t)asked->function, asked->argument);
}

/*
 * What is counted and told comes behind the event; evidence before it is looked at for a result
 * alone. The function may not use the waiter: see wait.h.
 */
APPROACH_WAY int hurry_call(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    uint64_t leave = hurry_begin(asked, EVENT_CALLED), uses = waiter->uses;
    int looks = hurry_look_ahead(asked, leave);
    if (asked->result != NULL)
        evidence_set_marks(&waiter->evidence, &waiter->telling.marks);
    hurry_poll(waiter, looks ? look_at_function : NULL, asked);
    if (__builtin_expect(asked->result != NULL, 0))
        evidence_look(&waiter->telling.marks);
    asked->function(asked->argument);
    if (waiter->uses != uses)
        return TIMEBASE_E_INVALID;
    return asked->result != NULL ? hurry_tell_call(asked) : hurry_count(waiter);
}

APPROACH_WAY int hurry_run(const struct wait *wait)
{
    struct hurried asked = hurried_of(wait);
    enum event_way way = wait_event_way(wait);
    return way == EVENT_CALLED ? hurry_call(&asked)
        : way == EVENT_TELLS   ? hurry_tell(&asked)
                               : hurry_return(&asked);
}
