/* SPDX-License-Identifier: MIT */
/* tracking: how far the clock is from CLOCK_REALTIME, by the narrowest of many sandwiches. */
#ifndef TIMEBASE_BENCH_TRACKING_H
#define TIMEBASE_BENCH_TRACKING_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_tracking {
    int64_t mono_ns;      /* when */
    int64_t error_ns;     /* timebase UTC - CLOCK_REALTIME, at the middle of the sandwich */
    uint64_t bracket_ns;  /* half its width: error_ns is wrong by no more than this */
    uint64_t maxerror_ns; /* the bound that the clock gave with it */
    uint64_t esterror_ns; /* the estimate that it gave with it */
    int32_t status;       /* enum timebase_status */
};

/*
 * Takes `sandwiches` of [utc, clock_gettime, utc] and keeps the narrowest: one with an interrupt or
 * a renewal of the clock is wider, and so is not kept. About 0.1 µs each. The other members are of a
 * reading that follows the sandwich at once: both errors grow with time, and a renewal makes them
 * small again, so later ones would be of another reading. Returns 0, TIMEBASE_E_INVALID or
 * TIMEBASE_E_REFERENCE.
 */
TIMEBASE_API int timebase_bench_track(const timebase_clock *clock, uint32_t sandwiches,
                                      struct timebase_bench_tracking *out);

TIMEBASE_EXTERN_END

#endif
