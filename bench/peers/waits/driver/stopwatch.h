/* SPDX-License-Identifier: MIT
 *
 * The one stopwatch for all peers: an instant, in ticks. Where the counter moves in steps that are
 * longer than what is to be seen, it takes several readings (timebase_wait_read_fine).
 */
#ifndef WAITS_STOPWATCH_H
#define WAITS_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase.h>

struct stopwatch {
    struct timebase_waiter waiter; /* its own: the peers' may track another */
    bool fine;
    double step_ticks;
    uint64_t readings;
    uint64_t uneven;    /* fine readings that were disturbed, and are good to a step only */
    double bound_ticks; /* sum over the readings of +/- */
};

/* Returns 0, or what timebase_waiter_init() says. */
int stopwatch_open(struct stopwatch *watch);

/* Fine readings count on the core clock, which moves: to be called every now and then. Some ms. */
void stopwatch_tune(struct stopwatch *watch);

/* Now, in ticks after `base`: good if that is less than half a second away. */
double stopwatch_read(struct stopwatch *watch, uint64_t base);

/* Some time after a reading: the same, or a plain one if it was too far from its base. */
double stopwatch_check(double ticks, uint64_t base);

#endif
