/* SPDX-License-Identifier: MIT */
/* calibration, ends: from the stamp of a wait to its event, for each way that a wait may end. */
#ifndef CALIBRATION_CALIBRATION_ENDS_H
#define CALIBRATION_CALIBRATION_ENDS_H

#include "timing/waiter/waiter.h"

void calibrate_ends(struct waiter *waiter);

#endif
