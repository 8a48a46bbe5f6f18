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

/* The beginning and the end of a lap. What they say is found when both have been taken. */
struct stopwatch_lap {
    uint64_t begin, end; /* where one reading is enough */
    struct timebase_fine_readings before, after;
};
void stopwatch_begin(struct stopwatch *watch, struct stopwatch_lap *lap);
void stopwatch_end(struct stopwatch *watch, struct stopwatch_lap *lap);

/* In ticks; less than half a second. */
double stopwatch_length(struct stopwatch *watch, const struct stopwatch_lap *lap);

/* Some time after a reading: the same, or a plain one if it was too far from its base. */
double stopwatch_check(double ticks, uint64_t base);

#endif
