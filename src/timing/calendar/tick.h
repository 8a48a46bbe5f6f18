/* SPDX-License-Identifier: MIT */
/* tick: finds the kernel's tick in the gaps of a polling loop. Pure. */
#ifndef CALENDAR_TICK_H
#define CALENDAR_TICK_H

#include <stdint.h>

#include <timebase/calendar.h>

/* Enough for a second of any tick; 16 KB. */
#define TICK_GAPS_MAX 1024

/* A time in which polling stood still. */
struct tick_gap {
    int64_t start_ns; /* monotonic, >= 0; in rising order */
    int64_t length_ns;
};

/* gaps were seen, no more than TICK_GAPS_MAX, while watching for watched_ns. */
void tick_find(const struct tick_gap *gaps, int count, int64_t watched_ns,
               struct timebase_tick_comb *out);

#endif
