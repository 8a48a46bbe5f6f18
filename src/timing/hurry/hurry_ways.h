/* SPDX-License-Identifier: MIT */
/* hurry_ways: a wait in a hurry by the way of its event. Each begins the wait, and ends it. */
#ifndef HURRY_HURRY_WAYS_H
#define HURRY_HURRY_WAYS_H

#include "hurry_loop.h"

/* One that returns where that cannot be behind all that it called. */
int hurry_end_within(struct waiter *waiter);

/* All of its end once in vain: see hurry_may_rehearse(). */
static inline void hurry_rehearse(struct approach *a, approach_function *end)
{
    uint64_t leave = a->hurry_ticks;
    uint32_t late = a->hurry_late;
    a->hurry_ticks = waiter_long_before(leave);
    end(a);
    a->hurry_late = late;
    a->hurry_ticks = leave;
}

/*
 * One that returns, without a result. Returns as a wait does; or APPROACH_ENDS_BEHIND: return this
 * at once, to approach_from(). In line, so that it lies straight behind what calls it.
 */
static inline int hurry_return(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    uint64_t leave = hurry_begin(asked, EVENT_RETURNS);
    int looks = hurry_look_ahead(asked, leave);
#ifdef __x86_64__
    if (__builtin_expect(asked->frame != NULL && waiter_may_read(waiter), 1)) {
        struct approach *a = &waiter->approach;
        approach_function *end = looks ? approach_hurry_and_look : approach_hurry;
        if (__builtin_expect(waiter->telling.never_early, 0))
            end = looks ? approach_hurry_never_early_and_look : approach_hurry_never_early;
        if (__builtin_expect(hurry_may_rehearse(asked, leave), 0))
            hurry_rehearse(a, end);
        a->frame = asked->frame;
        approach_end_behind(a, end);
        return APPROACH_ENDS_BEHIND;
    }
#endif
    (void)looks;
    return hurry_end_within(waiter);
}

/* One that calls its function. TIMEBASE_E_INVALID: that has used the waiter. */
int hurry_call(struct hurried *asked);

/* Any. */
int hurry_run(const struct wait *wait);

#endif
