/* SPDX-License-Identifier: MIT */
/* calibration, readings: what the counter can tell, and how the vernier tells more. */
#ifndef WAIT_CALIBRATION_READINGS_H
#define WAIT_CALIBRATION_READINGS_H

#include "waiter.h"

/* Step and phase of the counter, distances of the vernier's readings. */
void calibrate_readings(struct waiter *waiter);

#endif
