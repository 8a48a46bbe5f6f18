/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <stddef.h>

#include "timing/learn/within.h"
#include "timing/waiter/asked.h"

enum {
    THROTTLED_NS = 10000000,
    BAD_TICKS = 8, /* besides a step: what cold code takes is far more */
};

/* The core was slower, but the readings of the approach are right. */
#define HARMLESS (uint32_t)(TIMEBASE_DISTURBED_UNEVEN | TIMEBASE_DISTURBED_SHARED)

/* A real-time thread that stood still for so long had used up its share of the CPU. */
static int was_throttled(const struct waiter *waiter, uint32_t found)
{
    int64_t limit = waiter_ticks_of_ns(waiter, THROTTLED_NS);
    if (!(found & TIMEBASE_DISTURBED_PREEMPTED) || waiter->approach.gap_ticks < limit)
        return 0;
    return evidence_is_realtime();
}

APPROACH_WAY static uint32_t judge(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    const struct approach *a = &waiter->approach;
    uint32_t found = evidence_judge(&waiter->evidence, a, outcome_gap_limit(waiter));
    if (waiter->evidence.rseq_mark != 0 && (int)a->rseq_cpu != wait->cpu)
        found |= TIMEBASE_DISTURBED_MIGRATED;
    if (wait->exact && outcome_is_uneven(waiter))
        found |= TIMEBASE_DISTURBED_UNEVEN;
    if (wait->is_unsteady)
        found |= TIMEBASE_DISTURBED_SHARED;
    if (was_throttled(waiter, found))
        found |= TIMEBASE_DISTURBED_THROTTLED;
    return found;
}

static double size_of(double ticks)
{
    return ticks < 0 ? -ticks : ticks;
}

APPROACH_WAY static void went_wrong(struct caution *caution)
{
    enum { LEAST_TURNS = 8, MOST_TURNS = 512 };
    caution_went_wrong(caution, LEAST_TURNS, MOST_TURNS);
}

/* The last one was tried by code that was known to be far; by a counter with fine steps. */
static inline int was_tried(const struct waiter *waiter)
{
    const struct wait *last = &waiter->last;
    return !waiter_has_vernier(waiter) && last->is_near_exact && last->ticks == waiter->tried_ticks;
}

/* One that was bad by code that was near is no evidence against code that is not. */
static void note_cold(struct waiter *waiter, int is_bad)
{
    if (!is_bad)
        caution_went_well(&waiter->cold);
    else if (waiter->last.is_cold && !was_tried(waiter))
        went_wrong(&waiter->cold);
}

/* What is late, though it was asked for in time and nothing disturbed it, had its code far away. */
APPROACH_WAY static void note_far(struct waiter *waiter, int late, uint32_t found)
{
    enum { IN_TIME_NS = 200 };
    const struct wait *wait = &waiter->last;
    int64_t before = wait_asked_before_ticks(wait);
    if ((found & ~HARMLESS) != 0 || before <= waiter_ticks_of_ns(waiter, IN_TIME_NS))
        return;
    if (late && wait->is_cold && !was_tried(waiter))
        went_wrong(&waiter->cold);
    if (late && wait->is_at_once)
        went_wrong(&waiter->far_stages);
    else if (wait->is_at_once)
        caution_went_well(&waiter->far_stages);
}

/*
 * A near wait that was tried by code that is far is late by what costs more than the next ones gain. By
 * a counter that steps nothing else brings it near.
 */
static void note_trial(struct waiter *waiter)
{
    enum { MOST_NS = 100, LEAST_TURNS = 1, MOST_TURNS = 64 };
    double late = waiter->approach.overdue_cycles * waiter->tempo.cycle_ticks;
    if (!was_tried(waiter) || late < (double)waiter_ticks_of_ns(waiter, MOST_NS))
        return;
    caution_went_wrong(&waiter->tried_cold, LEAST_TURNS, MOST_TURNS);
    waiter->tried_ticks = 0;
}

/*
 * Rehearsals see their errors better where the counter steps, and one that cold code made late is a
 * matter of `cold` alone there: it says nothing of others. By a fine counter waits see theirs as well, and
 * by code that a neighbour has had the time to drive out.
 */
static int tells_how_good(const struct waiter *waiter, int late)
{
    if (!waiter_has_vernier(waiter))
        return 1;
    return !waiter_has_rehearsed(waiter, waiter->approach.event_ticks) &&
        !(late && waiter->last.is_cold);
}

/*
 * Learns what a wait shows by itself. The stamp is its only reading of the event: the wait's error
 * is by how much the stamp contradicts what was believed, or by how much the readings of the sample
 * contradict each other. On a stepped counter the step hides smaller errors, in the loop as in
 * exact waits; so the two can be compared by them.
 */
static void learn_exact(struct waiter *waiter, int late)
{
    const struct approach *a = &waiter->approach;
    double half = waiter_half_span(waiter), cycles = waiter_cycles(waiter);
    double event = waiter_middle(waiter, a->event_ticks, a->target_ticks);
    event += waiter->learnt.stamp_ticks;
    double wrong =
        size_of(event - waiter_sample_ticks(waiter) - cycles * waiter->tempo.cycle_ticks);
    double misfit = -(double)a->width_ticks / (1 << APPROACH_TICK_BITS);
    if (tells_how_good(waiter, late))
        choice_learn(&waiter->choice, CHOICE_EXACT, wrong > misfit ? wrong : misfit);
    waiter_learn_period(waiter);
    if (late)
        return;
    note_cold(waiter, wrong > half + BAD_TICKS || misfit > BAD_TICKS);
    waiter_learn_tempo(waiter, event - waiter_sample_ticks(waiter), half);
}

/*
 * What is wrong with the loop's bias is limited as in rehearsals. Each wait shows it as wide as the
 * loop's period: to follow a sixteenth of that made p95 and p99 a twentieth wider. Returns by how
 * much it was wrong.
 */
static double follow_bias(const struct waiter *waiter, double *known, double stamp_ticks)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    const struct approach *a = &waiter->approach;
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    double wrong = waiter_middle(waiter, a->event_ticks, a->leave_ticks) + stamp_ticks - *known;
    *known += within(-most, wrong, most) / MEAN;
    return wrong;
}

static void learn_plain(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double stamp = learnt->plain_stamp_ticks[waiter_loop_way(waiter)];
    double wrong = follow_bias(waiter, &learnt->plain_bias_ticks, stamp);
    if (waiter->last.is_unsteady && !waiter_has_rehearsed(waiter, waiter->approach.event_ticks))
        choice_learn(&waiter->choice, CHOICE_LOOP, wrong);
}

/* An exact wait that ended by the loop. */
static void learn_end(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    enum event_way way = waiter_loop_way(waiter);
    follow_bias(waiter, &learnt->loop_bias_ticks[way], learnt->loop_stamp_ticks[way]);
    waiter_learn_period(waiter);
    waiter_publish_tempo(waiter);
}

/*
 * Whether exact waits are worth a try depends on what their polls saw. Where these contradict each
 * other in most waits they will do so for a while, and each try ends by the loop later than a wait
 * by the loop. Eight at most are left to it: with 64 whole series were, behind a neighbour that had
 * gone. Polls that have been even for half as long as it takes will be, with those of the next wait.
 */
APPROACH_WAY static void note_polls(struct waiter *waiter)
{
    enum { LEAST_TURNS = 2, MOST_TURNS = 8, MEAN = 32 };
    int agreed = waiter_polls_agreed(waiter);
    int was_quiet = waiter->even_before >= WAITER_EVEN_COLD;
    if (waiter->last.is_cold && was_quiet && !agreed) {
        waiter_forget_polls(waiter);
        return;
    }
    waiter->uneven_share += (!agreed - waiter->uneven_share) / MEAN;
    if (!waiter_is_often_uneven(waiter) || waiter->approach.even_polls >= WAITER_EVEN_SHARED / 2)
        waiter->uneven = (struct caution){0};
    else if (!agreed)
        caution_went_wrong(&waiter->uneven, LEAST_TURNS, MOST_TURNS);
}

static void note_end(struct waiter *waiter)
{
    struct wait *wait = &waiter->last;
    if (wait->exact)
        note_polls(waiter);
    else
        caution_pass(&waiter->uneven);
    wait->ended_by_loop = wait->exact && waiter_ended_by_loop(waiter);
    wait->is_unsteady |= wait->ended_by_loop;
    wait->exact = wait->exact && !wait->ended_by_loop;
}

/*
 * An exact wait at its call of which there is nothing to say. Without branches: it is asked at the
 * next call, which may be as near.
 */
APPROACH_WAY static int is_as_usual(const struct waiter *waiter)
{
    const struct wait *last = &waiter->last;
    int at_its_call = last->exact & last->is_near_exact & !last->is_cold;
    return at_its_call & !last->ended_by_loop & outcome_is_as_expected(waiter);
}

/* All of it. */
APPROACH_WAY static void count(struct waiter *waiter)
{
    struct wait *wait = &waiter->last;
    int late = outcome_is_late(wait);
    note_end(waiter);
    uint32_t found = judge(wait) | (late ? wait->disturbance : 0);
    waiter->evidence.noticed |= found;
    waiter->disturbance = found;
    if (wait->is_unsteady)
        caution_pass(&waiter->cold);
    waiter->waits++;
    waiter->late += (uint64_t)late;
    note_far(waiter, late, found);
    if (late)
        note_trial(waiter);
    waiter->disturbed += found != 0;
}

/* Costs next to nothing. */
APPROACH_WAY void outcome_count(struct waiter *waiter)
{
    if (waiter->unsettled != LEFT_TO_COUNT)
        return;
    waiter->unsettled = LEFT_TO_LEARN;
    if (!is_as_usual(waiter)) {
        count(waiter);
        return;
    }
    note_polls(waiter);
    waiter->disturbance = 0;
    waiter->waits++;
}

APPROACH_WAY void outcome_count_open(struct waiter *waiter)
{
    outcome_count(waiter);
    waiter->unsettled = NOTHING_LEFT;
}

APPROACH_WAY int outcome_settle_open(struct waiter *waiter)
{
    struct wait *wait = &waiter->last;
    if (waiter->unsettled == NOTHING_LEFT)
        return 0;
    outcome_count_open(waiter);
    int late = outcome_is_late(wait);
    uint32_t found = waiter->disturbance;
    /* The stamp of what must not be early is its last poll, as it comes. */
    int is_sound = !(wait->flags & TIMEBASE_WAIT_NEVER_EARLY) && (found & ~HARMLESS) == 0;
    waiter->learning_uses = waiter->uses;
    if (wait->exact && is_sound)
        learn_exact(waiter, late);
    else if (wait->ended_by_loop && is_sound && !late)
        learn_end(waiter);
    else if ((wait->is_unsteady || wait->flags & TIMEBASE_WAIT_PLAIN) && is_sound && !late)
        learn_plain(waiter);
    if (wait->is_unsteady && !waiter_has_rehearsed(waiter, waiter->approach.event_ticks))
        waiter_fade_choice(waiter, wait->flags);
    return 1;
}

APPROACH_WAY int outcome_settle_some(struct waiter *waiter)
{
    enum { EIGHT = 8, MANY = 64 };
    int is_due = waiter->uses % EIGHT == 0;
    is_due = is_due || waiter->uses % MANY == 1; /* from those that learnt, too */
    if (is_due)
        return outcome_settle_open(waiter);
    outcome_count_open(waiter);
    return 0;
}
