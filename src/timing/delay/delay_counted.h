/* SPDX-License-Identifier: MIT */
/*
 * delay_counted: a short delay by a fine counter, at whose end nothing looks. All that has to be
 * done comes first, learning too, and each line that its last part needs is loaded; then the
 * counter is read, and from that reading on one chain of instructions, each of which needs the one
 * before, lasts until the end: roots first, which hide how many multiplications are to follow them.
 *
 * Where the counter's steps are fine a reading takes 10 ns and differs by as much where another
 * thread uses the core, and nothing is done meanwhile. A chain of multiplications hardly differs.
 * So only one in 64, of the first ones in 16, reads the counter at its end, and says what these
 * take (delay_counted_lesson.h). What a chain takes wrongly grows with it, so where there is time for two the
 * counter is read again between them; and what the first one took says how fast the core is now
 * (core_rate.h).
 */
#ifndef DELAY_DELAY_COUNTED_H
#define DELAY_DELAY_COUNTED_H

#include <stddef.h>

#include "timing/approach/foresee.h"

#include "counted_length.h"
#include "delay_counted_lesson.h"

/* Of approach_count(), as it is assembled. */
enum { DELAY_LINES_OF_COUNT = 10 };

/* Or is the loop better, or to have its turn? */
static inline int delay_is_counted(struct waiter *waiter)
{
    if (__builtin_expect(waiter->counted.is_worse, 0))
        delay_left_to_loop(waiter);
    return !waiter->counted.is_worse;
}

/* From delay_called_ticks on. Returns 0, or 1 if what comes first takes longer. */
int delay_counted(struct waiter *waiter, uint64_t delay_ns);

/* Its code was far away: the next ones load it, and do not learn by it. */
static inline void delay_counted_is_far(struct waiter *waiter)
{
    enum { NO_LESSON = 4 };
    waiter->counted.only |= NO_LESSON; /* so many or more */
}

/*
 * After a pause: where its code was so far away lately that there was no time to load it the loop has
 * some turns, as it needs fewer lines.
 */
static inline int delay_is_counted_after_pause(struct waiter *waiter)
{
    waiter->delay_fetched = 0;
    if (!caution_takes_turn(&waiter->far_code))
        return delay_is_counted(waiter);
    delay_counted_is_far(waiter);
    return 0;
}

/* Its lines are to be near: delay_counted_fetch(). */
int delay_counted_after_pause(struct waiter *waiter, uint64_t delay_ns);

/*
 * What is left of it once it has learnt, by one chain to three; by `less_cycles` fewer than that, all
 * of them of the last.
 */
int delay_counted_rest(struct waiter *waiter, uint64_t delay_ns, double less_cycles);

/*
 * Asks for all lines of the code up to the chains, side by side: from this one on, as GCC compiles
 * them for x86-64.
 */
static inline void delay_counted_fetch(void)
{
    enum { LINES = 27 };
    approach_fetch_lines((const char *)(uintptr_t)delay_counted_rest, LINES);
}

#endif
