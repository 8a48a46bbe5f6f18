/* SPDX-License-Identifier: MIT */
/*
 * near_loads: an exact wait at its call that comes soon after no other, and loads all lines that it
 * needs, side by side, if there is time for that. One that is to call rehearses its call as others
 * afresh do (near_afresh.h): by one that has only been loaded it was 6 ns late.
 */
#ifndef STAGES_NEAR_LOADS_H
#define STAGES_NEAR_LOADS_H

#include "timing/hurry/hurry_loop.h"

/* At the end of a calibration: from its call such a wait needs so long, by code that is near. */
void near_loads_init(struct waiter *waiter, double first_ns, int are_there);

/* It is due; it is none; and that took too long. */
enum near_loaded { NEAR_LOADED, NEAR_NONE, NEAR_TOO_LATE };

/* If enough is left behind it, it was entered just now: to load them is no part of what it needs. */
enum near_loaded near_loads(struct hurried *asked, int64_t left);

/* The same, and where that took too long after the last pauses the loop has some turns. */
int near_loads_in_time(struct hurried *asked, int64_t left);

#endif
