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
    uint64_t checks;    /* comparisons with CLOCK_REALTIME, after each 1,024 readings */
    uint64_t outside;   /* certainly farther from CLOCK_REALTIME than maxerror */
    int64_t longest_ns; /* for 1,024 readings and a comparison, by CLOCK_MONOTONIC */
};

/*
 * Reads until the time is over or the number of readings is reached, by 1,024 at a time; adds to
 * *out. A comparison makes two readings more, which are not counted; while the clock promises
 * nothing, it is no check. own and other are words in shared memory, 0 at the start; other may be
 * NULL.
 */
TIMEBASE_API void timebase_bench_share(const timebase_clock *clock, int64_t *own,
                                       const int64_t *other, uint64_t reads, int64_t for_ns,
                                       struct timebase_bench_sharing *out);

TIMEBASE_EXTERN_END

#endif
