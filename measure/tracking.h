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
    uint64_t maxerror_ns; /* the bound that the clock gave at that time */
    int32_t status;       /* enum timebase_status */
};

/*
 * Takes `sandwiches` of [utc, clock_gettime, utc] and keeps the narrowest: one with an interrupt or
 * a renewal of the clock is wider, and so is not kept. About 0.1 µs each. Returns 0,
 * TIMEBASE_E_INVALID or TIMEBASE_E_REFERENCE.
 */
TIMEBASE_API int timebase_bench_track(const timebase_clock *clock, uint32_t sandwiches,
                                      struct timebase_bench_tracking *out);

TIMEBASE_EXTERN_END

#endif
