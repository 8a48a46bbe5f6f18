/* SPDX-License-Identifier: MIT */
/*
 * outcome: what became of the waiter's last wait. It is counted at once if what was expected of
 * it has not happened (result.h), else at leisure, and then it is learnt from: before the next
 * wait, a calibration or a description.
 */
#ifndef STAGES_OUTCOME_H
#define STAGES_OUTCOME_H

#include "timing/waiter/waiter.h"

/* Depends on when the approach began, not on when the event took place. */
static inline int outcome_is_late(const struct wait *wait)
{
    const struct approach *a = &wait->waiter->approach;
    return a->overdue_cycles > a->late_cycles;
}

/* Do polls of the last exact approach contradict each other by more than a reading's error? */
static inline int outcome_is_uneven(const struct waiter *waiter)
{
    enum { TOLERATED_TICKS = 2 };
    return waiter->approach.width_ticks < -TOLERATED_TICKS * (1 << APPROACH_TICK_BITS);
}

/* More between two polls is a disturbance. */
static inline uint32_t outcome_gap_limit(const struct waiter *waiter)
{
    enum { GAP_NS = 300 };
    return (uint32_t)waiter_ticks_of_ns(waiter, GAP_NS);
}

/* Was it not disturbed by anything, besides that? */
static inline int outcome_is_undisturbed(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    int stayed = (waiter->evidence.rseq_mark == 0) | ((int)a->rseq_cpu == waiter->last.cpu);
    return stayed & evidence_is_clean(&waiter->evidence, a, outcome_gap_limit(waiter));
}

/* Of the last wait. Each && would be a branch. */
static inline int outcome_is_as_expected(const struct waiter *waiter)
{
    const struct wait *wait = &waiter->last;
    int by_loop = waiter_ended_by_loop(waiter);
    int uneven_run = outcome_is_uneven(waiter) & (by_loop == 0);
    int another_end = uneven_run | (by_loop ^ wait->ended_by_loop);
    return outcome_is_undisturbed(waiter) & !outcome_is_late(wait) & !(wait->exact & another_end);
}

/* Judge the last wait and count it; nothing is learnt from it yet. */
void outcome_count(struct waiter *waiter);

/* Count the last wait and learn from it, as far as it has not been done: returns 1 if it had not. */
int outcome_settle_open(struct waiter *waiter);

/* In a hurry: it is counted, and one in eight is learnt from (returns 1 if so); or none. */
int outcome_settle_some(struct waiter *waiter);
void outcome_count_open(struct waiter *waiter);

#endif
