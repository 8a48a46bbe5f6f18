/* SPDX-License-Identifier: MIT */
#include "near_exact.h"

#include <stddef.h>

#include "timing/hurry/hurry.h"
#include "timing/learn/in_code.h"
#include "timing/waiter/asked.h"
#include "timing/waiter/slower.h"

#include "event.h"
#include "foresight.h"
#include "near_code.h"
#include "near_rehearsal.h"
#include "prepare.h"
#include "result.h"

/* ---- when ---------------------------------------------------------------------------------- */

void near_exact_init(struct waiter *waiter)
{
    enum { WAY_IN_NS = 100, MORE_NS = 300, STEP_NS = 1, COLD_STEP_NS = 5 };
    enum { OF = 20, OF_COLD = 20, OF_COLD_STEPPED = 100, OF_LEARNING = 100 };
    struct waiter_learnt *learnt = &waiter->learnt;
    double first_ns = waiter_tail_ticks(waiter) * learnt->period_ns + WAY_IN_NS;
    int are_there = learnt->exact && waiter_ends_behind(waiter), steps = waiter_has_vernier(waiter);
    int64_t most = steps ? learnt->no_rehearsal_ticks : learnt->cold_near_ticks;
    learnt->near_exact_ticks = are_there ? most : 0;
    learnt->near_delay_ticks = steps ? 0 : learnt->near_exact_ticks;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        hurry_set_need(waiter, &learnt->near_exact_needs[way], first_ns, STEP_NS, OF);
    near_loads_init(waiter, first_ns, are_there && !steps);
    first_ns += MORE_NS;
    hurry_set_need(waiter, &learnt->near_exact_learning, first_ns, STEP_NS, OF_LEARNING);
    int of_cold = steps ? OF_COLD_STEPPED : OF_COLD;
    hurry_set_need(waiter, &learnt->near_exact_cold, first_ns, COLD_STEP_NS, of_cold);
    near_rehearsal_init(waiter);
    near_afresh_init(waiter);
}

APPROACH_WAY int near_exact_is_for_loop(const struct hurried *asked, int64_t left)
{
    const struct waiter *waiter = asked->waiter;
    return waiter_has_vernier(waiter) && left < waiter->learnt.cold_near_ticks &&
        hurry_is_due(waiter, asked->entered_ticks, asked->ticks, asked->flags);
}

/*
 * One that is too near to rehearse would teach nothing there. Where the counter steps, all are: those
 * farther ahead take the stages anyway.
 */
APPROACH_WAY int near_exact_is_for_stages(struct waiter *waiter, int64_t left)
{
    enum { TEACHES = 8 };
    return !waiter_has_vernier(waiter) && waiter->uses % TEACHES == 0 &&
        hurry_is_enough(&waiter->learnt.lead_need, (double)left);
}

/*
 * Of the last such trial: has another exact wait come behind it? If the caller's own work drives the
 * code out each time, trials are farther apart, up to 64 times. It is judged once.
 */
static void judge_trial(struct waiter *waiter)
{
    enum { LEAST_TURNS = 1, MOST_TURNS = 64 };
    if (waiter->tried_ticks == 0)
        return;
    if (waiter->exact_ticks == waiter->tried_ticks)
        caution_went_wrong(&waiter->tried_cold, LEAST_TURNS, MOST_TURNS);
    else
        waiter->tried_cold = (struct caution){0};
    waiter->tried_ticks = 0;
}

/*
 * Where all targets are too near for code that is not, each is left to the loop, and that brings no
 * exact wait's code near. So one in 256, by a fine counter in eight, is tried as if it were. It is
 * late; those behind it are not.
 */
static int is_trial(const struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    if (!near_exact_has_turn_to_try(waiter, asked->entered_ticks) ||
        asked->flags & TIMEBASE_WAIT_STEADY || waiter_is_exact_hot(waiter, asked->ticks))
        return 0;
    judge_trial(waiter);
    return !caution_takes_turn(&waiter->tried_cold);
}

static int has_time(const struct hurried *asked, int64_t left, int as_if_hot)
{
    struct waiter *waiter = asked->waiter;
    enum event_way way = event_way_of(asked->function, asked->result);
    struct waiter_need *need = as_if_hot ? &waiter->learnt.near_exact_needs[way]
                                         : near_exact_need(waiter, asked->ticks, way);
    if ((double)left < waiter_tail_ticks(waiter))
        return 0; /* it never is enough */
    return hurry_is_enough(need, (double)left);
}

/*
 * What is known against exact waits fades, as of those by the loop nothing is seen. Where the counter
 * steps, that is left to those that take the stages, and they see some of the neighbour.
 */
static int is_better(struct waiter *waiter, unsigned flags)
{
    if (waiter_prefers_exact(waiter, flags))
        return 1;
    if (!waiter_has_vernier(waiter))
        waiter_fade_choice(waiter, flags);
    return 0;
}

/* Several polls have to agree where the counter steps, and by code that is not near few do. */
static int may_be_cold(const struct hurried *asked)
{
    const struct waiter *waiter = asked->waiter;
    return !waiter_has_vernier(waiter) || waiter_may_be_exact(waiter, asked->ticks);
}

/* ---- the wait before it -------------------------------------------------------------------- */

static struct waiter_need *need_of_last(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    const struct wait *last = &waiter->last;
    return last->near_rehearsals > 0 ? &learnt->near_rehearsed
        : last->is_cold              ? &learnt->near_exact_cold
        : last->has_learnt           ? &learnt->near_exact_learning
                                     : &learnt->near_exact_needs[wait_event_way(last)];
}

/* How long before its target it should have begun, by when its first poll was. */
static void learn_need(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    const struct wait *last = &waiter->last;
    uint64_t from = last->near_rehearsals > 0 ? last->near_rehearsed_ticks : last->entered_ticks;
    double way_in = (double)(int64_t)(last->ticks - from) + a->poll_ticks[0];
    if (last->is_afresh)
        near_afresh_learn(waiter);
    int is_typical = !last->is_afresh || last->near_rehearsals > 0;
    if (last->is_near_exact && is_typical && a->polls <= APPROACH_VERNIER)
        hurry_learn_near(need_of_last(waiter), way_in + waiter_tail_ticks(waiter));
}

/* What is nearer has two polls or three where the counter steps, and learning would take one of these. */
static inline double kept_for_polls(const struct waiter *waiter)
{
    enum { FEW = 4 };
    return waiter_has_vernier(waiter) ? in_code(FEW) * waiter->period.value : 0;
}

/* By code that is not near it would take too long. */
static int may_learn(const struct hurried *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    return waiter_is_exact_hot(waiter, asked->ticks) &&
        hurry_is_enough(&waiter->learnt.near_exact_learning,
                        (double)left - kept_for_polls(waiter));
}

/*
 * Where all targets have been too near for that, one in 128 learns, and is left to the loop. It is late
 * if it is nearer than that takes; but nothing else would follow the core's clock.
 */
static int learns_instead(const struct hurried *asked)
{
    enum { MANY = 128 };
    struct waiter *waiter = asked->waiter;
    int is_open = waiter->unsettled != NOTHING_LEFT && waiter->last.is_near_exact;
    if (!is_open || waiter->uses - waiter->learning_uses < MANY)
        return 0;
    return outcome_settle_open(waiter);
}

/* Returns whether it was learnt from. */
static int settle_last(const struct hurried *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    if (waiter->unsettled == NOTHING_LEFT)
        return 0;
    learn_need(waiter);
    if (may_learn(asked, left))
        return outcome_settle_open(waiter);
    outcome_count_open(waiter);
    return 0;
}

/* ---- the wait ------------------------------------------------------------------------------ */

APPROACH_WAY int near_exact_is_possible(const struct hurried *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    if (!hurried_is_simple(asked))
        return 0;
    int has_enough = may_be_cold(asked) && has_time(asked, left, 0);
    if (!has_enough && !(is_trial(asked) && has_time(asked, left, 1)))
        return 0;
    if (!is_better(waiter, asked->flags) || learns_instead(asked))
        return 0;
    if (!has_enough)
        waiter->tried_ticks = asked->ticks;
    return 1;
}

/* Of a struct wait what is looked at when it is counted. To fill all of it takes 15 ns. */
static void begin(const struct hurried *asked, int has_learnt, int is_cold)
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
    last->is_cold = is_cold;
    last->ended_by_loop = 0;
    last->is_at_once = last->is_unsteady = last->was_held_up = last->prepared = 0;
    last->near_rehearsals = 0;
    last->is_afresh = asked->is_afresh;
    last->function = asked->function;
    last->argument = asked->argument;
    last->result = asked->result;
    last->frame = asked->frame;
    last->sleep = (struct sleep_wait){0};
    last->disturbance = 0;
    last->cpu = evidence_cpu(&waiter->evidence);
    waiter->found = 0;
    waiter->uses++;
    waiter->unsettled = LEFT_TO_COUNT;
}

/* Of such a wait, where its approach begins. */
static double left_ticks(const struct hurried *asked, enum event_way way)
{
    struct waiter *waiter = asked->waiter;
    double begins = near_exact_need(waiter, asked->ticks, way)->ticks - waiter_coarse_ticks(waiter);
    return (double)(int64_t)(asked->ticks - asked->entered_ticks) - begins;
}

/* Where several polls are asked they may contradict each other; one that is enough cannot. */
static void aim_end(const struct hurried *asked, enum event_way way)
{
    struct waiter *waiter = asked->waiter;
    struct approach *a = &waiter->approach;
    if (waiter_has_vernier(waiter)) {
        waiter_aim_polls(waiter);
        a->never_early = 0;
        waiter->last.left_ticks = left_ticks(asked, way);
        wait_aim_loop(&waiter->last, asked->ticks, asked->fraction);
        return;
    }
    a->even_least = INT32_MIN; /* it ends by a run */
    waiter->even_before = a->even_polls;
}

/* What else the approach looks at is as the last exact one, or a calibration, has left it. */
static void aim(const struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    struct approach *a = &waiter->approach;
    enum event_way way = wait_event_way(&waiter->last);
    a->target_ticks = asked->ticks;
    waiter_aim_run(waiter, asked->fraction - waiter_exit_ticks(waiter, 1, way));
    if (way == EVENT_CALLED)
        event_set_call(a, asked->function, asked->argument);
    else
        event_set_return(waiter, way);
    aim_end(asked, way);
    a->frame = asked->frame;
}

/* Where the counter steps, only behind a pause: else its polls are as near as those before it. */
static inline int rehearses(const struct hurried *asked)
{
    return asked->is_afresh || !waiter_has_vernier(asked->waiter);
}

/*
 * By code that has gone cold: all of it is asked for at once, where each line of it by itself would come
 * 30 ns late from the third level, or 0.1 us from memory.
 */
static void fetch_code(const struct hurried *asked)
{
    enum event_way way = event_way_of(asked->function, asked->result);
    visit_code(asked->waiter, way, approach_fetch_code);
    if (rehearses(asked))
        visit_rehearsals(asked->waiter, way, approach_fetch_code);
}

/* Its function is called in advance. One that waits by its own waiter overwrites what is known of this. */
static int function_uses_waiter(struct waiter *waiter)
{
    uint64_t number = waiter->uses;
    prepare_function(&waiter->last);
    return waiter->uses != number;
}

APPROACH_WAY int near_exact(const struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    int is_cold = !waiter_is_exact_hot(waiter, asked->ticks);
    if (is_cold && !asked->is_loaded)
        fetch_code(asked);
    int has_learnt = settle_last(asked, (int64_t)(asked->ticks - asked->entered_ticks));
    begin(asked, has_learnt, is_cold);
    if (asked->flags & TIMEBASE_WAIT_REHEARSE && function_uses_waiter(waiter))
        return TIMEBASE_E_INVALID;
    if (asked->is_loaded) /* there may be no time for a rehearsal, which would */
        foresight_far_event(&waiter->last);
    if (rehearses(asked))
        near_rehearse(waiter);
    result_expect(&waiter->last);
    aim(asked);
    evidence_begin(&waiter->evidence, &waiter->approach);
    return result_of_approach(waiter, 1);
}
