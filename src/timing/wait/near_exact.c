/* SPDX-License-Identifier: MIT */
#include "near_exact.h"

#include <stddef.h>

#include "event.h"
#include "outcome.h"

/* ---- when ---------------------------------------------------------------------------------- */

/* From the last poll to the event at least. */
static double tail_ticks(const struct waiter *waiter)
{
    return waiter->learnt.tail.cycles * waiter->tempo.cycle_ticks;
}

void near_exact_init(struct waiter *waiter)
{
    enum { FIRST_NS = 100, TURNS = 16, OF = 16 };
    double ns_ticks = 1 / waiter->learnt.period_ns;
    int are_there = waiter->learnt.exact && !waiter_has_vernier(waiter) && waiter_ends_behind(waiter);
    waiter->learnt.near_exact_ticks = are_there ? waiter->learnt.no_rehearsal_ticks : 0;
    waiter->learnt.near_exact_need = (struct waiter_need){
        .ticks = tail_ticks(waiter) + FIRST_NS * ns_ticks,
        .step_ticks = ns_ticks,
        .fade_ticks = ns_ticks / TURNS,
        .of = OF,
    };
}

/* Is it asked for nothing that only the stages do? */
static int is_simple(const struct hurried *asked)
{
    unsigned others = asked->flags & ~(unsigned)TIMEBASE_WAIT_STEADY;
    return asked->frame != NULL && others == 0 && !asked->waiter->is_calibrating;
}

/* One that is too near for the stages as well would teach nothing there. */
static int is_for_stages(const struct waiter *waiter, int64_t left)
{
    enum { TEACHES = 8 };
    return waiter->uses % TEACHES == 0 && (double)left > waiter->learnt.learning_need.ticks;
}

static double cycles_ticks(const struct waiter *waiter, int cycles)
{
    return cycles * waiter->tempo.cycle_ticks;
}

/* Behind waits by the loop most of its code is near, but not all. What is too near is tried again. */
static int has_time(struct waiter *waiter, int is_hot, int64_t left)
{
    enum { COLD_CYCLES = 300 };
    struct waiter_need *need = &waiter->learnt.near_exact_need;
    if ((double)left >= need->ticks)
        return is_hot || (double)left >= need->ticks + cycles_ticks(waiter, COLD_CYCLES);
    need->ticks -= left > 0 ? need->fade_ticks : 0;
    return 0;
}

/* What is known against exact waits fades, as of those by the loop nothing is seen. */
static int is_better(struct waiter *waiter, unsigned flags)
{
    if (waiter_prefers_exact(waiter, flags))
        return 1;
    choice_fade(&waiter->choice);
    return 0;
}

APPROACH_WAY int near_exact_is_possible(const struct hurried *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    return is_simple(asked) && !is_for_stages(waiter, left) &&
        has_time(waiter, waiter_is_exact_hot(waiter, asked->ticks), left) &&
        is_better(waiter, asked->flags);
}

/* ---- the wait before it -------------------------------------------------------------------- */

/* How long before its target it should have been asked for, by when its first poll was. */
static void learn_need(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    const struct wait *last = &waiter->last;
    double way_in = (double)(int64_t)(last->ticks - last->entered_ticks) + a->poll_ticks[0];
    int is_first_known = a->polls <= APPROACH_VERNIER;
    if (last->is_near_exact && is_first_known && !last->has_learnt && !last->is_cold)
        hurry_learn_near(&waiter->learnt.near_exact_need, way_in + tail_ticks(waiter));
}

/* Returns whether it was learnt from. */
static int settle_last(struct waiter *waiter, int64_t left)
{
    enum { LEARNING_CYCLES = 600 };
    double needed = waiter->learnt.near_exact_need.ticks + cycles_ticks(waiter, LEARNING_CYCLES);
    if (waiter->unsettled != LEFT_TO_COUNT)
        return 0;
    learn_need(waiter);
    if ((double)left > needed)
        return outcome_settle_open(waiter);
    outcome_count_open(waiter);
    return 0;
}

/* ---- the wait ------------------------------------------------------------------------------ */

/* Of a struct wait what is looked at when it is counted. To fill all of it takes 15 ns. */
static void begin(const struct hurried *asked, int has_learnt)
{
    struct waiter *waiter = asked->waiter;
    struct wait *last = &waiter->last;
    last->waiter = waiter;
    last->ticks_at = NULL;
    last->ticks = asked->ticks;
    last->fraction = asked->fraction;
    last->flags = asked->flags;
    last->entered_ticks = asked->entered_ticks;
    last->exact = 1;
    last->is_near_exact = 1;
    last->has_learnt = has_learnt;
    last->is_cold = !waiter_is_exact_hot(waiter, asked->ticks);
    last->ended_by_loop = 0;
    last->is_at_once = last->is_unsteady = last->prepared = 0;
    last->function = NULL;
    last->result = NULL;
    last->frame = asked->frame;
    last->disturbance = 0;
    last->cpu = evidence_cpu(&waiter->evidence);
    waiter->found = 0;
    waiter->uses++;
    waiter->unsettled = LEFT_TO_COUNT;
}

/* What else the approach looks at is as the last exact one, or a calibration, has left it. */
static void aim(const struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    struct approach *a = &waiter->approach;
    a->target_ticks = asked->ticks;
    waiter_aim_run(waiter, asked->fraction - waiter->learnt.exit_ticks[1][EVENT_RETURNS]);
    event_set_return(waiter, EVENT_RETURNS);
    a->even_least = INT32_MIN; /* it ends by a run */
    waiter->even_before = a->even_polls;
    waiter->exact_ticks = asked->ticks;
    a->frame = asked->frame;
}

APPROACH_WAY int near_exact(const struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    int has_learnt = settle_last(waiter, (int64_t)(asked->ticks - asked->entered_ticks));
    begin(asked, has_learnt);
    aim(asked);
    evidence_begin(&waiter->evidence, &waiter->approach);
    approach_end_behind(&waiter->approach, waiter->ways.exact);
    return APPROACH_ENDS_BEHIND;
}
