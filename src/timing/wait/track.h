/* SPDX-License-Identifier: MIT */
/*
 * track: the waiter's numbers follow the core clock. The sample and the table predict when the
 * stamp is taken; the stamp says between which ticks it was. Only a prediction outside of these
 * moves the numbers: on a stepped counter most waits say nothing, which costs time but does not
 * pull to one side. The numbers move by little, and least by large differences: an interruption
 * makes a stamp later, never earlier, and mostly by more. A core clock that changed makes
 * differences of all sizes, small ones among them.
 */
#ifndef WAIT_TRACK_H
#define WAIT_TRACK_H

#include "waiter.h"

/* When the event took place, relative to the target, as far as all evidence says. */
double waiter_event(const struct waiter *waiter, int exact);

/* How often the last approach waited for APPROACH_LONGER instructions before its run. */
int waiter_turns(const struct waiter *waiter);

/* Did the polls of the last approach take longer than lately? */
int waiter_shares_core(struct waiter *waiter);

/* Learn from the last approach, if it was exact and undisturbed. */
void waiter_track(struct waiter *waiter);

#endif
