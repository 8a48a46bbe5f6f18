/* SPDX-License-Identifier: MIT */
/*
 * stepped: a counter that shows every step-th tick only, and series of readings of it, in virtual
 * time. Instants are doubles in ticks and at least 0; the truth is known to a fraction of a tick.
 */
#ifndef TEST_STEPPED_H
#define TEST_STEPPED_H

#include "dice.h"
#include "timing/approach/approach.h"

struct stepped {
    uint64_t step, phase; /* it shows phase, phase + step, phase + 2 step, ... */
};

static inline uint64_t stepped_read(const struct stepped *counter, double instant)
{
    uint64_t tick = (uint64_t)instant + counter->step - counter->phase % counter->step;
    return tick - tick % counter->step - (counter->step - counter->phase % counter->step);
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
