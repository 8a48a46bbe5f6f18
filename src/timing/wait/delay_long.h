/* SPDX-License-Identifier: MIT */
/*
 * delay_long: a delay that is a fine reading and a wait. What is at once does not need it, so it lies apart
 * from that.
 */
#ifndef WAIT_DELAY_LONG_H
#define WAIT_DELAY_LONG_H

#include "timing/delay/delay_short.h"

/* From delay_called_ticks on; is_cold: no other delay was soon before it. Returns as a delay does. */
int delay_long(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
               struct timebase_wait_result *result, int is_cold);

/* Or a short one, if it is so short: by what is left if it is not by the loop at once, nor exact in another
 * way. */
APPROACH_WAY static inline int delay_by_more(struct waiter *waiter, uint64_t delay_ns,
                                             unsigned flags, struct timebase_wait_result *result,
                                             int is_cold)
{
    if (delay_is_short(waiter, delay_ns, flags))
        return delay_short(waiter, delay_ns, flags, result,
                           is_cold ? DELAY_CODE_COLD : DELAY_CODE_HOT);
    return delay_long(waiter, delay_ns, flags, result, is_cold);
}

#endif
