/* SPDX-License-Identifier: MIT */
/*
 * delay_long: a delay that is a fine reading and a wait. What is at once does not need it, so it lies apart
 * from that.
 */
#ifndef WAIT_DELAY_LONG_H
#define WAIT_DELAY_LONG_H

#include "timing/waiter/waiter.h"

/* From delay_called_ticks on; is_cold: no other delay was soon before it. Returns as a delay does. */
int delay_long(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
               struct timebase_wait_result *result, int is_cold);

#endif
