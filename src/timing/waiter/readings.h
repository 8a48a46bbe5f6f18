/* SPDX-License-Identifier: MIT */
/* readings: fine readings of the counter by a waiter, and when they were. */
#ifndef WAITER_READINGS_H
#define WAITER_READINGS_H

#include "waiter.h"

/*
 * What comes before the first of them is a part of what the reading says. One that needs no vernier
 * is a single one.
 */
static inline void waiter_read(const struct waiter *waiter, uint32_t readings[APPROACH_FINE])
{
    if (waiter_has_vernier(waiter))
        waiter->ways.fine[waiter->learnt.series](readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
}

/*
 * The same as a rehearsal's event does it, which calibrations find the ends of waits by: its
 * readings fill the end of the array, and the first comes a tick sooner than that of a fine
 * reading.
 */
static inline void waiter_read_event(const struct waiter *waiter, uint32_t readings[APPROACH_FINE])
{
    if (waiter_has_vernier(waiter))
        waiter->ways.series[waiter->learnt.series](readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
}

void waiter_intersect_event(const struct waiter *waiter, const uint32_t readings[APPROACH_FINE],
                            uint64_t base_ticks, struct timebase_fine_reading *out);

/* When the first one was, by those that agree. Returns how many do. */
int waiter_intersect(const struct waiter *waiter, const uint32_t readings[APPROACH_FINE],
                     uint64_t base_ticks, struct timebase_fine_reading *out);

/* When the last one was. */
static inline double waiter_last(const struct waiter *waiter,
                                 const uint32_t readings[APPROACH_FINE], uint64_t base_ticks)
{
    return vernier_last(&waiter->vernier, readings, waiter->vernier.readings, (uint32_t)base_ticks);
}

#endif
