/* SPDX-License-Identifier: MIT */
/* calibration, counted delays: what they take beside what they count, where there are such. */
#ifndef CALIBRATION_CALIBRATION_COUNTED_H
#define CALIBRATION_CALIBRATION_COUNTED_H

#include "timing/waiter/waiter.h"

/* Where the counter's steps are fine; behind all other delays. */
void calibrate_counted(struct waiter *waiter);

#endif
