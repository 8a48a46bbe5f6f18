/* SPDX-License-Identifier: MIT */
/* wait_delay: the public delay; the `mdelay` that the report of 1997 planned for Maruti. */
#include <stddef.h>

#include "timing/delay/delay_from_call.h"

#include "delay_choose.h"

/*
 * The counter was read before the call: to fetch cold code and data takes 0.1 us, and is a part of
 * the delay; after a pause 0.5 us. What is for cold code stands in the function's first lines.
 */
TIMEBASE_API APPROACH_WAY APPROACH_PAGE int
timebase_delay_ns_from(struct timebase_waiter *public, uint64_t delay_ns, unsigned flags,
                       struct timebase_wait_result *result, uint64_t begin_ticks)
{
    struct waiter *waiter = waiter_for(public, flags);
    if (__builtin_expect(waiter == NULL, 0))
        return TIMEBASE_E_INVALID;
    int from_call = delay_may_count_from_call(waiter, delay_ns, flags, result);
    if (__builtin_expect_with_probability(from_call, 1, 0.999))
        return delay_from_call(waiter, delay_ns, begin_ticks);
    return delay_choose(waiter, delay_ns, flags, result, begin_ticks);
}
