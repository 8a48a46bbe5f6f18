/* SPDX-License-Identifier: MIT */
#include "near_afresh.h"

#include "timing/hurry/hurry.h"
#include "timing/waiter/asked.h"

#include "outcome.h"

void near_afresh_init(struct waiter *waiter)
{
    enum { FIRST_NS = 3000, FIRST_STEPPED_NS = 5500, STEP_NS = 10, OF = 8 };
    struct waiter_need *need = &waiter->learnt.afresh_need;
    double first_ns = waiter_has_vernier(waiter) ? FIRST_STEPPED_NS : FIRST_NS;
    hurry_set_need(waiter, need, first_ns, STEP_NS, OF);
    if (waiter->learnt.near_exact_ticks == 0)
        need->ticks = APPROACH_FARTHEST; /* there are none */
    waiter->afresh = (struct caution){0};
}

/*
 * Where the counter steps, rehearsals afresh say nothing of what comes behind a stamp, and what was
 * calibrated beside a neighbour was 9 ns wrong there. So it is only what would hurry else, as the stages'
 * rehearsals say more; and exact waits have to be clearly better, as on a core that was quiet then. And
 * what tells before it returns is none: one in ten was 30 to 400 ns late by code that no rehearsal executes.
 */
static int may_be_stepped(const struct hurried *asked)
{
    const struct waiter *waiter = asked->waiter;
    int steady = (asked->flags & TIMEBASE_WAIT_STEADY) != 0;
    return event_way_of(asked->function, asked->result) != EVENT_TELLS &&
        hurry_is_due(waiter, asked->entered_ticks, asked->ticks, asked->flags) &&
        choice_is_exact(&waiter->choice, steady, 1);
}

static int is_better(const struct hurried *asked)
{
    const struct waiter *waiter = asked->waiter;
    return (!waiter_has_vernier(waiter) || may_be_stepped(asked)) &&
        waiter_prefers_exact(waiter, asked->flags);
}

/* On another CPU the stages calibrate anew. */
APPROACH_WAY int near_afresh_is_possible(const struct hurried *asked)
{
    enum { MAY_HAVE = TIMEBASE_WAIT_STEADY | TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE };
    struct waiter *waiter = asked->waiter;
    if ((asked->flags & ~(unsigned)MAY_HAVE) != 0 || waiter->is_calibrating ||
        evidence_cpu(&waiter->evidence) != waiter->cpu)
        return 0;
    return !caution_takes_turn(&waiter->afresh) && is_better(asked);
}

/*
 * How long before its target it should have been asked for: so that six rehearsals had been over, two
 * that fetch, and some that agree how long a cycle is; where the counter steps three, as they only see
 * whether polls agree. One that was late leaves the next ones to the loop; and one whose polls contradicted
 * each other, as beside a neighbour they are late more often, by what it drives out.
 */
APPROACH_WAY void near_afresh_learn(struct waiter *waiter)
{
    enum { ENOUGH_FINE = 6, ENOUGH_STEPPED = 3, LEAST_TURNS = 2, MOST_TURNS = 64 };
    const int enough = waiter_has_vernier(waiter) ? ENOUGH_STEPPED : ENOUGH_FINE;
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct wait *last = &waiter->last;
    double took = (double)(int64_t)(last->near_rehearsed_ticks - last->entered_ticks);
    double more = (enough - last->near_rehearsals) * learnt->near_rehearsal_ticks;
    if (last->disturbance == 0)
        hurry_learn_near(&waiter->learnt.afresh_need, took + more + learnt->near_rehearsed.ticks);
    if (outcome_is_late(last) || waiter_ended_by_loop(waiter))
        caution_went_wrong(&waiter->afresh, LEAST_TURNS, MOST_TURNS);
    else
        caution_went_well(&waiter->afresh);
}
