/* SPDX-License-Identifier: MIT */
/*
 * prepare: the last microseconds before an approach. Cold code would cost a hundred times the
 * wait's own error, and the core clock changes. So the approach is rehearsed again and again, as
 * long as there is time. The event's function is fetched into the caches, and called if the caller
 * asked for that.
 */
#ifndef STAGES_PREPARE_H
#define STAGES_PREPARE_H

#include "timing/waiter/waiter.h"

/*
 * Returns 1 if there was time for a rehearsal. By a copy, because the function may use the waiter,
 * which overwrites what it knows of the wait.
 */
int prepare(struct wait wait);

/* Calls the caller's function in advance, if there is one. */
void prepare_function(const struct wait *wait);

#endif
