/* SPDX-License-Identifier: MIT */
/*
 * device_fit: how many ticks of the counter a count of a device takes, from sightings of it.
 *
 * A sighting says: between two readings of the counter the device showed this count. Where its edge
 * was awaited it came to the count within the bracket; else it may have come to it up to a count
 * earlier. So each two sightings bound the rate from both sides, for certain as long as both run
 * evenly; the straight line that fits them best is the estimate.
 *
 * Something that interrupts a reading without being seen (an SMI) makes the bracket wide. Wide
 * brackets are left out: they would be right, and tell little.
 */
#ifndef TIMEBASE_BENCH_DEVICE_FIT_H
#define TIMEBASE_BENCH_DEVICE_FIT_H

#include <stdint.h>

#include "timers.h"

struct device_sighting {
    uint64_t before, after; /* ticks */
    uint64_t count;
};

enum { DEVICE_SIGHTINGS = 1000 };

/*
 * Sorts the sightings' wide brackets out: which of them are left, the first in the order of time,
 * is in sightings[]. Returns how many.
 */
unsigned device_narrow(struct device_sighting *sightings, unsigned count);

/* Of narrow ones, in the order of time. has_edges: 1 or 0. Fewer than three show no rate. */
void device_fit(const struct device_sighting *sightings, unsigned count, int has_edges,
                struct timebase_bench_fit *out);

#endif
