/* SPDX-License-Identifier: MIT */
/* calibration, calls: what surrounds an approach, how a wait ends, and what a fine reading takes. */
#ifndef WAIT_CALIBRATION_CALLS_H
#define WAIT_CALIBRATION_CALLS_H

#include "waiter.h"

void calibrate_calls(struct waiter *waiter);

/* The latter once more: calibrate_calls() does it for the last time. */
void calibrate_reading(struct waiter *waiter);

#endif
