/* SPDX-License-Identifier: MIT */
/*
 * delay_lesson: what short delays teach. By its last reading each says what it took, and the way it
 * went follows that, 1/64 each: it changes with the core's load and clock. Where a run took far less
 * it is a half, and where four in a row took far more the least of these. It is learnt at the call of
 * the next one, which hides it; behind the reading it would make this one longer.
 */
#ifndef DELAY_DELAY_LESSON_H
#define DELAY_DELAY_LESSON_H

#include "timing/waiter/waiter.h"

/* A cycle of delays is as long as that of waits, to so much. */
#define DELAY_WRONG_CYCLE 0.03

/* What the last one has to teach, if it has not been learnt. */
void delay_learn(struct waiter *waiter);

/* Did its reading contradict it, if it was by a run? Learns nothing. */
int delay_was_contradicted(const struct waiter *waiter);

/*
 * A run that takes what is `known` and so many cycles took `wrong` ticks longer. Returns 1 if that
 * contradicts it. Then something else uses the core, and the loop has the next turns; or its code
 * was not quite near, and the loop has those after the next pauses; or that was only asked for,
 * which says nothing of others unless enough have been tried. What takes less contradicts what was
 * known alone.
 */
int delay_follow(struct waiter *waiter, struct waiter_delay *known, double wrong, double cycles,
                 enum delay_code code);

#endif
