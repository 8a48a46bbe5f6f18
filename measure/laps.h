/* SPDX-License-Identifier: MIT */
/* laps: times nothing, or a little known work, many times by the stopwatch. */
#ifndef TIMEBASE_BENCH_LAPS_H
#define TIMEBASE_BENCH_LAPS_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/*
 * Calibrates *watch on the calling thread and times `laps` laps around a chain of `additions`
 * dependent additions (0: an empty lap). Fills ns[laps]. Returns 0 or TIMEBASE_E_INVALID.
 */
TIMEBASE_API int timebase_bench_laps(struct timebase_stopwatch *watch, uint32_t laps,
                                     uint32_t additions, double *ns);

TIMEBASE_EXTERN_END

#endif
