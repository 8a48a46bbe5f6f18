/* SPDX-License-Identifier: MIT */
/*
 * delay_pass: how a short delay passes: by one run of instructions, by two, or by the loop; or it
 * tries a run, and the loop ends it.
 *
 * By code that was asked for, but has not been executed since it went cold, a run is late by what
 * is not there in time, 0.1 us for each line of it. That would count as a neighbour, and the loop
 * would have the next turns: so it had nearly all of them in programs that use the caches for
 * something else in between. So such a run is tried: all of it is executed, somewhat shorter, and
 * the delay ends by the loop, in time. Its readings tell when the code is near. If they do not after
 * some tries it is a neighbour.
 */
#ifndef DELAY_DELAY_PASS_H
#define DELAY_DELAY_PASS_H

#include "timing/waiter/waiter.h"

/* One delay. */
struct short_delay {
    struct waiter *waiter;
    double ticks;
    int way; /* enum delay_way */
    int measured;
    enum delay_code code;
    int is_tried;    /* its run, if there is the time for the loop as well */
    int was_held_up; /* the first of two runs */
};

/* Returns 0, or 1 if it takes longer; what there is to learn of it is in waiter->lesson. */
int delay_pass(struct short_delay *delay);

static inline struct waiter_delay *delay_learnt_of(const struct short_delay *delay, int way)
{
    return &delay->waiter->learnt.delays[way][delay->measured];
}

/* The delay before may have something to teach that is worth the time. */
static inline int delay_is_soon_after(enum delay_code code)
{
    return code <= DELAY_CODE_FETCHED;
}

#endif
