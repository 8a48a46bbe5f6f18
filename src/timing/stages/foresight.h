/* SPDX-License-Identifier: MIT */
/* foresight: what a wait ends with comes into the innermost cache (foresee.h). */
#ifndef STAGES_FORESIGHT_H
#define STAGES_FORESIGHT_H

#include "timing/waiter/waiter.h"

/* The function that the wait will call, if it does. */
void foresight_event(const struct wait *wait);

/* The runs of an exact approach to such an event. */
void foresight_runs(const struct waiter *waiter, enum event_way way);

/* Where they are. */
static inline const void *const *foresight_runs_of(const struct waiter *waiter, enum event_way way)
{
    return way == EVENT_CALLED ? waiter->ways.runs : waiter->ways.returning_runs;
}

#endif
