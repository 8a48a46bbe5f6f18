/* SPDX-License-Identifier: MIT */
/*
 * sharing: one process of several that read a clock of the same page, and hand each other their
 * latest reading through a word that they share.
 */
#ifndef TIMEBASE_BENCH_SHARING_H
#define TIMEBASE_BENCH_SHARING_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_sharing {
    uint64_t reads;
    uint64_t backward;  /* below its own last reading, or another's that it had seen */
    int64_t worst_ns;   /* and by how much at most */
    uint64_t checks;    /* every 1,024th reading is compared with CLOCK_REALTIME */
    uint64_t outside;   /* certainly farther from CLOCK_REALTIME than maxerror */
    int64_t longest_ns; /* between two checks, by CLOCK_MONOTONIC */
};

/*
 * Reads until the time is over or the number of readings is reached; adds to *out. own and other
 * are words in shared memory, 0 at the start; other may be NULL.
 */
TIMEBASE_API void timebase_bench_share(const timebase_clock *clock, int64_t *own,
                                       const int64_t *other, uint64_t reads, int64_t for_ns,
                                       struct timebase_bench_sharing *out);

TIMEBASE_EXTERN_END

#endif
