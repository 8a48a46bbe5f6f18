/* SPDX-License-Identifier: MIT */
/*
 * calibration, events: from the sample to the event by the length of the run, which gives the
 * table; then waits at random targets. Events are measured by a fine reading as their first act.
 */
#ifndef WAIT_CALIBRATION_EVENT_H
#define WAIT_CALIBRATION_EVENT_H

#include "waiter.h"

/* The table; learnt.exact tells whether one fits. */
void calibrate_run(struct waiter *waiter);

/* Waits at random targets: bias, spread, earliest. */
void calibrate_exact(struct waiter *waiter);
void calibrate_plain(struct waiter *waiter);

#endif
