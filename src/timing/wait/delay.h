/* SPDX-License-Identifier: MIT */
/*
 * delay: from the call to the return; the `mdelay` that the report of 1997 planned for Maruti. A
 * short delay is a run of instructions, timed by the core clock alone: the counter may step by 10
 * ns, and a fine reading takes 200 ns. A long delay is a fine reading and an exact wait.
 *
 * The core clock drifts against the counter, so delays track the length of an instruction: those
 * whose results are asked for, and some of the others. One reading is known to a step, the mean of
 * many much better.
 */
#ifndef WAIT_DELAY_H
#define WAIT_DELAY_H

#include "waiter.h"

/* Do instructions alone make this delay? */
int delay_is_short(const struct waiter *waiter, uint64_t delay_ns, unsigned flags);

/* A short one. Returns 0, or 1 if the call takes longer. */
int delay_by_instructions(struct waiter *waiter, uint64_t delay_ns,
                          struct timebase_wait_result *result);

/* A long one, from now: the wait that makes it. */
struct wait delay_as_wait(struct waiter *waiter, double ticks, unsigned flags,
                          struct timebase_wait_result *result);

#endif
