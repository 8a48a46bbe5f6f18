/* SPDX-License-Identifier: MIT */
/* foresight: what a wait ends with comes into the innermost cache (foresee.h). */
#ifndef STAGES_FORESIGHT_H
#define STAGES_FORESIGHT_H

#include "timing/waiter/waiter.h"

/* The function that the wait will call, if it does. */
void foresight_event(const struct wait *wait);

/* The runs of an exact approach to such an event. */
void foresight_runs(const struct waiter *waiter, enum event_way way);

/*
 * The ends of all runs into the second level: each wait takes another, and the first ones of a series
 * were 30 ns late by those that others had driven out. Costs next to nothing.
 */
void foresight_fetch_runs(const struct waiter *waiter, enum event_way way);

#endif
