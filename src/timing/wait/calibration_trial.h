/* SPDX-License-Identifier: MIT */
/* calibration, trials: the random targets of a calibration's trials. */
#ifndef WAIT_CALIBRATION_TRIAL_H
#define WAIT_CALIBRATION_TRIAL_H

#include "waiter.h"

/* Numerical Recipes' generator: the phases of the trials need no better. */
static inline uint32_t calibration_random(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)*seed * limit) >> 32);
}

/* 80 to 280 ns, and a tick at least. */
static inline uint64_t calibration_some_ticks(const struct waiter *waiter, uint32_t *seed)
{
    double ticks = 1 / waiter->learnt.period_ns;
    return 1 + (uint64_t)(80 * ticks) + calibration_random(seed, (uint32_t)(200 * ticks) + 2);
}

#endif
