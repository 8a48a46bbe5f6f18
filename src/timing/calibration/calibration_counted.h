/* SPDX-License-Identifier: MIT */
/* calibration, counted delays: what they take beside what they count, where there are such. */
#ifndef CALIBRATION_CALIBRATION_COUNTED_H
#define CALIBRATION_CALIBRATION_COUNTED_H

#include "timing/waiter/waiter.h"

/* Where the counter's steps are fine; behind all other delays. */
void calibrate_counted(struct waiter *waiter);

/* What the first of two chains takes beside what it counts, from one reading to the next. Cycles. */
double calibration_counted_first(struct waiter *waiter);

#endif
