/* SPDX-License-Identifier: MIT */
/* calibration, calls: what surrounds an approach, how a wait ends, and what a fine reading takes. */
#ifndef CALIBRATION_CALIBRATION_CALLS_H
#define CALIBRATION_CALIBRATION_CALLS_H

#include "timing/waiter/waiter.h"

void calibrate_calls(struct waiter *waiter);

/* The latter once more: calibrate_calls() does it for the last time. */
void calibrate_reading(struct waiter *waiter);

#endif
