/* SPDX-License-Identifier: MIT */
/* delay_counted_lesson: what counted delays teach, by one in 64; and whether the loop is better. */
#ifndef DELAY_DELAY_COUNTED_LESSON_H
#define DELAY_DELAY_COUNTED_LESSON_H

#include "timing/waiter/waiter.h"

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

/* By what is known of both, is the next one by the loop? */
void delay_counted_choose(struct waiter *waiter);

/* Or by the loop? That was chosen by what stamps say of both: the next one is by it. */
void delay_left_to_loop(struct waiter *waiter);

/* From the last one that had a stamp. */
void delay_counted_learn(struct waiter *waiter);

/*
 * The same, behind one with a stamp. If there is nothing to learn, as the loop has had its turns, the next
 * one has a stamp.
 */
void delay_counted_next_lesson(struct waiter *waiter);

#endif
