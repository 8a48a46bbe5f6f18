/* SPDX-License-Identifier: MIT */
/*
 * delay_long: a delay that is a fine reading and a wait. What is at once does not need it, so it
 * lies apart from that.
 */
#ifndef WAIT_DELAY_LONG_H
#define WAIT_DELAY_LONG_H

#include "timing/approach/hide.h"
#include "timing/delay/delay_at_once.h"
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

/*
 * By a counter with far steps it begins with roots that need its caller's reading, as one that
 * counts from its call does (delay_from_call.h), and its fine reading waits for their end. So
 * that comes as long after the call as it always does, whatever had to be fetched meanwhile. But
 * for those that the loop has by cold code.
 */
static inline int delay_is_long_by_steps(const struct waiter *waiter, uint64_t delay_ns,
                                         unsigned flags, const struct timebase_wait_result *result,
                                         int is_cold)
{
    int has_roots = waiter->counted.roots_from_ns != 0;
    return delay_ns >= DELAY_SHORT_NS && has_roots &&
        !(is_cold && delay_may_be_at_once(waiter, delay_ns, flags, result));
}

/* Behind the first eight, whose last is `link`. By cold code they are four times as many. */
static inline __attribute__((always_inline)) int
delay_long_by_steps(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                    struct timebase_wait_result *result, int is_cold, uint64_t link)
{
    enum { EIGHTS_MORE = 3 };
    if (is_cold)
        approach_link_more(link, EIGHTS_MORE);
    return delay_long(waiter, delay_ns, flags, result, is_cold);
}

#endif
