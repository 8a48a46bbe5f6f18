/* SPDX-License-Identifier: MIT */
/* calibrate: the parts of a calibration, in the order in which calibrate.c calls them. */
#ifndef WAIT_CALIBRATE_H
#define WAIT_CALIBRATE_H

#include "waiter.h"

/* Numerical Recipes' generator: the phases of the trials need no better. */
static inline uint32_t calibrate_random(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)*seed * limit) >> 32);
}

/* 80 to 280 ns, and a tick at least. */
static inline uint64_t calibrate_some_ticks(const struct waiter *waiter, uint32_t *seed)
{
    double ticks = 1 / waiter->learnt.period_ns;
    return 1 + (uint64_t)(80 * ticks) + calibrate_random(seed, (uint32_t)(200 * ticks) + 2);
}

/* Step and phase of the counter, distances of the vernier's readings. */
void calibrate_readings(struct waiter *waiter);

/* The table; learnt.exact tells whether one fits. */
void calibrate_run(struct waiter *waiter);

/* Waits at random targets: bias, spread, earliest. */
void calibrate_exact(struct waiter *waiter);
void calibrate_plain(struct waiter *waiter);

/* From the event to the return of the public functions, and what delays take. */
void calibrate_calls(struct timebase_waiter *waiter);

#endif
