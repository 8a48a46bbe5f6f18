/* SPDX-License-Identifier: MIT */
/*
 * rehearsal: one approach to a target of its own, whose event is the counter's reading. It brings
 * the approach's code into the caches, and tells how long a cycle is and how well a wait would do
 * here and now: see tempo.h and choice.h.
 */
#ifndef STAGES_REHEARSAL_H
#define STAGES_REHEARSAL_H

#include "timing/waiter/waiter.h"

struct rehearsal_plan {
    int exact;          /* or by the loop */
    enum event_way way; /* a call is the reading itself; returns are read behind that. One that
                         * tells writes the last wait's result */
    int never_early;    /* by the loop: its last poll is its stamp */
};

struct rehearsal {
    double error_ticks; /* event - target; exact ones aim at it, plain ones at their own bias */
    double stamp_ticks; /* stamp to event */
    int ended_by_loop;  /* though it was to be exact */
    int is_even;        /* no poll contradicted those before it */
    int is_sound;       /* nobody else ran on this CPU meanwhile */
    uint32_t readings[APPROACH_FINE]; /* of the event; a fine counter has one */
};

/* The exact approach has been set up: run it, its event stamped. */
struct rehearsal rehearsal_run(struct waiter *waiter);

/* Set it up for a target as near as possible, and run it: by code that may be cold, so nothing is
 * learnt. */
struct rehearsal rehearsal_cold(struct waiter *waiter, struct rehearsal_plan plan);

/* The same, and learn how far apart polls and readings are, by which it is measured itself. */
struct rehearsal rehearsal_near(struct waiter *waiter, struct rehearsal_plan plan);

/* The same, and learn all that it teaches. */
void rehearsal_learn(struct waiter *waiter, struct rehearsal_plan plan);

/* By cold code the first ones wait for that to be fetched, and tell nothing about later ones. */
enum { REHEARSALS_COLD = 2 };

/* How much longer than usual one may take: the first fetches its code from far away. */
#define REHEARSAL_FIRST 4.0
#define REHEARSAL_WARM 2.0
#define REHEARSAL_HOT 1.25

/* How long one takes. One that was held up counts as twice as long, no more. */
static inline void rehearsal_follow_length(double *known, double took)
{
    enum { MEAN = 16 };
    *known += ((took < 2 * *known ? took : 2 * *known) - *known) / MEAN;
}

/*
 * Event of a fine counter. Of a stepped one it is the vernier's readings themselves. It loads and asks
 * as much as a caller's own reading does: some cores begin with that no sooner than the chain before it
 * has ended. In a shared library the word that says whether the counter is readable takes two loads,
 * and by them all calls came 1 ns too soon (Granite Rapids).
 */
struct rehearsal_reading {
    int64_t may_read;
    uint32_t *out;
};

void rehearsal_read(void *argument);

#endif
