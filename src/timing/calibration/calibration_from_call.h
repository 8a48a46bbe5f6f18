/* SPDX-License-Identifier: MIT */
/* calibration, delays that count from their call (delay_from_call.h), where there are such. */
#ifndef CALIBRATION_CALIBRATION_FROM_CALL_H
#define CALIBRATION_CALIBRATION_FROM_CALL_H

#include "timing/waiter/waiter.h"

/* Behind all other delays; where calibrate_delays() found that they begin with roots. */
void calibrate_from_call(struct waiter *waiter);

#endif
