/* SPDX-License-Identifier: MIT */
#include "delay_pause.h"

#include <stddef.h>

#include "timing/approach/hide.h"

#include "delay_lesson.h"
#include "delay_rehearsal.h"
#include "event.h"

enum { LINE = 64, DATA = 5, OF_RUN = 5, OF_CODE = 13 }; /* lines of memory */

/* ---- what a delay needs ------------------------------------------------------------------- */

APPROACH_WAY static inline const char *data_line(const struct waiter *waiter, unsigned line)
{
    const void *const data[DATA] = {&waiter->ways.run, &waiter->learnt.delay_cycle_ticks,
                                    &waiter->vernier, &waiter->contradicted_run, &waiter->lesson};
    return (const char *)data[line];
}

APPROACH_WAY static inline const char *run_line(const struct waiter *waiter, unsigned line)
{
    return (const char *)(uintptr_t)waiter->ways.run + line * LINE;
}

APPROACH_WAY static inline const char *code_line(unsigned line)
{
    return (const char *)(uintptr_t)delay_short + line * LINE;
}

APPROACH_WAY static inline void fetch_line(const struct waiter *waiter, unsigned line)
{
    if (line < DATA)
        approach_fetch(data_line(waiter, line));
    else if (line < DATA + OF_RUN)
        approach_fetch_code(run_line(waiter, line - DATA));
    else if (line < DATA + OF_RUN + OF_CODE)
        approach_fetch_code(code_line(line - DATA - OF_RUN));
}

/*
 * The pieces lie on pages of their own, and what a delay needs begins there on x86-64: to ask for
 * too much or too little changes nothing but the time.
 */
APPROACH_WAY void delay_fetch_wait(const struct waiter *waiter)
{
    enum { PIECES = 3, LINES = 20 };
    const uintptr_t pieces[PIECES] = {(uintptr_t)waiter->ways.exact, (uintptr_t)waiter_aim,
                                      (uintptr_t)event_set};
    for (int line = 0; line < LINES; line++) {
        approach_fetch((const char *)waiter + line * LINE);
        for (int piece = 0; piece < PIECES; piece++)
            approach_fetch_code((const char *)pieces[piece] + line * LINE);
    }
}

/* ---- far ---------------------------------------------------------------------------------- */

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
 * The loop here, by two lines of the waiter. It leaves alone what the wait before has to tell, and
 * to follow it by cold code would be a part of the delay. While it polls it asks for what the next
 * delay needs, and rehearses that; shortly before the end it does nothing else.
 */
APPROACH_WAY static inline int poll_at_once(struct waiter *waiter, uint64_t delay_ns)
{
    enum { LAST_TICKS = 120, LINES = 24 };
    double ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns;
    double before = ticks - waiter->learnt.at_once_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)before, now;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    if (delay_ns >= DELAY_SHORT_NS)
        delay_fetch_wait(waiter);
    for (unsigned line = 0; (int64_t)((now = timebase_ticks()) - leave) < -LAST_TICKS; line += 2) {
        fetch_line(waiter, line);
        fetch_line(waiter, line + 1);
        if (line == LINES)
            rehearse(waiter, delay_ns, (int64_t)(leave - now));
    }
    while ((int64_t)(now - leave) < 0)
        now = timebase_ticks();
    timebase_ticks_ordered(); /* meanwhile what follows is fetched */
    return late;
}

/* ---- near --------------------------------------------------------------------------------- */

APPROACH_WAY static inline void load(const char *line)
{
    (void)*(const volatile char *)line;
}

/* Side by side: in the core's own caches the roots outlast it. */
APPROACH_WAY static inline void touch(const struct waiter *waiter)
{
#pragma GCC unroll 13
    for (unsigned line = 0; line < OF_CODE; line++)
        load(code_line(line));
#pragma GCC unroll 5
    for (unsigned line = 0; line < DATA; line++)
        load(data_line(waiter, line));
#pragma GCC unroll 5
    for (unsigned line = 0; line < OF_RUN; line++)
        load(run_line(waiter, line));
}

APPROACH_WAY static inline int is_near(struct waiter *waiter)
{
    touch(waiter);
    waiter->delay_touched_ticks = (int64_t)(timebase_ticks_ordered() - waiter->delay_called_ticks);
    APPROACH_HIDE(9);
    int is_far = waiter->delay_touched_ticks > waiter->learnt.touch_ticks;
    if (is_far)
        delay_goes_wrong(&waiter->far_code);
    return !is_far;
}

/*
 * Is there time for a touch and a run? One that is steady is by the loop. Where touches found far
 * code lately, some are by the loop at once: for the shortest a touch of far code takes too long.
 */
APPROACH_WAY static inline int may_be_near(struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    if (waiter->is_calibrating)
        return waiter->calibrated_way == DELAY_AFTER_PAUSE;
    if (!caution_allows(&waiter->far_code)) {
        caution_pass(&waiter->far_code);
        return 0;
    }
    double least_ns = learnt->delays[DELAY_AFTER_PAUSE][0].fixed_ticks * learnt->period_ns;
    return delay_ns < DELAY_SHORT_NS && !(flags & TIMEBASE_WAIT_STEADY) &&
        (double)(int64_t)delay_ns >= least_ns + DELAY_LEAST_RUN_NS;
}

APPROACH_WAY int delay_after_pause(struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    if (may_be_near(waiter, delay_ns, flags) && is_near(waiter))
        return delay_short(waiter, delay_ns, flags, NULL, DELAY_CODE_NEAR);
    return poll_at_once(waiter, delay_ns);
}
