/* SPDX-License-Identifier: MIT */
#include "stages.h"

#include <stddef.h>

#include "timing/hurry/hurry.h"
#include "timing/hurry/hurry_ways.h"
#include "timing/sleep/relax.h"
#include "timing/waiter/asked.h"
#include "timing/waiter/slower.h"

#include "event.h"
#include "foresight.h"
#include "near_exact.h"
#include "outcome.h"
#include "prepare.h"
#include "result.h"

enum { MAINTENANCE_NS = 200000 }; /* the slow path of a reading, with room */

/* It is not known yet whether the approach will be exact or plain: the longer one counts. */
static int64_t lead_ticks(const struct wait *wait)
{
    const struct waiter_learnt *learnt = &wait->waiter->learnt;
    enum event_way way = wait_event_way(wait);
    double exact = waiter_coarse_ticks(wait->waiter) + learnt->exit_ticks[1][way];
    double plain = learnt->plain_bias_ticks + learnt->exit_ticks[0][way];
    int64_t lead = (int64_t)(exact > plain ? exact : plain) + 2;
    return lead + (int64_t)learnt->lead_ticks + waiter_ticks_of_ns(wait->waiter, WAITER_PREPARE_NS);
}

/*
 * After most wake-ups enough of the margin is left for all rehearsals. After the latest wake-ups
 * there is time for the first few only. If the lead had time for all, each wait would sleep less
 * and poll longer.
 */
static int64_t sleep_lead_ns(const struct wait *wait)
{
    enum { FEW_NS = 3000 };
    int64_t lead_ns = (int64_t)((double)lead_ticks(wait) * wait->waiter->learnt.period_ns);
    return lead_ns - WAITER_PREPARE_NS + FEW_NS;
}

static void sleep_for(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    int64_t lead_ns = sleep_lead_ns(wait);
    int64_t target_ns;
    do {
        wait_convert(wait);
        target_ns = timebase_mono_at_ns(waiter->clock, wait->ticks);
    } while (sleep_towards(&wait->sleep, &waiter->sleeper, target_ns, lead_ns) == SLEEP_AGAIN);
}

/* Reads the clock and so maintains it, for there may be no other reader. Shortly before the end it
 * does not. */
static void keep_clock(const struct wait *wait, int64_t spare_ticks)
{
    if (wait->ticks_at != NULL && spare_ticks > waiter_ticks_of_ns(wait->waiter, MAINTENANCE_NS))
        timebase_mono_ns(wait->waiter->clock);
}

/* An interrupt or the hypervisor takes as long at least. A turn of the loop takes 0.1 us. */
static void note_gap(struct wait *wait, enum relax_means means, int64_t gap_ticks)
{
    enum { HELD_UP_NS = 400 };
    if (means == RELAX_PAUSE && gap_ticks > waiter_ticks_of_ns(wait->waiter, HELD_UP_NS))
        wait->was_held_up = 1;
}

static void poll_for(struct wait *wait)
{
    enum relax_means means = RELAX_PAUSE;
    int64_t lead = lead_ticks(wait), left, before = INT64_MIN / 2;
    if (wait->flags & TIMEBASE_WAIT_SAVE_POWER)
        means = relax_means();
    wait_convert(wait);
    for (; (left = wait_left_ticks(wait)) > lead; wait_convert(wait)) {
        note_gap(wait, means, before - left);
        before = left;
        keep_clock(wait, left - lead);
        relax(means, wait->ticks - (uint64_t)lead, wait->waiter->learnt.period_ns);
    }
    note_gap(wait, means, before - left);
}

/* Where to aim relative to the target. */
static double aim_of(const struct wait *wait)
{
    enum event_way way = wait_event_way(wait);
    double later = wait->exact ? wait_unpredicted_ticks(wait, way) : 0;
    return wait->fraction - waiter_exit_ticks(wait->waiter, wait->exact, way) - later;
}

/* An exact wait needs so much time, with what comes before its first poll: has_time_for_exact(). */
static double needed_ticks(const struct waiter *waiter)
{
    enum { BEFORE_CYCLES = 300 };
    return waiter_coarse_ticks(waiter) + BEFORE_CYCLES * waiter->tempo.cycle_ticks;
}

/* Finds out how much is left. */
static int has_time_for_exact(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    double needed = needed_ticks(waiter);
    wait->left_ticks = (double)wait_left_ticks(wait) + wait->aim;
    return wait->left_ticks > needed;
}

static void find_way(struct wait *wait)
{
    wait->exact = wait->waiter->learnt.exact && !(wait->flags & WAITER_LOOP_FLAGS);
    wait->aim = aim_of(wait);
    if (!wait->exact)
        return;
    int possible = has_time_for_exact(wait);
    wait->exact = possible && wait_is_exact_better(wait);
    wait->is_unsteady = possible && !wait->exact;
    wait->is_cold = wait->exact && !waiter_is_exact_hot(wait->waiter, wait->ticks);
    if (!wait->exact)
        wait->aim = aim_of(wait);
}

static void set_up(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    struct approach *a = &waiter->approach;
    find_way(wait);
    waiter_aim(waiter, wait->ticks, wait->aim, wait->exact);
    event_set(wait);
    if (a->never_early)
        a->leave_ticks = wait->ticks;
    result_expect(wait);
    if (wait->exact)
        wait_aim_loop(wait, wait->ticks, wait->fraction);
}

static struct waiter_need *need_of(const struct wait *wait)
{
    struct waiter_learnt *learnt = &wait->waiter->learnt;
    return wait->is_at_once ? &learnt->near_needs[1]
        : wait->has_learnt  ? &learnt->learning_need
                            : &learnt->near_needs[0];
}

/*
 * A near wait has no rehearsals. It foresees whatever it has time for beside what an exact one
 * needs. That is not a part of what it needed: nearer ones do without.
 */
static void foresee_near(const struct wait *wait)
{
    enum { SET_UP_CYCLES = 80, EVENT_CYCLES = 180, RUNS_CYCLES = 500 };
    struct waiter *waiter = wait->waiter;
    double cycle = waiter->tempo.cycle_ticks;
    int may_be_exact = waiter->learnt.exact && !(wait->flags & WAITER_LOOP_FLAGS);
    double needed = needed_ticks(waiter) + SET_UP_CYCLES * cycle;
    double spare = (double)wait_left_ticks(wait) - needed;
    if (may_be_exact)
        hurry_learn_near(need_of(wait), (double)wait_asked_before_ticks(wait) - spare);
    if (spare > EVENT_CYCLES * cycle)
        foresight_event(wait);
    if (spare > (EVENT_CYCLES + RUNS_CYCLES) * cycle && may_be_exact)
        foresight_runs(waiter, wait_event_way(wait));
}

static int approach(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    if (wait_is_near(wait))
        foresee_near(wait);
    set_up(wait);
    waiter_mark(waiter, wait->exact);
    return result_of_approach(waiter, wait->exact);
}

/*
 * If the wait before is not settled yet, it is judged first; and learnt from, if there is time.
 * Returns 1 if that was so.
 */
static int settle_last(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    if (asked->is_at_once && wait_is_near(asked)) {
        outcome_count_open(waiter);
        return 0;
    }
    if ((double)wait_asked_before_ticks(asked) < waiter->learnt.learning_need.ticks)
        return outcome_settle_some(waiter);
    return outcome_settle_open(waiter);
}

static struct wait *begin(struct wait asked)
{
    struct waiter *waiter = asked.waiter;
    asked.is_at_once = !waiter_is_hot(waiter, asked.entered_ticks);
    asked.has_learnt = settle_last(&asked);
    waiter->last = asked;
    waiter->last.cpu = evidence_cpu(&waiter->evidence);
    waiter->found = 0;
    waiter->uses++;
    return &waiter->last;
}

/* What comes before the approach, if there is the time for it. */
static void lead_up(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    int is_cold = hurry_after_pause(waiter, wait->entered_ticks);
    if (wait->flags & TIMEBASE_WAIT_SLEEP)
        sleep_for(wait);
    evidence_begin(&waiter->evidence, &waiter->approach);
    uint64_t began = timebase_ticks();
    poll_for(wait);
    wait->disturbance = evidence_now(&waiter->evidence, &waiter->approach);
    set_up(wait); /* once in vain, so that its code is at hand when there is no time to fetch it */
    if (wait_event_way(wait) == EVENT_TELLS &&
        wait_left_ticks(wait) > waiter_ticks_of_ns(waiter, WAITER_PREPARE_NS / 2))
        result_fetch(waiter);
    wait->prepared = prepare(*wait);
    wait->is_at_once &= !wait->prepared;
    if (is_cold && !(wait->flags & TIMEBASE_WAIT_SLEEP))
        hurry_learn(waiter, (int64_t)(began - wait->entered_ticks));
    wait->disturbance |= waiter->found;
    wait->was_held_up |= wait->disturbance != 0 || (wait->flags & TIMEBASE_WAIT_SLEEP);
}

static int run(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    struct wait *wait = begin(*asked);
    uint64_t number = waiter->uses;
    if (!wait_is_near(wait) || wait->flags & TIMEBASE_WAIT_REHEARSE)
        lead_up(wait);
    /* A function that waits by its own waiter has overwritten what was known of this wait. */
    if (waiter->uses != number)
        return TIMEBASE_E_INVALID;
    waiter->unsettled = LEFT_TO_COUNT;
    return approach(wait);
}

/* A wait for a time, which was converted behind its call. One for a tick has been asked there. */
static int is_near_exact(const struct wait *asked, struct hurried *near)
{
    if (asked->ticks_at == NULL)
        return 0;
    *near = hurried_of(asked);
    return near_exact_is_due(near);
}

APPROACH_WAY int stages_run(const struct wait *asked)
{
    struct hurried near;
    if (is_near_exact(asked, &near))
        return near_exact(&near);
    int is_due = hurry_is_due(asked->waiter, asked->entered_ticks, asked->ticks, asked->flags);
    return is_due ? hurry_run(asked) : run(asked);
}
