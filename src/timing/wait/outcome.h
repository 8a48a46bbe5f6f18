/* SPDX-License-Identifier: MIT */
/*
 * outcome: what became of the waiter's last wait. It is settled at once if a result was asked for,
 * else at leisure: before the next wait, a calibration or a description.
 */
#ifndef WAIT_OUTCOME_H
#define WAIT_OUTCOME_H

#include "waiter.h"

/* Depends on when the approach began, not on when the event took place. */
int outcome_is_late(const struct wait *wait);

/* Judge the last wait and count it. result may be null. */
void outcome_settle(struct waiter *waiter, struct timebase_wait_result *result);

/* The same without a result, if it has not been done. */
void outcome_settle_open(struct waiter *waiter);

/* In a hurry: it is counted, and one in eight is learnt from (returns 1 if so); or none. */
int outcome_settle_some(struct waiter *waiter);
void outcome_count_open(struct waiter *waiter);

/*
 * If a wait that returns has a result, the result is made between the event and the return. This
 * makes it once before the event, only to fetch the code; what it writes is written again.
 */
void outcome_fetch(struct waiter *waiter, struct timebase_wait_result *result);

#endif
