/* SPDX-License-Identifier: MIT */
/*
 * wait_delay: the public delay; the `mdelay` that the report of 1997 planned for Maruti. Here is what
 * each call does first, and the way of one by code that is not near.
 */
#include <stddef.h>

#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_pause.h"

#include "delay_long.h"
#include "delay_soon.h"

/*
 * In two steps. All before the call is done first; then the counter is read, for which the
 * processor need not wait until it has looked at the waiter: a line of memory that has gone takes
 * 0.1 us.
 */
APPROACH_WAY static inline void end_what_was_before(void)
{
#ifdef __x86_64__
    __asm__ __volatile__("lfence" ::: "memory");
#endif
}

/* The lines that it looks at, side by side. */
APPROACH_WAY static inline void fetch(const struct waiter *waiter)
{
    const char *first = (const char *)&waiter->magic;
    approach_fetch(first + 1 * APPROACH_LINE);
    approach_fetch(first + 2 * APPROACH_LINE);
    approach_fetch(&waiter->counted);
}

APPROACH_WAY static inline uint64_t read_at_call(const struct waiter *waiter)
{
    return waiter_may_read(waiter) ? timebase_arch_ticks() : timebase_ticks_ordered();
}

/*
 * The counter comes first: to fetch cold code and data takes 0.1 us, and is a part of the delay; after
 * a pause 0.5 us. So whether it is a waiter is looked at behind the reading, which is in the
 * function's first line of code. The counter is read when all before the call is done, or the delay
 * would begin sooner by as much as the core is ahead of itself: 7 to 20 ns, as its neighbour leaves
 * it. What is for cold code stands right behind that.
 */
TIMEBASE_API APPROACH_WAY APPROACH_PAGE int
timebase_delay_ns(struct timebase_waiter *public, uint64_t delay_ns, unsigned flags,
                  struct timebase_wait_result *result)
{
    end_what_was_before();
    if (__builtin_expect(public == NULL, 0))
        return TIMEBASE_E_INVALID;
    struct waiter *waiter = waiter_within(public);
    uint64_t start = read_at_call(waiter);
    fetch(waiter);
    if (__builtin_expect(waiter_for(public, flags) == NULL, 0))
        return TIMEBASE_E_INVALID;
    int is_cold = (int64_t)(start - waiter->delay_called_ticks) > waiter->learnt.hot_ticks;
    waiter->delay_called_ticks = start;
    if (__builtin_expect(!is_cold, 0))
        return delay_soon(waiter, delay_ns, flags, result);
    if (__builtin_expect(!delay_may_be_at_once(waiter, delay_ns, flags, result), 0))
        return delay_by_more(waiter, delay_ns, flags, result, 1);
    if (__builtin_expect(delay_is_by_loop(waiter, delay_ns, flags, 1), 1))
        return delay_at_once(waiter, delay_ns, delay_asks(delay_ns, flags, 1));
    return delay_after_pause(waiter, delay_ns, flags);
}
