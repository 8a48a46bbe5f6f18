/* SPDX-License-Identifier: MIT */
/*
 * delay_near: a short delay that is an exact wait at its call (near_exact.h), where there are such: a
 * poll shortly before its end is as good as one at its call, and all that comes before it counts
 * nothing.
 */
#ifndef DELAY_DELAY_NEAR_H
#define DELAY_DELAY_NEAR_H

#include "delay_counted.h"
#include "timing/stages/near_exact.h"
#include "timing/waiter/asked.h"

/*
 * Soon after another one: is there the time to ask? What is too short lets the need fade, so that it
 * is tried again; but for what is too short for anything that is checked. By code that is not near
 * only those that are so long that the next ones, which find it near, are such as well: beside a
 * neighbour the first is late by 0.1 to 0.6 us. Shorter ones are tried now and then, as nothing else
 * brings it near; but for what is only counted.
 */
static inline int delay_may_be_near(struct waiter *waiter, uint64_t delay_ns,
                                    const struct timebase_wait_result *result)
{
    enum { LONGER_NS = 300 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    if (learnt->near_delay_ticks == 0 || delay_ns < learnt->checked_ns)
        return 0;
    struct waiter_need *need =
        near_exact_need(waiter, waiter->delay_called_ticks, event_way_of(NULL, result));
    int is_cold = need == &learnt->near_exact_cold;
    double least_ns = need->ticks * learnt->period_ns + (is_cold ? LONGER_NS : 0);
    if ((double)(int64_t)delay_ns >= least_ns)
        return 1;
    int may_be_tried = delay_ns >= DELAY_COUNTED_AT_ONCE_NS || result != NULL ||
        !delay_has_length_of_counted(waiter, delay_ns);
    if (is_cold && may_be_tried && near_exact_has_turn_to_try(waiter, waiter->delay_called_ticks))
        return 1;
    need->ticks -= need->fade_ticks;
    return 0;
}

/*
 * How long it is from delay_called_ticks to its end; 0: it is not due. Not by a pointer: where the
 * address of something in its frame is known elsewhere, a caller is a call more, and so each such
 * delay returned by way of it, 2 to 3 ns later than a wait.
 */
int64_t delay_near_left_ticks(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                              struct timebase_wait_result *result);

/* It ends behind approach_from(): as near_exact() does. */
int delay_near(void *waiter, uint64_t end_ticks, uint64_t flags, void *result, void *frame);

/*
 * The same after a pause, without a result. All lines that one needs are loaded; if there is time enough
 * behind that it is due.
 */
int64_t delay_near_left_after_pause(struct waiter *waiter, uint64_t delay_ns, unsigned flags);
int delay_near_after_pause(void *waiter, uint64_t end_ticks, uint64_t flags, void *null, void *frame);

#endif
