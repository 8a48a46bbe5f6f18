/* SPDX-License-Identifier: MIT */
/*
 * delay: from the call to the return; the `mdelay` that the report of 1997 planned for Maruti.
 *
 * A short delay is an exact approach whose vernier begins with the call's reading: how long it is
 * from that reading to the first poll is learnt, so the counter's step matters no more than its
 * polls leave open. What is too short for a poll is a run of instructions, timed by the core clock
 * alone. A long delay is a fine reading and a wait.
 */
#ifndef WAIT_DELAY_H
#define WAIT_DELAY_H

#include "waiter.h"

struct delay {
    uint64_t start_ticks; /* the counter at the call */
    double ticks;
    unsigned flags;
    void *frame; /* not null: of approach_from() */
    struct timebase_wait_result *result;
};

/* Flags that a short one may have. */
#define DELAY_FLAGS (unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_STEADY)

/* Asks memory for what a delay needs. */
void delay_fetch(const struct waiter *waiter);

int delay_is_short(const struct waiter *waiter, const struct delay *delay);

/* Returns 0, or 1 if the call takes longer. */
int delay_short(struct waiter *waiter, const struct delay *delay);

/* A long one, from now: the wait that makes it. */
struct wait delay_as_wait(struct waiter *waiter, const struct delay *delay);

#endif
