/* SPDX-License-Identifier: MIT */
/* calibration, counted delays: what they take beside what they count, where there are such. */
#ifndef WAIT_CALIBRATION_COUNTED_H
#define WAIT_CALIBRATION_COUNTED_H

#include "waiter.h"

/* Where the counter's steps are fine; behind all other delays. */
void calibrate_counted(struct waiter *waiter);

#endif
