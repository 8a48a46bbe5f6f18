/* SPDX-License-Identifier: MIT */
/* delay_soon: a delay soon after another: by code that is near. */
#ifndef WAIT_DELAY_SOON_H
#define WAIT_DELAY_SOON_H

#include "timing/delay/delay_short.h"

#include "delay_long.h"

/* From delay_called_ticks on. Returns as a delay does. */
int delay_soon(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
               struct timebase_wait_result *result);

/* By what is left if it is not by the loop at once, nor exact in another way. */
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
