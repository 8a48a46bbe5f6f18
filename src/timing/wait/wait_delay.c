/* SPDX-License-Identifier: MIT */
/* wait_delay: the public delay: note when it was called; a short one, or a wait. */
#include "calibration.h"
#include "delay.h"
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
 * Reads the counter without asking whether it is readable where waits may leave, as the word that
 * says so is on another page: there it is. And fetches what comes next meanwhile.
 */
APPROACH_WAY static inline uint64_t read_at_call(const struct waiter *waiter)
{
#ifdef __x86_64__
    __builtin_prefetch(&waiter->magic);
    if (waiter->learnt.near_ticks != 0)
        return timebase_arch_ticks_ordered();
#else
    (void)waiter;
#endif
    return timebase_ticks_ordered();
}

/*
 * There is no time to fetch code that has gone: the loop here, which nothing is learnt from, and
 * which leaves alone what the wait before has to tell. While it polls, it asks for what the next
 * delay needs; shortly before the end it does nothing else.
 */
APPROACH_WAY static inline int poll_at_once(const struct waiter *waiter, uint64_t delay_ns)
{
    enum { LAST_TICKS = 120 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    double ticks = (double)delay_ns / learnt->period_ns;
    double before = learnt->plain_bias_ticks + learnt->exit_ticks[0][0];
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)(ticks - before), now;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    for (int line = 0; (int64_t)((now = timebase_ticks()) - leave) < -LAST_TICKS; line++)
        delay_fetch_line(waiter, line);
    while ((int64_t)(now - leave) < 0)
        now = timebase_ticks();
    timebase_ticks_ordered(); /* as the loop whose bias this is: see approach_x86_64_leave.S */
    return late;
}

APPROACH_WAY static inline int is_for_at_once(uint64_t delay_ns, unsigned flags, const void *result)
{
    enum { MOST_NS = 500 };
    return delay_ns < MOST_NS && result == NULL && !(flags & ~DELAY_FLAGS);
}

/*
 * The counter comes first: to fetch cold code and data takes 0.1 us, and is a part of the delay. It
 * is read when all before the call is done, or the delay would begin sooner by as much as the core
 * is ahead of itself: 7 to 20 ns, as its neighbour leaves it. Where no delay was asked for in so
 * long that their code has gone out of the caches, a short one polls.
 */
TIMEBASE_API APPROACH_WAY int timebase_delay_ns(struct timebase_waiter *public, uint64_t delay_ns,
                                                unsigned flags, struct timebase_wait_result *result)
{
    struct waiter *waiter = waiter_for(public, flags);
    if (waiter == NULL)
        return TIMEBASE_E_INVALID;
    uint64_t start = read_at_call(waiter);
    int64_t since = (int64_t)(start - waiter->delay_called_ticks);
    waiter->delay_called_ticks = start;
    if (since > waiter->learnt.hot_ticks) {
        if (is_for_at_once(delay_ns, flags, result))
            return poll_at_once(waiter, delay_ns);
        delay_fetch(waiter);
    }
    return approach_from(waiter, delay_ns, flags, result, delay_for);
}
