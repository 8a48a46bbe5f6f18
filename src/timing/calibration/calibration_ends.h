/* SPDX-License-Identifier: MIT */
/* calibration, ends: from the stamp of a wait to its event, for each way that a wait may end. */
#ifndef CALIBRATION_CALIBRATION_ENDS_H
#define CALIBRATION_CALIBRATION_ENDS_H

#include "timing/waiter/waiter.h"

void calibrate_ends(struct waiter *waiter);

/*
 * A neighbour makes what lies behind a stamp an eighth longer, and comes and goes within milliseconds. By a counter
 * that steps nothing shows that later but rehearsals, which near waits have no time for: those of whole programs
 * were 4 ns early. Is it shorter at the end of a calibration than it was found? Also for a core that has become faster.
 */
int calibrate_had_neighbour(struct waiter *waiter);

#endif
