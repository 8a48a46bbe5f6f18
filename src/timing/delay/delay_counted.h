/* SPDX-License-Identifier: MIT */
/*
 * delay_counted: a short delay by a fine counter, without a second look at it. From the reading at
 * its call one chain of instructions, each of which needs the one before, lasts until it ends:
 * roots first, which hide how many multiplications are to follow them.
 *
 * Where the counter's steps are fine a reading takes 10 ns and differs by as much where another
 * thread uses the core, and nothing is done meanwhile. A chain of multiplications hardly differs.
 * So only one in 64, of the first ones in 16, reads the counter at its end, and says what these take. What a chain takes
 * wrongly grows with it, so longer ones are by the loop, or exact waits at their call
 * (delay_near.h); and so are those among others, as code that is not quite near makes a chain late.
 */
#ifndef DELAY_DELAY_COUNTED_H
#define DELAY_DELAY_COUNTED_H

#include <stddef.h>

#include "timing/approach/hide.h"

#include "delay_lines.h"

/* Of longer ones the loop is better. */
enum { DELAY_COUNTED_MOST_NS = 450 };

/*
 * So many that might be counted come before the first one that is; the last of these, if it is so
 * long, passes so many cycles.
 */
enum { DELAY_COUNTED_MANY = 4, DELAY_COUNTED_REHEARSED = 60, DELAY_COUNTED_REHEARSES_NS = 300 };

/*
 * So many only count before one learns: usually; if the last stamp was far off; and at least by
 * code that was only asked for, as that makes the first ones late.
 */
enum { DELAY_COUNTED_ONLY = 64, DELAY_COUNTED_FAR = 16, DELAY_COUNTED_FIRST = 4 };

/* They are believed to be off by so much at first; and at most. */
enum { DELAY_COUNTED_USUALLY_NS = 8 };

/* All that they need has been asked for. */
static inline void delay_counted_begin(struct waiter *waiter)
{
    struct waiter_counted *counted = &waiter->counted;
    waiter->delay_fetched = DELAY_ASKED;
    if (counted->only != 0 && counted->only < DELAY_COUNTED_FIRST)
        counted->only = DELAY_COUNTED_FIRST;
}

static inline int delay_has_length_of_counted(const struct waiter *waiter, uint64_t delay_ns)
{
    return delay_ns - waiter->counted.least_ns < waiter->counted.span_ns;
}

/* Soon after another delay. */
static inline int delay_may_be_counted(const struct waiter *waiter, uint64_t delay_ns,
                                       unsigned flags, const struct timebase_wait_result *result)
{
    return delay_has_length_of_counted(waiter, delay_ns) && result == NULL &&
        !(flags & ~(unsigned)TIMEBASE_WAIT_PREPARE);
}

/* Another delay, or a pause: others' code has been executed since the last counted one. */
static inline void delay_counted_ends(struct waiter *waiter)
{
    waiter->counted.in_a_row = 0;
}

static inline double delay_cycles_of_counted(const struct waiter *waiter, double ns)
{
    return ns * waiter->counted.cycles_per_ns - waiter->counted.less_cycles + 0.5;
}

/* So many cycles from `link` on; less than one is too late, but for what hides that. */
static inline int delay_count(const struct waiter *waiter, double cycles, uint64_t link)
{
    if (__builtin_expect(cycles < 1, 0)) {
        waiter->ways.count(0, link);
        return 1;
    }
    return waiter->ways.count((uint64_t)(int64_t)cycles, link);
}

/* Is there nothing else to do? */
static inline int delay_is_only_counted(const struct waiter *waiter)
{
    const struct waiter_counted *counted = &waiter->counted;
    return (counted->only != 0) & (counted->in_a_row == DELAY_COUNTED_MANY);
}

/*
 * One in 64 reads the counter at its end: `left` is 0. Others' work may have driven its code out since the
 * last one; then it is 20 ns late, which would be taken for what all take, and the next one, which
 * learns from it, is 0.1 us late. So the two before ask for all of that, behind the roots.
 */
int delay_soon_stamped(struct waiter *waiter, double ns, uint64_t link, unsigned left);

/* From delay_called_ticks on, of which `link` is. Returns 0, or 1 if the call takes longer. */
static inline int delay_only_counted(struct waiter *waiter, uint64_t delay_ns, uint64_t link)
{
    enum { BEFORE_STAMPED = 2, LINES = 4 };
    double ns = (double)(int64_t)delay_ns;
    unsigned left = --waiter->counted.only;
    approach_fetch_lines((const char *)(uintptr_t)delay_soon_stamped, LINES);
    if (left <= BEFORE_STAMPED)
        return delay_soon_stamped(waiter, ns, link, left);
    return delay_count(waiter, delay_cycles_of_counted(waiter, ns), link);
}

/* The last one was by the loop: how far off? One without a stamp does not know. */
static inline void delay_note_loop(const struct waiter *waiter, struct choice *choice)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double wrong = waiter->delay_error_ticks + learnt->at_once_rest_ticks - learnt->at_once_ticks;
    if (waiter->delay_error_ticks >= 0)
        choice_learn(choice, CHOICE_LOOP, wrong);
}

/* Or by the loop? That was chosen by what stamps say of both: the next one is by it. */
void delay_left_to_loop(struct waiter *waiter);

/*
 * The first ones are by the loop, which asks for what the others need; until that has been done.
 * The last of them executes it, if there is time before its polls.
 */
static inline int delay_is_counted(struct waiter *waiter, uint64_t delay_ns,
                                   uint64_t link)
{
    struct waiter_counted *counted = &waiter->counted;
    if (counted->in_a_row < DELAY_COUNTED_MANY) {
        int is_last = counted->in_a_row == DELAY_COUNTED_MANY - 1;
        int are_there = waiter->delay_fetched >= DELAY_ASKED;
        counted->in_a_row += !is_last || are_there;
        if (is_last && are_there && delay_ns >= DELAY_COUNTED_REHEARSES_NS)
            waiter->ways.count(DELAY_COUNTED_REHEARSED, link);
        return 0;
    }
    if (counted->is_worse)
        delay_left_to_loop(waiter);
    return !counted->is_worse;
}

/* One that learns. */
int delay_counted(struct waiter *waiter, uint64_t delay_ns, uint64_t link);

#endif
