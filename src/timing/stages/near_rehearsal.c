/* SPDX-License-Identifier: MIT */
#include "near_rehearsal.h"

#include <stddef.h>

#include "timing/hurry/hurry.h"
#include "timing/waiter/asked.h"
#include "timing/waiter/slower.h"

#include "event.h"
#include "foresight.h"
#include "outcome.h"
#include "rehearsal.h"

enum { ENTRY_NS = 20 }; /* from the reading that its target is found by to its first poll */

void near_rehearsal_init(struct waiter *waiter)
{
    enum { FIRST_NS = 150, MORE_NS = 100, STEP_NS = 1, OF = 100 };
    struct waiter_learnt *learnt = &waiter->learnt;
    double coarse_ns = waiter_coarse_ticks(waiter) * learnt->period_ns;
    hurry_set_need(waiter, &learnt->near_rehearsed, coarse_ns + FIRST_NS, STEP_NS, OF);
    learnt->near_rehearsal_ticks = (coarse_ns + MORE_NS) / learnt->period_ns;
}

/* One poll; where the counter steps some more, which tell whether polls agree. */
static inline double ahead_ticks(const struct waiter *waiter)
{
    enum { MORE_POLLS = 4 };
    int more = waiter_has_vernier(waiter) ? MORE_POLLS : 0;
    return waiter_coarse_ticks(waiter) + more * waiter->period.value +
        waiter_ticks_of_ns(waiter, ENTRY_NS);
}

/* Runs of all lengths: what is learnt of the tail relies on that. */
static inline void run_one(struct waiter *waiter, enum approach_end end)
{
    struct approach *a = &waiter->approach;
    double varied = waiter_throw_dice(waiter, (uint32_t)waiter->period.value);
    waiter_aim_run(waiter, 0);
    waiter->even_before = a->even_polls;
    evidence_begin(&waiter->evidence, a);
    a->target_ticks = timebase_arch_ticks() + (uint64_t)(ahead_ticks(waiter) + varied);
    if (end == END_BY_LOOP)
        waiter_aim_loop(waiter, a->target_ticks, 0, 0);
    a->even_least = end == END_BY_LOOP ? INT32_MAX : INT32_MIN;
    waiter_approach(waiter, 1);
}

/* One that came too late for its poll says nothing of a cycle. */
static inline int is_sound(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    if (evidence_is_clean(&waiter->evidence, a, outcome_gap_limit(waiter)))
        return a->overdue_cycles <= 0;
    waiter->found |= evidence_judge(&waiter->evidence, a, outcome_gap_limit(waiter));
    return 0;
}

static inline int calls(const struct wait *wait)
{
    return wait->is_afresh && wait->function != NULL;
}

/* By its stamp; or by what its call read. Where the counter steps neither is as narrow as what is known. */
static inline void learn(struct waiter *waiter, uint32_t read)
{
    const struct approach *a = &waiter->approach;
    if (waiter_has_vernier(waiter))
        return;
    double event = waiter_middle(waiter, a->event_ticks, a->target_ticks) + waiter->learnt.stamp_ticks;
    if (calls(&waiter->last))
        event = (double)(int32_t)(read - (uint32_t)a->target_ticks) + waiter_half_span(waiter) -
            waiter_slower_ticks(waiter, EVENT_CALLED);
    waiter_learn_tempo(waiter, event - waiter_sample_ticks(waiter), 0);
}

/* No code is so cold that what is done between two readings takes so long. */
static inline void note_gap(struct waiter *waiter, uint64_t from, uint64_t to)
{
    enum { HELD_UP_NS = 3000 };
    if ((int64_t)(to - from) > waiter_ticks_of_ns(waiter, HELD_UP_NS))
        waiter->found |= TIMEBASE_DISTURBED_GAP;
}

static inline int has_time(const struct waiter *waiter, uint64_t now, int count)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double left = (double)(int64_t)(waiter->last.ticks - now);
    double room = count >= REHEARSALS_COLD ? REHEARSAL_HOT
        : count == 0                       ? REHEARSAL_FIRST
                                           : REHEARSAL_WARM;
    return left > learnt->near_rehearsed.ticks + room * learnt->near_rehearsal_ticks;
}

/*
 * It returns to here from its run. If the wait is to call, and no other was soon before, it calls what
 * reads the counter: by code that was cold just now a call comes 3 ns later behind its stamp.
 */
static inline void return_here(const struct wait *wait, struct rehearsal_reading *read)
{
    struct approach *a = &wait->waiter->approach;
    if (calls(wait))
        event_set_call(a, rehearsal_read, read);
    else
        event_set_call(a, approach_event_none, NULL);
    a->never_early = 0;
}

/* Where the counter steps one that calls may end by the loop: that is the second of those that fetch. */
static inline enum approach_end end_of(const struct wait *wait, int count)
{
    int is_loop = count == 1 && waiter_has_vernier(wait->waiter) && calls(wait);
    return is_loop ? END_BY_LOOP : END_BY_RUN;
}

/* What comes behind the rehearsals by code that these do not execute. */
static inline void foresee_end(const struct wait *wait)
{
    if (!wait->is_afresh)
        return;
    foresight_far_event(wait);
    if (waiter_has_vernier(wait->waiter)) {
        foresight_runs(wait->waiter, wait_event_way(wait));
        foresight_loop(wait->waiter);
    }
}

APPROACH_WAY void near_rehearse(struct waiter *waiter)
{
    struct wait *wait = &waiter->last;
    int count = wait->is_cold ? 0 : REHEARSALS_COLD, first = count;
    uint32_t ticks = 0;
    struct rehearsal_reading read = {waiter_may_read(waiter), &ticks};
    uint64_t now = timebase_arch_ticks();
    note_gap(waiter, wait->entered_ticks, now);
    for (; has_time(waiter, now, count); count++) {
        uint64_t start = now;
        if (count == first)
            return_here(wait, &read);
        run_one(waiter, end_of(wait, count));
        int is_cold = count < REHEARSALS_COLD;
        if (is_cold)
            waiter_forget_polls(waiter);
        if (is_sound(waiter) && !is_cold)
            learn(waiter, ticks);
        foresee_end(wait);
        now = timebase_arch_ticks();
        note_gap(waiter, start, now);
        rehearsal_follow_length(&waiter->learnt.near_rehearsal_ticks, (double)(now - start));
    }
    wait->near_rehearsals = count - first;
    wait->near_rehearsed_ticks = now;
    wait->prepared = count > REHEARSALS_COLD;
    wait->disturbance = waiter->found;
    wait->is_cold &= count <= REHEARSALS_COLD;
}
