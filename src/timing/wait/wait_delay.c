/* SPDX-License-Identifier: MIT */
/* wait_delay: the public delay: note when it was called; a short one, or a wait. */
#include "calibration.h"
#include "delay_at_once.h"
#include "stages.h"
#include "target.h"

static int delay_long(struct waiter *waiter, const struct delay *delay)
{
    if (target_is_far(delay->ticks, waiter->learnt.period_ns))
        return TIMEBASE_E_INVALID;
    struct wait wait = delay_as_wait(waiter, delay);
    calibrate_before(&wait);
    return stages_run(&wait);
}

APPROACH_WAY static int delay_for(void *of, uint64_t delay_ns, uint64_t flags, void *result,
                                  void *frame)
{
    struct waiter *waiter = (struct waiter *)of;
    const struct delay delay = {.start_ticks = waiter->delay_called_ticks,
                                .ticks = (double)delay_ns / waiter->learnt.period_ns,
                                .flags = (unsigned)flags,
                                .frame = result == NULL ? frame : NULL,
                                .result = (struct timebase_wait_result *)result};
    if (delay_is_short(waiter, &delay))
        return delay_short(waiter, &delay);
    return delay_long(waiter, &delay);
}

/*
 * In two steps. All before the call is done first; then the counter is read, for which the processor
 * need not wait until it has looked at the waiter: a line of memory that has gone takes 0.1 us.
 */
APPROACH_WAY static inline void end_what_was_before(void)
{
#ifdef __x86_64__
    __asm__ __volatile__("lfence" ::: "memory");
#endif
}

/*
 * Without asking whether the counter is readable where waits may leave, as the word that says so is
 * on another page: there it is.
 */
APPROACH_WAY static inline uint64_t read_at_call(const struct waiter *waiter)
{
#ifdef __x86_64__
    if (waiter->learnt.near_ticks != 0)
        return timebase_arch_ticks();
#else
    (void)waiter;
#endif
    return timebase_ticks_ordered();
}

/*
 * The counter comes first: to fetch cold code and data takes 0.1 us, and is a part of the delay. It
 * is read when all before the call is done, or the delay would begin sooner by as much as the core
 * is ahead of itself: 7 to 20 ns, as its neighbour leaves it.
 */
TIMEBASE_API APPROACH_WAY int timebase_delay_ns(struct timebase_waiter *public, uint64_t delay_ns,
                                                unsigned flags, struct timebase_wait_result *result)
{
    end_what_was_before();
    struct waiter *waiter = waiter_for(public, flags);
    if (waiter == NULL)
        return TIMEBASE_E_INVALID;
    uint64_t start = read_at_call(waiter);
    int is_cold = (int64_t)(start - waiter->delay_called_ticks) > waiter->learnt.hot_ticks;
    waiter->delay_called_ticks = start;
    if (delay_is_at_once(waiter, delay_ns, flags, result))
        return delay_at_once(waiter, delay_ns, flags, is_cold);
    if (is_cold)
        delay_fetch(waiter);
    return approach_from(waiter, delay_ns, flags, result, delay_for);
}
