/* SPDX-License-Identifier: MIT */
#include "delay_at_once.h"

#include <stddef.h>

#include "timing/learn/in_code.h"

#include "delay_lesson.h"
#include "event.h"

/* ---- the loop ----------------------------------------------------------------------------- */

static int poll_and_fetch(struct waiter *waiter, uint64_t delay_ns, uint64_t leave, int fetches);

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

APPROACH_WAY static __attribute__((noinline)) int by_bare_loop(uint64_t leave)
{
    uint64_t now = timebase_arch_ticks();
    int late = (int64_t)(leave - now) <= 0;
    while ((int64_t)(leave - now) > 0)
        now = timebase_arch_ticks();
    return late;
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
        return poll_and_fetch(waiter, delay_ns, leave, fetches);
    if (__builtin_expect(is_bare(waiter), 0)) {
        waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
        return by_bare_loop(leave + (uint64_t)waiter->learnt.at_once_stamp_ticks);
    }
    uint64_t now = timebase_arch_ticks();
    int late = (int64_t)(leave - now) <= 0;
    while ((int64_t)(leave - now) > 0)
        now = timebase_arch_ticks();
    now = timebase_arch_ticks_ordered();
    waiter->delay_error_ticks = late ? DELAY_ERROR_UNKNOWN : (int32_t)(now - leave);
    return late;
}

/* ---- what the next delay needs ------------------------------------------------------------ */

/*
 * What a counted delay needs beside this, in a few steps. Where its multiplications lie has to come
 * itself, and the next poll would wait for that: so it is asked for first.
 */
APPROACH_WAY static inline void fetch_next_of_counted(struct waiter *waiter)
{
    enum { STEPS = 3, LINES = 3 };
    unsigned step = waiter->delay_fetched++;
    if (step == 0) {
        approach_fetch(&waiter->ways.count);
        approach_fetch(&waiter->counted_lesson);
        return;
    }
    const char *count = (const char *)(uintptr_t)waiter->ways.count;
    approach_fetch_lines(count + (step - 1) * LINES * APPROACH_LINE, LINES);
    if (waiter->delay_fetched == STEPS)
        delay_counted_begin(waiter);
}

/* Nobody waits for that; but where the run lies is known only when the waiter has come. */
APPROACH_WAY static inline void fetch_next_of_run(struct waiter *waiter)
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
        approach_fetch((const char *)waiter + line * APPROACH_LINE);
        for (int piece = 0; piece < PIECES; piece++)
            approach_fetch_code((const char *)pieces[piece] + line * APPROACH_LINE);
    }
}

/* ---- the loop that fetches ---------------------------------------------------------------- */

/* For the next delay, if that is as long as this one. */
APPROACH_WAY static inline void fetch_next(struct waiter *waiter, uint64_t delay_ns)
{
    if (delay_has_length_of_counted(waiter, delay_ns))
        fetch_next_of_counted(waiter);
    else
        fetch_next_of_run(waiter);
}

/*
 * Each delay asks for something, or on coarse counters there would never be a run. One that is late
 * does not, as that takes 0.3 us where this code is cold as well.
 */
APPROACH_WAY static inline void fetch_first(struct waiter *waiter, uint64_t delay_ns,
                                            int64_t left_ticks)
{
    enum { MANY_LASTS = 16 }; /* 0.8 us */
    if (delay_has_length_of_counted(waiter, delay_ns)) {
        fetch_next_of_counted(waiter);
        return;
    }
    if (left_ticks <= 0)
        return;
    if (delay_ns >= DELAY_SHORT_NS && left_ticks > MANY_LASTS * waiter->learnt.last_ticks)
        delay_fetch_wait(waiter);
    look_up_pages(waiter);
    fetch_next_of_run(waiter);
}

APPROACH_WAY static inline int64_t left_until(const struct waiter *waiter, uint64_t leave)
{
    return (int64_t)(leave - waiter_read_at_once(waiter));
}

APPROACH_WAY static inline int may_fetch(const struct waiter *waiter, int64_t left_ticks)
{
    return left_ticks > waiter->learnt.last_ticks && waiter->delay_fetched < DELAY_ASKED;
}

APPROACH_WAY static __attribute__((noinline)) int
poll_and_fetch(struct waiter *waiter, uint64_t delay_ns, uint64_t leave, int fetches)
{
    int64_t left = left_until(waiter, leave);
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    if (fetches) {
        fetch_first(waiter, delay_ns, left);
        left = left_until(waiter, leave);
    }
    int late = left <= 0;
    for (; fetches && may_fetch(waiter, left); left = left_until(waiter, leave))
        fetch_next(waiter, delay_ns);
    if (waiter->learnt.at_once_stamp_ticks != 0) {
        by_bare_loop(leave + (uint64_t)waiter->learnt.at_once_stamp_ticks);
        return late;
    }
    for (; left > 0; left = left_until(waiter, leave))
        continue;
    waiter_stamp_at_once(waiter);
    return late;
}
