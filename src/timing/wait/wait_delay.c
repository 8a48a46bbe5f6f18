/* SPDX-License-Identifier: MIT */
/*
 * wait_delay: the public delay, from the call to the return; the `mdelay` that the report of 1997
 * planned for Maruti. A long one is a fine reading and a wait.
 */
#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/learn/within.h"

#include "calibration.h"
#include "delay_asks.h"
#include "delay_at_once.h"
#include "delay_counted.h"
#include "delay_near.h"
#include "delay_pause.h"
#include "event.h"
#include "stages.h"
#include "target.h"

/* ---- long ones ---------------------------------------------------------------------------- */

/*
 * When the delay was called, relative to its reading: less than a step after it. The fine reading
 * says more, if the way there took as long as it usually does. Cold code makes it longer, by up to
 * 0.1 us: then it was anywhere within the step.
 */
static double called_at(const struct waiter *waiter, double read_ticks, int is_cold)
{
    double later = read_ticks - waiter->learnt.delay_read_ticks[is_cold];
    double span = waiter->vernier.span_ticks, half = span / 2;
    int says_nothing = later < -half || later > span + half;
    return says_nothing ? half : within(0, later, span);
}

/* One that must not end early counts from the later reading, and is rounded up. */
static void set_target(struct wait *wait, double ticks, int is_cold)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_fine_reading read;
    waiter_intersect(waiter, waiter->delay_readings, wait->entered_ticks, &read);
    wait->read_ticks = read.ticks;
    int never_early = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double end = ticks;
    end += never_early ? read.ticks
                       : called_at(waiter, read.ticks, is_cold) - waiter->learnt.delay_call_ticks;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait->fraction = end - (double)(whole + never_early);
    wait->ticks = wait->entered_ticks + (uint64_t)whole + (uint64_t)never_early;
}

/* Beside the flags of a long one: no other delay was soon before it, so it came by another way. */
enum { DELAY_COLD = WAITER_FLAGS + 1 };

APPROACH_WAY static int delay_long(void *of, uint64_t delay_ns, uint64_t flags, void *result,
                                   void *frame)
{
    struct waiter *waiter = (struct waiter *)of;
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    struct wait wait = {.waiter = waiter,
                        .flags = (unsigned)flags & WAITER_FLAGS,
                        .frame = frame,
                        .result = (struct timebase_wait_result *)result,
                        .entered_ticks = waiter->delay_called_ticks};
    if (target_is_far(ticks, waiter->learnt.period_ns))
        return TIMEBASE_E_INVALID;
    set_target(&wait, ticks, (flags & DELAY_COLD) != 0);
    calibrate_before(&wait);
    return stages_run(&wait);
}

/* ---- what a call does first --------------------------------------------------------------- */

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
 * The stages of a wait are cold as well: one in twenty of such delays was late by 2 us. Where no
 * loop was calibrated, short delays are waits.
 */
APPROACH_WAY static inline int may_be_at_once(const struct waiter *waiter, uint64_t delay_ns,
                                              unsigned flags, const void *result)
{
    return result == NULL && delay_ns < WAITER_COLD_NS && delay_has_flags_of_loop(flags) &&
        waiter->learnt.at_once_ticks != 0;
}

/* Apart from what is at once, so that this is a few lines of memory. */
APPROACH_WAY static __attribute__((noinline)) int delay_by_wait(struct waiter *waiter,
                                                                uint64_t delay_ns, unsigned flags,
                                                                struct timebase_wait_result *result,
                                                                int is_cold)
{
    waiter_read(waiter, waiter->delay_readings);
    if (is_cold)
        delay_fetch_wait(waiter);
    return approach_from(waiter, delay_ns, flags | (is_cold ? DELAY_COLD : 0), result, delay_long);
}

APPROACH_WAY static inline int delay_by_more(struct waiter *waiter, uint64_t delay_ns,
                                             unsigned flags, struct timebase_wait_result *result,
                                             int is_cold)
{
    if (delay_is_short(waiter, delay_ns, flags))
        return delay_short(waiter, delay_ns, flags, result,
                           is_cold ? DELAY_CODE_COLD : DELAY_CODE_HOT);
    return delay_by_wait(waiter, delay_ns, flags, result, is_cold);
}

/* ---- soon after another ------------------------------------------------------------------- */

/* By code that is near. What is only counted comes first, as it has the least to do. */
APPROACH_WAY static __attribute__((noinline)) int delay_soon(struct waiter *waiter,
                                                             uint64_t delay_ns, unsigned flags,
                                                             struct timebase_wait_result *result)
{
    int64_t left_ticks = 0;
    uint64_t link = 0;
    int may_be_counted = delay_may_be_counted(waiter, delay_ns, flags, result);
    if (may_be_counted) {
        link = approach_link(waiter->delay_called_ticks);
        if (delay_is_only_counted(waiter))
            return delay_only_counted(waiter, delay_ns, link);
    } else {
        delay_counted_ends(waiter);
    }
    if (delay_may_be_near(waiter, delay_ns, result, may_be_counted))
        left_ticks = delay_near_left_ticks(waiter, delay_ns, flags, result);
    if (left_ticks != 0)
        return approach_from(waiter, waiter->delay_called_ticks + (uint64_t)left_ticks, flags,
                             result, delay_near);
    if (may_be_counted && delay_is_counted(waiter, delay_ns, link))
        return delay_counted(waiter, delay_ns, link);
    if (delay_ns >= waiter->learnt.checked_ns || result != NULL)
        APPROACH_HIDE(9); /* shorter ones have no time */
    if (may_be_at_once(waiter, delay_ns, flags, result) &&
        delay_is_by_loop(waiter, delay_ns, flags, 0))
        return delay_at_once(waiter, delay_ns, delay_asks(delay_ns, flags, 0));
    return delay_by_more(waiter, delay_ns, flags, result, 0);
}

/* ---- the call ----------------------------------------------------------------------------- */

/*
 * The counter comes first: to fetch cold code and data takes 0.1 us, and is a part of the delay; after
 * a pause 0.5 us. So whether it is a waiter is looked at behind the reading, which is in the
 * function's first line of code. The counter is read when all before the call is done, or the delay
 * would begin sooner by as much as the core is ahead of itself: 7 to 20 ns, as its neighbour leaves
 * it. What is for cold code stands right behind that.
 */
TIMEBASE_API APPROACH_WAY __attribute__((aligned(2048))) int
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
    if (__builtin_expect(!may_be_at_once(waiter, delay_ns, flags, result), 0))
        return delay_by_more(waiter, delay_ns, flags, result, 1);
    if (__builtin_expect(delay_is_by_loop(waiter, delay_ns, flags, 1), 1))
        return delay_at_once(waiter, delay_ns, delay_asks(delay_ns, flags, 1));
    return delay_after_pause(waiter, delay_ns, flags);
}
