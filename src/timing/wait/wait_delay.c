/* SPDX-License-Identifier: MIT */
/*
 * wait_delay: the public delay, from the call to the return; the `mdelay` that the report of 1997
 * planned for Maruti. A long one is a fine reading and a wait.
 */
#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/learn/within.h"

#include "calibration.h"
#include "delay_rehearsal.h"
#include "event.h"
#include "stages.h"
#include "target.h"

/* ---- long ones ---------------------------------------------------------------------------- */

/*
 * When the delay was called, relative to its reading: less than a step after it. The fine reading
 * says more, if the way there took as long as it usually does; cold code makes it longer by 0.1 us.
 */
static double called_at(const struct waiter *waiter, double read_ticks)
{
    double later = read_ticks - waiter->learnt.delay_read_ticks;
    return within(0, later, waiter->vernier.span_ticks);
}

/* One that must not end early counts from the later reading, and is rounded up. */
static void set_target(struct wait *wait, double ticks)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_fine_reading read;
    waiter_intersect(waiter, waiter->delay_readings, wait->entered_ticks, &read);
    wait->read_ticks = read.ticks;
    int never_early = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double end = ticks;
    end += never_early ? read.ticks
                       : called_at(waiter, read.ticks) - waiter->learnt.delay_call_ticks;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait->fraction = end - (double)whole;
    wait->ticks = wait->entered_ticks + (uint64_t)whole + (uint64_t)never_early;
}

APPROACH_WAY static int delay_long(void *of, uint64_t delay_ns, uint64_t flags, void *result,
                                   void *frame)
{
    struct waiter *waiter = (struct waiter *)of;
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    struct wait wait = {.waiter = waiter,
                        .flags = (unsigned)flags,
                        .frame = frame,
                        .result = (struct timebase_wait_result *)result,
                        .entered_ticks = waiter->delay_called_ticks};
    if (target_is_far(ticks, waiter->learnt.period_ns))
        return TIMEBASE_E_INVALID;
    set_target(&wait, ticks);
    calibrate_before(&wait);
    return stages_run(&wait);
}

/*
 * What other code has driven out comes back line by line, each as it is needed. Asked for at once
 * it takes as long as the furthest line. The pieces lie on pages of their own, and what a delay
 * needs begins there on x86-64: to ask for too much or too little changes nothing but the time.
 */
APPROACH_WAY static void fetch(const struct waiter *waiter)
{
    enum { LINE = 64, PIECES = 4, LINES = 20 };
    const uintptr_t pieces[PIECES] = {(uintptr_t)waiter, (uintptr_t)waiter->ways.exact,
                                      (uintptr_t)waiter_aim, (uintptr_t)event_set};
    for (int line = 0; line < LINES; line++)
        for (int piece = 0; piece < PIECES; piece++)
            __builtin_prefetch((const char *)pieces[piece] + line * LINE, 0, 2);
}

/* ---- the call ----------------------------------------------------------------------------- */

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

/* If there is time: what a delay of this length does by code that is not cold. */
APPROACH_WAY static inline void rehearse(struct waiter *waiter, uint64_t delay_ns,
                                         int64_t left_ticks)
{
    enum { ONE_NS = 200, TWO_NS = 500 };
    if (waiter->is_calibrating || delay_ns >= DELAY_SHORT_NS ||
        left_ticks < waiter_ticks_of_ns(waiter, ONE_NS))
        return;
    int one = !delay_has_two_runs(delay_ns) || left_ticks < waiter_ticks_of_ns(waiter, TWO_NS);
    delay_rehearse_run(waiter, one ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS);
}

/*
 * There is no time to fetch code that has gone: the loop here, by two lines of the waiter. It
 * leaves alone what the wait before has to tell, and to follow it by cold code would be a part of
 * the delay. While it polls it asks for what the next delay needs, and rehearses that; shortly
 * before the end it does nothing else.
 */
APPROACH_WAY static inline int poll_at_once(struct waiter *waiter, uint64_t delay_ns)
{
    enum { LAST_TICKS = 120 };
    double ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns;
    double before = ticks - waiter->learnt.at_once_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)before, now;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    if (delay_ns >= DELAY_SHORT_NS)
        fetch(waiter);
    for (unsigned line = 0; (int64_t)((now = timebase_ticks()) - leave) < -LAST_TICKS; line += 2) {
        __builtin_prefetch(delay_line(waiter, line % DELAY_LINES), 0, 2);
        __builtin_prefetch(delay_line(waiter, line % DELAY_LINES + 1), 0, 2);
        if (line == DELAY_LINES)
            rehearse(waiter, delay_ns, (int64_t)(leave - now));
    }
    while ((int64_t)(now - leave) < 0)
        now = timebase_ticks();
    timebase_ticks_ordered(); /* meanwhile what follows is fetched */
    return late;
}

/*
 * After a pause nobody knows what others have driven out: so all that a run needs is loaded, side
 * by side, and the counter tells how long that took. In caches of the core's own it is hidden.
 */
APPROACH_WAY static inline int is_near(struct waiter *waiter)
{
    for (unsigned line = 0; line < DELAY_LINES; line++)
        (void)*(const volatile char *)delay_line(waiter, line);
    waiter->delay_touched_ticks = (int64_t)(timebase_ticks_ordered() - waiter->delay_called_ticks);
    APPROACH_HIDE(9);
    return waiter->delay_touched_ticks <= waiter->learnt.touch_ticks;
}

/* Is there time for a touch and a run? One that is steady is by the loop. */
APPROACH_WAY static inline int may_be_near(const struct waiter *waiter, uint64_t delay_ns,
                                           unsigned flags)
{
    enum { LEAST_RUN_NS = 20 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    if (waiter->is_calibrating)
        return waiter->calibrated_way == DELAY_AFTER_PAUSE;
    double least_ns = learnt->delays[DELAY_AFTER_PAUSE][0].fixed_ticks * learnt->period_ns;
    return delay_ns < DELAY_SHORT_NS && !(flags & TIMEBASE_WAIT_STEADY) &&
        (double)(int64_t)delay_ns >= least_ns + LEAST_RUN_NS;
}

/*
 * The stages of a wait, too, take longer than this where others have driven them out: 2 us beside a
 * busy neighbour, and one in twenty of such delays was late by as much. Where no loop was
 * calibrated, short delays are waits.
 */
APPROACH_WAY static inline int is_for_at_once(const struct waiter *waiter, uint64_t delay_ns,
                                              unsigned flags, const void *result)
{
    enum { COLD_NS = 3000 };
    return result == NULL && delay_ns < COLD_NS && delay_has_flags_of_short(flags) &&
        waiter->learnt.at_once_ticks != 0;
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
    if (delay_ns >= waiter->learnt.checked_ns || result != NULL) /* shorter ones have no time */
        APPROACH_HIDE(9);
    int is_cold = (int64_t)(start - waiter->delay_called_ticks) > waiter->learnt.hot_ticks;
    waiter->delay_called_ticks = start;
    if (is_cold && is_for_at_once(waiter, delay_ns, flags, result)) {
        if (may_be_near(waiter, delay_ns, flags) && is_near(waiter))
            return delay_short(waiter, delay_ns, flags, NULL, DELAY_CODE_NEAR);
        return poll_at_once(waiter, delay_ns);
    }
    if (delay_is_short(waiter, delay_ns, flags))
        return delay_short(waiter, delay_ns, flags, result,
                           is_cold ? DELAY_CODE_COLD : DELAY_CODE_HOT);
    waiter_read(waiter, waiter->delay_readings);
    if (is_cold)
        fetch(waiter);
    return approach_from(waiter, delay_ns, flags, result, delay_long);
}
