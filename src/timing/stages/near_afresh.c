/* SPDX-License-Identifier: MIT */
#include "near_afresh.h"

#include "outcome.h"

void near_afresh_init(struct waiter *waiter)
{
    enum { FIRST_NS = 3000, STEP_NS = 10, OF = 8 };
    struct waiter_need *need = &waiter->learnt.afresh_need;
    hurry_set_need(waiter, need, FIRST_NS, STEP_NS, OF);
    if (waiter_has_vernier(waiter) || waiter->learnt.near_exact_ticks == 0)
        need->ticks = APPROACH_FARTHEST; /* there are none */
    waiter->afresh = (struct caution){0};
}

/* On another CPU the stages calibrate anew. */
APPROACH_WAY int near_afresh_is_possible(const struct hurried *asked)
{
    enum { MAY_HAVE = TIMEBASE_WAIT_STEADY | TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE };
    struct waiter *waiter = asked->waiter;
    if ((asked->flags & ~(unsigned)MAY_HAVE) != 0 || waiter->is_calibrating ||
        evidence_cpu(&waiter->evidence) != waiter->cpu)
        return 0;
    return !caution_takes_turn(&waiter->afresh) && waiter_prefers_exact(waiter, asked->flags);
}

/*
 * How long before its target it should have been asked for: so that six rehearsals had been over, two
 * that fetch, and some that agree how long a cycle is. One that was late leaves the next ones to the loop.
 */
void near_afresh_learn(struct waiter *waiter)
{
    enum { ENOUGH = 6, LEAST_TURNS = 2, MOST_TURNS = 64 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct wait *last = &waiter->last;
    double took = (double)(int64_t)(last->near_rehearsed_ticks - last->entered_ticks);
    double more = (ENOUGH - last->near_rehearsals) * learnt->near_rehearsal_ticks;
    if (last->disturbance == 0)
        hurry_learn_near(&waiter->learnt.afresh_need, took + more + learnt->near_rehearsed.ticks);
    if (outcome_is_late(last))
        caution_went_wrong(&waiter->afresh, LEAST_TURNS, MOST_TURNS);
    else
        caution_went_well(&waiter->afresh);
}
