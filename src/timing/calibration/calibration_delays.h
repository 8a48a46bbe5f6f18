/* SPDX-License-Identifier: MIT */
/* calibration, delays: what they take beside what they count. */
#ifndef CALIBRATION_CALIBRATION_DELAYS_H
#define CALIBRATION_CALIBRATION_DELAYS_H

#include "timing/waiter/waiter.h"

void calibrate_delays(struct waiter *waiter);

#endif
