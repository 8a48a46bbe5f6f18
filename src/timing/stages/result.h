/* SPDX-License-Identifier: MIT */
/*
 * result: what a wait tells its caller. A wait that returns with a result returns at the target, so
 * what is done between the event and the return makes it less steady: each branch that is predicted
 * wrongly is 5 ns. So the result is written before the event, as it is expected to be. Behind the
 * event one branch asks whether it is so, and the event's time is added; what was seen is counted
 * and learnt from later (outcome.h).
 */
#ifndef STAGES_RESULT_H
#define STAGES_RESULT_H

#include "outcome.h"

/* From the stamp of a loop to the event; of the last wait, if it was not exact. */
static inline double result_rest_of_loop(const struct waiter *waiter, enum event_way way)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    enum event_way loop_way = waiter_loop_way(waiter);
    if (waiter->approach.never_early)
        return learnt->never_early_rest_ticks[way];
    if (!waiter->last.ended_by_loop)
        return learnt->plain_stamp_ticks[loop_way] + learnt->exit_ticks[0][way];
    double exit = loop_way == EVENT_CALLED ? learnt->exit_ticks[1][way] : 0;
    return learnt->loop_stamp_ticks[loop_way] + exit;
}

/* Before the approach, when the wait's way is known. */
void result_expect(const struct wait *wait);

/* Behind the event, of the waiter that begins with this approach. */
void result_tell(struct approach *approach);

/* The same before it, only to fetch the code: what it writes is written again. */
int result_fetch(struct waiter *waiter);

/* The end of a wait behind approach_from(): its way, and then the telling, which takes always as long. */
int result_end(struct approach *approach);

/* The same of one that must not be early: as soon as may be. */
int result_end_never_early(struct approach *approach);

/*
 * The approach of the last wait, which has been set up, and what the wait returns; or
 * APPROACH_ENDS_BEHIND. A function that waits by its own waiter has overwritten what was known.
 */
static inline int result_of_approach(struct waiter *waiter, int exact)
{
    uint64_t number = waiter->uses;
    waiter->is_in_event = waiter->last.function != NULL;
    if (waiter_approach(waiter, exact) == APPROACH_ENDS_BEHIND)
        return APPROACH_ENDS_BEHIND;
    waiter->is_in_event = 0;
    if (waiter->uses != number)
        return TIMEBASE_E_INVALID;
    if (waiter->last.result != NULL)
        result_tell(&waiter->approach);
    return outcome_is_late(&waiter->last);
}

/* Such a way: the loop. */
int result_poll(struct approach *approach);

#endif
