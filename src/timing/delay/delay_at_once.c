/* SPDX-License-Identifier: MIT */
#include "delay_at_once.h"

#include "timing/learn/in_code.h"

#include "delay_asks.h"

/*
 * From the end of the loop to its stamp it takes 10 ns longer beside a busy neighbour, and as much
 * where its exit is not predicted. Behind the loop there is no time to learn from that: the next
 * one does. A hold-up counts as little.
 */
APPROACH_WAY static inline void follow_last(struct waiter *waiter)
{
    enum { MEAN = 64 };
    struct waiter_learnt *learnt = &waiter->learnt;
    int64_t error = waiter->delay_error_ticks, most = 2 * learnt->last_ticks;
    if (error < 0 || waiter->is_calibrating)
        return;
    double wrong = (double)(error < most ? error : most) + learnt->at_once_rest_ticks -
        learnt->at_once_ticks;
    learnt->at_once_ticks += wrong * in_code(1.0 / MEAN);
}

/*
 * By a fine counter a reading behind the loop is as wide as the loop itself: one in eight has it,
 * by what the counter's own bits happen to be.
 */
APPROACH_WAY static inline int is_bare(const struct waiter *waiter)
{
    enum { ANY = 16, EIGHT = 8 };
    if (waiter->is_calibrating)
        return waiter->calibrated_way == DELAY_AT_ONCE_BARE;
    return waiter->learnt.at_once_stamp_ticks != 0 &&
        waiter->delay_called_ticks / ANY % EIGHT != 0;
}

/* Straight, and right behind its call: where it is cold, each line of it takes 0.1 us. */
APPROACH_WAY int delay_at_once(struct waiter *waiter, uint64_t delay_ns, int asks)
{
    follow_last(waiter);
    double ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns;
    double before = ticks - waiter->learnt.at_once_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)before;
    int fetches = asks && waiter->delay_fetched < DELAY_ASKED;
    if (__builtin_expect(fetches || !waiter_may_read(waiter), 0))
        return delay_asks_meanwhile(waiter, delay_ns, leave, fetches);
    if (__builtin_expect(is_bare(waiter), 0)) {
        waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
        return delay_bare_loop(leave + (uint64_t)waiter->learnt.at_once_stamp_ticks);
    }
    uint64_t now = timebase_arch_ticks();
    int late = (int64_t)(leave - now) <= 0;
    while ((int64_t)(leave - now) > 0)
        now = timebase_arch_ticks();
    now = timebase_arch_ticks_ordered();
    waiter->delay_error_ticks = late ? DELAY_ERROR_UNKNOWN : (int32_t)(now - leave);
    return late;
}
