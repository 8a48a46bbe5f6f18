/* SPDX-License-Identifier: MIT */
/*
 * near_rehearsal: what a near wait does until its time comes, where the counter's steps are fine. As
 * long as there is the time for one more, the approach runs against a target of its own and learns from
 * its stamp how long a cycle is now. A neighbour comes and goes within tens of microseconds: what the
 * wait before could teach is as old as that wait.
 *
 * Where the counter steps a stamp says less than is known. There a wait behind a pause alone rehearses
 * (near_afresh.h), so that its code is near, either end's, and its polls have been seen to agree.
 *
 * Others' rehearsals (rehearsal.h) take three times as long, as they ask more: what returns take, how
 * far apart polls are, how the loop does.
 */
#ifndef STAGES_NEAR_REHEARSAL_H
#define STAGES_NEAR_REHEARSAL_H

#include "timing/waiter/waiter.h"

/* At the end of a calibration. */
void near_rehearsal_init(struct waiter *waiter);

/* Of the last wait, which has begun. What disturbed them is in waiter->found. */
void near_rehearse(struct waiter *waiter);

#endif
