/* SPDX-License-Identifier: MIT */
/*
 * instrument: what events are read with, the same for all methods. A fine reading of a counter that
 * steps is several readings at known distances. Calibration learns these distances, in
 * instructions: if the core's clock moves by 1 %, the last reading is half a step off; beside a
 * busy thread on the same core the readings take longer. A waiter that waits follows such changes;
 * one that only reads does not. So the instrument is calibrated anew when the clock has moved and
 * stays there, or when what disturbed the last calibration has gone.
 */
#ifndef TIMEBASE_BENCH_INSTRUMENT_H
#define TIMEBASE_BENCH_INSTRUMENT_H

#include <stdint.h>

#include <timebase.h>

#include "core.h"

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_instrument {
    struct timebase_waiter *waiter; /* only reads, never waits */
    double cycle_ticks;             /* of the core at the last calibration; 0: none yet */
    double last_cycle_ticks;        /* at the last look */
    double most_additions;          /* in a cycle, of all looks */
    uint64_t calibrations;
    double least_scatter_ticks; /* of pairs of readings, after the best calibration */
    int32_t calm_looks;         /* how many in a row agreed */
    int32_t patience;           /* how many of them it takes before the next calibration */
    int32_t disturbed;          /* 1: the last calibration was */
    int32_t reserved;
};

/*
 * `core` is what was seen just now; null: look. Some 5 ms if it calibrates, 10 to 30 the first
 * time. Returns 0, or what timebase_waiter_calibrate() says.
 */
TIMEBASE_API int timebase_bench_instrument_follow(struct timebase_bench_instrument *instrument,
                                                  const struct timebase_bench_core *core);

TIMEBASE_EXTERN_END

#endif
