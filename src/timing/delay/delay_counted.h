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
 * take. What a chain takes wrongly grows with it, so where there is time for two the counter is
 * read again between them.
 */
#ifndef DELAY_DELAY_COUNTED_H
#define DELAY_DELAY_COUNTED_H

#include <stddef.h>

#include "counted_length.h"

/* So many only count before one has a stamp: usually; and if the last stamp was far off. */
enum { DELAY_COUNTED_ONLY = 64, DELAY_COUNTED_FAR = 16 };

/* They are believed to be off by so much at first; and at most. */
enum { DELAY_COUNTED_USUALLY_NS = 8 };

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

/* Its lines are asked for side by side. */
int delay_counted_after_pause(struct waiter *waiter, uint64_t delay_ns);

/* From the last one that had a stamp. */
void delay_counted_learn(struct waiter *waiter);

#endif
