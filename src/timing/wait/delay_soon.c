/* SPDX-License-Identifier: MIT */
#include "delay_soon.h"

#include "timing/approach/hide.h"
#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_counted.h"
#include "timing/delay/delay_near.h"

#include "delay_long.h"

/* What is only counted comes first, as it has the least to do; if it is longer, behind what is better. */
APPROACH_WAY int delay_soon(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                            struct timebase_wait_result *result)
{
    int64_t left_ticks = 0;
    int is_counted =
        delay_may_be_counted(waiter, delay_ns, flags, result) && delay_is_counted(waiter);
    if (is_counted && delay_ns < DELAY_COUNTED_AT_ONCE_NS)
        return delay_counted(waiter, delay_ns);
    if (delay_may_be_near(waiter, delay_ns, result))
        left_ticks = delay_near_left_ticks(waiter, delay_ns, flags, result);
    if (left_ticks != 0)
        return approach_from(waiter, waiter->delay_called_ticks + (uint64_t)left_ticks, flags,
                             result, delay_near);
    if (is_counted)
        return delay_counted(waiter, delay_ns);
    if (delay_ns >= waiter->learnt.checked_ns || result != NULL)
        APPROACH_HIDE(9); /* shorter ones have no time */
    if (delay_may_be_at_once(waiter, delay_ns, flags, result) &&
        delay_is_by_loop(waiter, delay_ns, flags, 0))
        return delay_at_once(waiter, delay_ns, delay_asks(waiter, delay_ns, flags, 0));
    return delay_by_more(waiter, delay_ns, flags, result, 0);
}
