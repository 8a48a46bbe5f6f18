/* SPDX-License-Identifier: MIT */
/*
 * drift: how fast an offset changes, from what was known of it at several times.
 *
 * Each measurement says in which range the offset was. If it changes steadily, a straight line
 * passes through all ranges; what no such line does is not possible. Where there is none at all the
 * offset has jumped: the counter was set, or stood still for a while.
 */
#ifndef SYNC_DRIFT_H
#define SYNC_DRIFT_H

#include "skew.h"

/* 1,000 ppm: more is no drift, but a counter that stands still now and then. */
#define DRIFT_MOST 1e-3
#define DRIFT_UNKNOWN ((struct drift_rate){-DRIFT_MOST, DRIFT_MOST})

/* Ticks that the offset grows by in a tick: certainly between these. */
struct drift_rate {
    double low, high;
};

/* One more measurement, at this tick of the first CPU; the oldest is forgotten. */
void drift_add(struct skew_drift *drift, uint64_t ticks, const struct skew_range *range);

/* DRIFT_UNKNOWN: fewer than two measurements. low > high: no steady drift, it has jumped. */
struct drift_rate drift_of(const struct skew_drift *drift);

#endif
