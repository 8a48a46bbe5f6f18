/* SPDX-License-Identifier: MIT */
/*
 * calibration: measures the machine as waits see it. Each step needs those before it:
 *
 *   warm up     until the core clock stands still, or 3 ms
 *   readings    step and phase of the counter, distances of the vernier's readings
 *   run         ticks from the clean sample to the event, by the length of the run: the table
 *   exact       waits at random targets: bias, spread, earliest; return after the event
 *   plain       the same with the polling loop
 *   delay       ticks of a run alone, by its length
 *
 * An event takes a fine reading first. All of it takes some 3 ms after the warm-up. Means are
 * trimmed: an interrupt spoils the trials that it hits, not the result.
 */
#ifndef WAIT_CALIBRATION_H
#define WAIT_CALIBRATION_H

#include "waiter.h"

/* Learn all of it. What was known of the last wait is settled first. */
void calibrate(struct waiter *waiter);

#endif
