/* SPDX-License-Identifier: MIT */
/* wait_delay: the public delay; the `mdelay` that the report of 1997 planned for Maruti. */
#include <stddef.h>

#include "timing/delay/delay_from_call.h"

#include "delay_choose.h"
#include "delay_long.h"

/*
 * The counter was read before the call: to fetch cold code and data takes 0.1 us, and is a part
 * of the delay; after a pause 0.5 us. Roots hide it, if their own code comes before that reading
 * is known: so they stand in the function's first lines, behind as few instructions as can be.
 */
TIMEBASE_API APPROACH_WAY APPROACH_PAGE int
timebase_delay_ns_from(struct timebase_waiter *public, uint64_t delay_ns, unsigned flags,
                       struct timebase_wait_result *result, uint64_t begin_ticks)
{
    if (__builtin_expect(public == NULL, 0))
        return TIMEBASE_E_INVALID;
    struct waiter *waiter = waiter_within(public);
    uint64_t none_up_to_ns = (uint64_t)waiter->counted.roots_from_ns - 1; /* of 0: all */
    if (__builtin_expect(delay_ns <= none_up_to_ns, 0))
        return delay_choose(waiter, delay_ns, flags, result, begin_ticks);
    if (__builtin_expect(result != NULL, 0))
        return delay_choose(waiter, delay_ns, flags, result, begin_ticks);
    if (__builtin_expect((flags & ~(unsigned)TIMEBASE_WAIT_PREPARE) != 0, 0))
        return delay_choose(waiter, delay_ns, flags, result, begin_ticks);
    uint64_t link = approach_link(begin_ticks);
    if (__builtin_expect(waiter->magic != WAITER_MAGIC, 0))
        return TIMEBASE_E_INVALID;
    int from_call = delay_has_length_of_counted(waiter, delay_ns);
    if (__builtin_expect_with_probability(from_call, 1, 0.999))
        return delay_from_call(waiter, delay_ns, begin_ticks, link);
    int is_cold = delay_is_cold(waiter, begin_ticks);
    if (!delay_is_long_by_steps(waiter, delay_ns, flags, NULL, is_cold))
        return delay_choose(waiter, delay_ns, flags, NULL, begin_ticks);
    waiter->delay_called_ticks = begin_ticks;
    return delay_long_by_steps(waiter, delay_ns, flags, NULL, is_cold, link);
}
