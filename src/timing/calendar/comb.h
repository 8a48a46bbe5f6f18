/* SPDX-License-Identifier: MIT */
/* comb: pure. Gaps in, the comb of the kernel's tick out. */
#ifndef CALENDAR_COMB_H
#define CALENDAR_COMB_H

#include <stdint.h>

#include <timebase/calendar.h>

/* Enough for a second of any tick; 16 KB. */
#define COMB_GAPS_MAX 1024

/* A time in which polling stood still. */
struct comb_gap {
    int64_t start_ns; /* monotonic, >= 0; in rising order */
    int64_t length_ns;
};

/* gaps were seen, no more than COMB_GAPS_MAX, while watching for watched_ns. */
void comb_find(const struct comb_gap *gaps, int count, int64_t watched_ns,
               struct timebase_tick_comb *out);

#endif
