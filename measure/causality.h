/* SPDX-License-Identifier: MIT */
/*
 * causality: does time ever go backwards between two cores?
 *
 *     core A                          core B
 *     reading = clock()
 *     store reading, release   --->   load reading, acquire
 *                                     own = clock()
 *
 * B has seen what A wrote, so B's reading comes after A's. If own < reading, the clock has
 * broken causality: log lines of the two cores would be in the wrong order.
 */
#ifndef TIMEBASE_BENCH_CAUSALITY_H
#define TIMEBASE_BENCH_CAUSALITY_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_causality {
    uint64_t reads;      /* readings of B that followed a new one of A */
    uint64_t violations; /* of these, smaller than A's */
    uint64_t worst;      /* the largest step back, in the row's unit */
};

/* Rows are numbered from 0. The name is NULL for a number out of range; unit "ns" or "ticks". */
TIMEBASE_API int timebase_bench_causality_rows(void);
TIMEBASE_API const char *timebase_bench_causality_name(int row);
TIMEBASE_API const char *timebase_bench_causality_unit(int row);

/*
 * Runs for about `duration_ms` with A on CPU `publisher` and B on CPU `reader`, two threads of its
 * own. Returns 0; TIMEBASE_E_INVALID if the CPUs are the same or the row is wrong;
 * TIMEBASE_E_PERMISSION if a thread could not be started or could not be put on its CPU.
 */
TIMEBASE_API int timebase_bench_causality(int row, int publisher, int reader, uint32_t duration_ms,
                                          struct timebase_bench_causality *out);

TIMEBASE_EXTERN_END

#endif
