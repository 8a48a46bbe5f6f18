/* SPDX-License-Identifier: MIT */
/* calibration, calls: from the event to the return of a wait, and what a fine reading takes. */
#ifndef WAIT_CALIBRATION_CALLS_H
#define WAIT_CALIBRATION_CALLS_H

#include "waiter.h"

void calibrate_calls(struct waiter *waiter);

#endif
