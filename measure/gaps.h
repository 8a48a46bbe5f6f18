/* SPDX-License-Identifier: MIT */
/* gaps: how often and for how long something else has the CPU of a polling thread. */
#ifndef TIMEBASE_BENCH_GAPS_H
#define TIMEBASE_BENCH_GAPS_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* In ticks, except the counts. A gap is a distance of two readings, at least the threshold. */
struct timebase_bench_gaps {
    uint64_t polls;
    uint64_t elapsed;
    uint64_t gaps;
    uint64_t lost; /* sum of the gaps */
    uint64_t longest;
};

/*
 * Polls the counter for elapsed_ticks. Returns 0 or TIMEBASE_E_INVALID: a null pointer, nothing to
 * do, or a threshold of 0. If the counter stands still, this ends after elapsed_ticks polls.
 */
TIMEBASE_API int timebase_bench_poll(uint64_t elapsed_ticks, uint64_t threshold_ticks,
                                     struct timebase_bench_gaps *out);

TIMEBASE_EXTERN_END

#endif
