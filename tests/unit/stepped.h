/* SPDX-License-Identifier: MIT */
/*
 * stepped: a counter that shows every step-th tick only, rounded down, and series of readings of it,
 * in virtual time. Instants are doubles in ticks and at least 0; the truth is known to a fraction of a tick.
 */
#ifndef TEST_STEPPED_H
#define TEST_STEPPED_H

#include <math.h>

#include "dice.h"
#include "timing/approach/approach.h"

struct stepped {
    double step, phase; /* it shows phase, phase + step, phase + 2 step, ... */
};

static inline uint64_t stepped_read(const struct stepped *counter, double instant)
{
    double steps = floor((instant - counter->phase) / counter->step);
    return (uint64_t)(counter->phase + steps * counter->step);
}

/* From `low` on, less than `range` further. */
static inline double dice_between(struct dice *dice, double low, double range)
{
    return low + range * (double)(dice_roll(dice) >> 11) / 9007199254740992.0;
}

/* The lower 32 bits, as a series keeps them. */
static inline void stepped_series(const struct stepped *counter, double first,
                                  double spacing,
                                  uint32_t readings[APPROACH_FINE])
{
    for (int k = 0; k < APPROACH_FINE; k++)
        readings[k] = (uint32_t)stepped_read(counter, first + k * spacing);
}

#endif
