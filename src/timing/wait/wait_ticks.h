/* SPDX-License-Identifier: MIT */
/*
 * wait_ticks: what a wait for a tick does first. As soon as it is known that one must hurry, it is left
 * to the loop. In line, each way in a file of its own: from its call to its loop it is to lie in one page,
 * if it is too near to look ahead.
 */
#ifndef WAIT_WAIT_TICKS_H
#define WAIT_WAIT_TICKS_H

#include <stddef.h>

#include "timing/hurry/hurry.h"
#include "timing/stages/near_exact.h"

#include "wait_for.h"

/* Asks memory for all that a wait in a hurry looks at, at once: after a pause each line takes 0.2 us. */
static inline __attribute__((always_inline)) void wait_fetch_waiter(struct timebase_waiter *public)
{
    if (public == NULL)
        return;
    const char *waiter = (const char *)waiter_within(public);
    /* No loop, as nothing predicts its branches here. The first line follows below. */
    approach_fetch(waiter + 1 * APPROACH_LINE);
    approach_fetch(waiter + 2 * APPROACH_LINE);
    approach_fetch(waiter + 3 * APPROACH_LINE);
    approach_fetch(waiter + 4 * APPROACH_LINE);
    approach_fetch(waiter + 6 * APPROACH_LINE);
    approach_fetch(waiter + 7 * APPROACH_LINE);
    approach_fetch(waiter + 8 * APPROACH_LINE);
    approach_fetch(waiter + 9 * APPROACH_LINE);
    approach_fetch(waiter + 10 * APPROACH_LINE);
    approach_fetch(waiter + 11 * APPROACH_LINE);
    approach_fetch(waiter + 12 * APPROACH_LINE);
    approach_fetch(&waiter_within(public)->evidence);
}

/*
 * And for its code, where the counter's steps are fine: with each page that has gone its translation
 * has, too. Elsewhere (Zen 3) that was no better after a pause, and worse by code in the second level.
 * The core goes on as it did last time, and need not wait for that word.
 */
static inline __attribute__((always_inline)) int wait_fetches_code(struct timebase_waiter *public)
{
    return public != NULL && waiter_within(public)->learnt.near_delay_ticks != 0;
}

/* Lines before a function are those of what it calls. Too many or too few cost nothing but time. */
static inline __attribute__((always_inline)) void wait_fetch_code(const void *function, int before,
                                                                  int lines)
{
    const char *code = (const char *)function;
    __asm__("" : "+r"(code)); /* an address: nothing is known of what lies there */
#pragma GCC unroll 32
    for (int line = -before; line < lines; line++)
        approach_fetch_code(code + line * APPROACH_LINE);
}

/*
 * May it do without its stages? Then its waiter is known, and when it was entered. It reads the
 * counter without asking whether it is readable, because the word that says so is on another page.
 * A waiter whose waits may end behind has found it readable: so that is asked first.
 */
static inline __attribute__((always_inline)) int wait_may_be_at_once(struct timebase_waiter *public,
                                                                     struct hurried *asked)
{
    wait_fetch_waiter(public);
    const struct waiter *waiter = asked->waiter = waiter_checked(public);
    if (__builtin_expect(waiter == NULL || waiter->learnt.near_ticks == 0, 0))
        return 0;
    if (asked->result != NULL)
        evidence_fetch_marks(&waiter->evidence);
    asked->entered_ticks = timebase_arch_ticks();
    int64_t left = (int64_t)(asked->ticks - asked->entered_ticks);
    return left > -waiter->learnt.near_ticks && (asked->flags & ~WAITER_FLAGS) == 0;
}

static inline int wait_must_hurry(const struct hurried *asked)
{
    return hurry_is_due(asked->waiter, asked->entered_ticks, asked->ticks, asked->flags);
}

/* What its event is tells how it hurries, which is in line where it is to lie behind its call. */
typedef int hurry_by_event(struct hurried *asked);

static inline __attribute__((always_inline)) int wait_for_tick(struct timebase_waiter *public,
                                                               struct hurried *asked,
                                                               hurry_by_event *hurry)
{
    int at_once = wait_may_be_at_once(public, asked);
    if (__builtin_expect(at_once && near_exact_is_due(asked), 0))
        return near_exact(asked);
    if (__builtin_expect(at_once && wait_must_hurry(asked), 1))
        return hurry(asked);
    return wait_for_asked(public, asked);
}

#endif
