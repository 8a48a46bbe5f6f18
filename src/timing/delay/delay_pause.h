/* SPDX-License-Identifier: MIT */
/*
 * delay_pause: a delay after others' code that may not be only counted. Nobody knows what that has
 * driven out of the core's caches. By a counter with fine steps all lines of an exact wait are loaded,
 * and it is one if enough is left then. By another, all that a run needs is touched, and where that
 * takes no longer than it does in the core's own caches, it is a run. Else it is the loop.
 */
#ifndef DELAY_DELAY_PAUSE_H
#define DELAY_DELAY_PAUSE_H

#include "delay_lines.h"

/*
 * From delay_called_ticks on, without a result; one that may not be only counted. Returns 0, or 1 if
 * the call takes longer.
 */
int delay_after_pause(struct waiter *waiter, uint64_t delay_ns, unsigned flags);

#endif
