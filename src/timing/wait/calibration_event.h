/* SPDX-License-Identifier: MIT */
/*
 * calibration, events: the time from the sample to the event for each length of the run, which
 * gives the table; then waits at random targets. An event takes a fine reading first.
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
