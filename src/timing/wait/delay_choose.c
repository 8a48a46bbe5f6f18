/* SPDX-License-Identifier: MIT */
#include "delay_choose.h"

#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_counted.h"
#include "timing/delay/delay_pause.h"

#include "delay_long.h"
#include "delay_soon.h"

/* The lines that it looks at, side by side. */
APPROACH_WAY static inline void fetch(const struct waiter *waiter)
{
    const char *first = (const char *)&waiter->magic;
    approach_fetch(first + 1 * APPROACH_LINE);
    approach_fetch(first + 2 * APPROACH_LINE);
    approach_fetch(&waiter->counted);
    approach_fetch(&waiter->ways.count);
}

APPROACH_WAY int delay_choose(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                              struct timebase_wait_result *result, uint64_t begin_ticks)
{
    if (__builtin_expect(waiter->magic != WAITER_MAGIC || (flags & ~WAITER_FLAGS) != 0, 0))
        return TIMEBASE_E_INVALID;
    fetch(waiter);
    int is_cold = delay_is_cold(waiter, begin_ticks);
    waiter->delay_called_ticks = begin_ticks;
    if (__builtin_expect(delay_is_long_by_steps(waiter, delay_ns, flags, result, is_cold), 0))
        return delay_long_by_steps(waiter, delay_ns, flags, result, is_cold,
                                   approach_link(begin_ticks));
    if (__builtin_expect(!is_cold, 0))
        return delay_soon(waiter, delay_ns, flags, result);
    if (__builtin_expect(delay_may_be_counted(waiter, delay_ns, flags, result), 1)) {
        if (!delay_is_counted_after_pause(waiter))
            return delay_at_once(waiter, delay_ns, 0);
        delay_counted_fetch();
        return delay_counted_after_pause(waiter, delay_ns);
    }
    if (__builtin_expect(!delay_may_be_at_once(waiter, delay_ns, flags, result), 0))
        return delay_by_more(waiter, delay_ns, flags, result, 1);
    if (__builtin_expect(delay_is_by_loop(waiter, delay_ns, flags, 1), 1))
        return delay_at_once(waiter, delay_ns, delay_asks(waiter, delay_ns, flags, 1));
    return delay_after_pause(waiter, delay_ns, flags);
}
