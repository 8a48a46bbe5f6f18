/* SPDX-License-Identifier: MIT */
/* foresight: what a wait ends with comes into the innermost cache (foresee.h). */
#ifndef STAGES_FORESIGHT_H
#define STAGES_FORESIGHT_H

#include "timing/waiter/waiter.h"

/* The function that the wait will call, or where it returns to. */
void foresight_event(const struct wait *wait);

/* The same, which may be in memory. */
void foresight_far_event(const struct wait *wait);

/* The runs of an exact approach to such an event. */
void foresight_runs(const struct waiter *waiter, enum event_way way);

/*
 * The loop that an exact wait ends by where polls contradict each other, if it returns and tells nothing
 * before. As if its time had come: so not while one is aimed.
 */
void foresight_loop(struct waiter *waiter);

/* Where the runs are. */
static inline const void *const *foresight_runs_of(const struct waiter *waiter, enum event_way way)
{
    return way == EVENT_CALLED ? waiter->ways.runs : waiter->ways.returning_runs;
}

#endif
