/* SPDX-License-Identifier: MIT */
/*
 * near_afresh: an exact wait at its call (near_exact.h) that no other was soon before. What it needs
 * has gone out of the caches; so it asks for all of that at once, and rehearses while it comes, until
 * its code is near and the core's clock is known again: some microseconds. The stages need three
 * times as long. Nearer ones hurry. Where the counter steps it is known by its polls alone whether the
 * core is quiet: if they contradict each other it ends by the loop.
 */
#ifndef STAGES_NEAR_AFRESH_H
#define STAGES_NEAR_AFRESH_H

#include "timing/hurry/hurry_loop.h"

/* At the end of a calibration. */
void near_afresh_init(struct waiter *waiter);

/* Is it far enough ahead, and too near for the stages? By what one in a hurry looks at as well. */
static inline int near_afresh_has_time(const struct hurried *asked)
{
    const struct waiter_learnt *learnt = &asked->waiter->learnt;
    int64_t left = (int64_t)(asked->ticks - asked->entered_ticks);
    return left < learnt->cold_ticks && (double)left > learnt->afresh_need.ticks;
}

/* Is it asked for nothing that only the stages do, and are exact waits the better ones? */
int near_afresh_is_possible(const struct hurried *asked);

/* Of the last wait, which was one: what did it need, and was it late? */
void near_afresh_learn(struct waiter *waiter);

#endif
