/* SPDX-License-Identifier: MIT */
/* calibration_delay: what one way of short delays takes, by whole delays; waiter->calibrated_way. */
#ifndef CALIBRATION_CALIBRATION_DELAY_H
#define CALIBRATION_CALIBRATION_DELAY_H

#include "timing/waiter/waiter.h"

/* So many trials, each longer by up to so much; and what nothing follows is found so often. */
enum { CALIBRATION_DELAYS = 128, CALIBRATION_VARIED_NS = 400, CALIBRATION_ROUNDS = 3 };

/* A random while. */
void calibration_delay_pass_phases(struct waiter *waiter);

/* What one takes, stopwatch included, with or without a result; and the stopwatch alone. Ticks. */
double calibration_delay_one(struct waiter *waiter, uint64_t ns, int measured);
double calibration_delay_nothing(struct waiter *waiter);

/* The same for a chain of so many cycles. */
double calibration_delay_chain(struct waiter *waiter, uint64_t cycles);

/* What one of `ns` and more took without the stopwatch, and what it was asked to take. Ticks. */
double calibration_delay_trial(struct waiter *waiter, uint64_t ns, int measured,
                               double *asked_ticks);

/* How much longer they are than what they count; and what of it comes behind the last reading. */
double calibration_delay_fixed(struct waiter *waiter, uint64_t ns, int measured,
                               double *after_ticks);

typedef void calibration_cycles(const struct waiter *waiter, uint64_t cycles);

/* The ticks of a cycle, by what passes so many. */
double calibration_delay_cycle(const struct waiter *waiter, calibration_cycles *pass);

/* The same by what so many runs took that differ in length by so many cycles. Sorts both. */
enum { CALIBRATION_RUNS = 9, CALIBRATION_LONGER = 20000 };
double calibration_delay_cycle_of(double shorter[CALIBRATION_RUNS],
                                  double longer[CALIBRATION_RUNS]);

/* Passes so many by a chain; and one from its reading, with what hides it, to the next one. Ticks. */
void calibration_count(const struct waiter *waiter, uint64_t cycles);
double calibration_chain_ticks(const struct waiter *waiter, uint64_t cycles);

/* Between counting and the loop, which is so wide; both are seen soon. */
void calibration_begin_choice(struct waiter *waiter, double loop_ticks);

/* Sorts them. */
double calibration_delay_middle(double rounds[CALIBRATION_ROUNDS]);

#endif
