/* SPDX-License-Identifier: MIT */
/*
 * calibration: the machine as waits see it. In order, since each step needs the one before:
 *
 *   warm up     until the core clock stands still, or 3 ms
 *   readings    step and phase of the counter, distances of the vernier's readings
 *   run         ticks from the clean sample to the event, by the length of the run: the table
 *   exact       waits at random targets: bias, spread, earliest; return after the event
 *   plain       the same with the polling loop
 *   delay       ticks of a run alone, by its length
 *
 * Events are measured by a fine reading as their first act. Some 3 ms after the warm-up. Means are
 * trimmed: an interrupt spoils the trials it hits, not the result.
 */
#ifndef WAIT_CALIBRATION_H
#define WAIT_CALIBRATION_H

#include "waiter.h"

/* Learn all of it. What was known of the last wait is settled first. */
void calibrate(struct waiter *waiter);

#endif
