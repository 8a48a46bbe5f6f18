/* SPDX-License-Identifier: MIT */
/* wait_for: a wait that has the time for what comes before its stages. */
#ifndef WAIT_WAIT_FOR_H
#define WAIT_WAIT_FOR_H

#include "timing/hurry/hurry_loop.h"

/*
 * Checks waiter and target, follows the CPU, and runs the stages. All of the wait is set but its
 * waiter and when it was entered; now_ns counts where its target is a time.
 */
int wait_for(struct timebase_waiter *waiter, struct wait *wait, int64_t now_ns);

/* The same for one whose target is a tick. */
int wait_for_asked(struct timebase_waiter *waiter, const struct hurried *asked);

#endif
