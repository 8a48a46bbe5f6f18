/* SPDX-License-Identifier: MIT */
#include "hurry_ways.h"

#include "timing/waiter/asked.h"

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
 * All but the event. A function of its own, so that it may be executed in vain. Evidence before the
 * event is looked at for a result alone.
 */
APPROACH_WAY static __attribute__((noinline)) void end_call(const struct hurried *asked,
                                                            hurry_look *look)
{
    struct evidence_marks *marks = &asked->waiter->telling.marks;
    if (asked->result != NULL)
        evidence_set_marks(&asked->waiter->evidence, marks);
    hurry_poll(asked->waiter, look, asked);
    if (asked->result != NULL)
        evidence_look(marks);
}

/* What is counted and told comes behind the event. The function may not use the waiter: see wait.h. */
APPROACH_WAY int hurry_call(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    uint64_t leave = hurry_begin(asked, EVENT_CALLED), uses = waiter->uses;
    if (hurry_may_rehearse(asked, leave)) {
        waiter->approach.hurry_ticks = waiter_long_before(leave);
        end_call(asked, NULL);
        waiter->approach.hurry_ticks = leave;
    }
    int looks = hurry_look_ahead(asked, leave);
    end_call(asked, looks ? look_at_function : NULL);
    waiter->is_in_event = 1;
    asked->function(asked->argument);
    waiter->is_in_event = 0;
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
