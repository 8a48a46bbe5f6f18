/* SPDX-License-Identifier: MIT */
/* sample: what a driver of a reference hands to the discipline. */
#ifndef DISCIPLINE_SAMPLE_H
#define DISCIPLINE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

/* One look at the reference. ns since boot or the epoch; ticks of the page's counter. */
struct discipline_sample {
    uint64_t ticks_before;      /* read before the reference */
    uint64_t ticks_after;       /* read after it */
    uint64_t step_ticks;        /* the counter shows no finer differences; 0 counts as 1 */
    uint64_t spread_ticks;      /* any two CPUs' counters differ by no more; 0: by nothing */
    int64_t mono_ns;            /* the reference's monotonic time, between the two */
    uint64_t reference_step_ns; /* it shows no finer differences; 0 counts as 1 */
    int64_t utc_offset_ns;      /* UTC - monotonic, exact */
    int64_t suspended_ns;       /* time spent asleep since boot: CLOCK_BOOTTIME - CLOCK_MONOTONIC */
    int64_t maxerror_ns;   /* |reference - true UTC|, as it says of itself: all its terms in it */
    uint32_t maxerror_ppb; /* growth of that: so far its pace may be, or have been since the sample
                            * before, from UTC's */
    uint32_t slew_limit_ppm; /* its pace changes by no more until the next; 0: ASSUME_SLEW_PPM */
    uint32_t flags;          /* TIMEBASE_LINE_... but the status, and TAI offset: as in a line */
    bool is_synchronized;    /* the reference follows true UTC */
};

#endif
