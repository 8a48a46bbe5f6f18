/* SPDX-License-Identifier: MIT */
#include "delay_asks.h"

#include "timing/stages/event.h"

#include "delay_lines.h"

/* ---- what is asked for -------------------------------------------------------------------- */

/* Nobody waits for that; but where the run lies is known only when the waiter has come. */
APPROACH_WAY static inline void fetch_next(struct waiter *waiter)
{
    unsigned step = waiter->delay_fetched++;
    for (unsigned line = 0; line < DELAY_STEP_OF_CODE; line++)
        approach_fetch_code(delay_code_line(step * DELAY_STEP_OF_CODE + line));
    for (unsigned line = 0; line < DELAY_STEP_OF_REST; line++)
        approach_fetch(delay_rest_line(waiter, step * DELAY_STEP_OF_REST + line));
}

/*
 * Where a line lies is looked up, too, for each page of them: that takes 0.1 us and more, and the
 * reading at the end waits for it. So each delay begins with that: the first one for all pages at
 * once, but for the run's, as where that is has to come first.
 */
APPROACH_WAY static inline void look_up_pages(const struct waiter *waiter)
{
    if (waiter->delay_fetched == 0)
        delay_look_up_pages(waiter);
    else
        approach_fetch_code(delay_run_line(waiter, 0));
}

/* By pieces, as the files of them are linked: too much or too little changes nothing but the time. */
APPROACH_WAY void delay_fetch_wait(const struct waiter *waiter)
{
    enum { PIECES = 4, LINES = 20 };
    const uintptr_t pieces[PIECES] = {(uintptr_t)waiter->ways.exact, (uintptr_t)waiter_aim,
                                      (uintptr_t)event_set, (uintptr_t)approach_poll_to_event};
    for (int line = 0; line < LINES; line++) {
        approach_fetch((const char *)waiter + line * APPROACH_LINE);
        for (int piece = 0; piece < PIECES; piece++)
            approach_fetch_code((const char *)pieces[piece] + line * APPROACH_LINE);
    }
}

/* ---- the loop that asks ------------------------------------------------------------------- */

APPROACH_WAY static inline int64_t left_until(const struct waiter *waiter, uint64_t leave)
{
    return (int64_t)(leave - waiter_read_at_once(waiter));
}

/*
 * Where this code is cold as well it takes 0.3 us to ask, and this delay would be late by what the
 * next one gains: so one that has come late to it asks for nothing. By near code half of it is left.
 */
APPROACH_WAY static inline int is_in_time(const struct waiter *waiter, uint64_t leave,
                                          int64_t left_ticks)
{
    return 2 * left_ticks > (int64_t)(leave - waiter->delay_called_ticks);
}

APPROACH_WAY static inline void ask_first(struct waiter *waiter, uint64_t delay_ns)
{
    if (delay_ns >= DELAY_SHORT_NS)
        delay_fetch_wait(waiter);
    look_up_pages(waiter);
    fetch_next(waiter);
}

APPROACH_WAY static inline int may_fetch(const struct waiter *waiter, int64_t left_ticks)
{
    return left_ticks > waiter->learnt.last_ticks && waiter->delay_fetched < DELAY_ASKED;
}

APPROACH_WAY int delay_bare_loop(uint64_t leave)
{
    uint64_t now = timebase_arch_ticks();
    int late = (int64_t)(leave - now) <= 0;
    while ((int64_t)(leave - now) > 0)
        now = timebase_arch_ticks();
    return late;
}

APPROACH_WAY int delay_asks_meanwhile(struct waiter *waiter, uint64_t delay_ns, uint64_t leave,
                                      int asks)
{
    int64_t left = left_until(waiter, leave);
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    asks &= is_in_time(waiter, leave, left);
    if (asks) {
        ask_first(waiter, delay_ns);
        left = left_until(waiter, leave);
    }
    if (left <= 0)
        return 1;
    for (; asks && may_fetch(waiter, left); left = left_until(waiter, leave))
        fetch_next(waiter);
    if (waiter->learnt.at_once_stamp_ticks != 0) {
        delay_bare_loop(leave + (uint64_t)waiter->learnt.at_once_stamp_ticks);
        return 0;
    }
    for (; left > 0; left = left_until(waiter, leave))
        continue;
    waiter_stamp_at_once(waiter);
    return 0;
}
