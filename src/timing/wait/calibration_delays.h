/* SPDX-License-Identifier: MIT */
/* calibration, delays: what they take beside what they count. */
#ifndef WAIT_CALIBRATION_DELAYS_H
#define WAIT_CALIBRATION_DELAYS_H

#include "waiter.h"

void calibrate_delays(struct waiter *waiter);

#endif
