/* SPDX-License-Identifier: MIT */
/*
 * core: how fast the core runs now, and how much of it this thread has.
 *
 * An addition that waits for the one before it takes a cycle of the core, whoever else uses the
 * core: so its time in ticks follows the core's clock. Additions that wait for nothing share the
 * adders with the core's other thread. While that thread is busy, fewer of them fit into a cycle.
 * This shows the other thread even if it belongs to another virtual machine, which no file shows.
 */
#ifndef TIMEBASE_BENCH_CORE_H
#define TIMEBASE_BENCH_CORE_H

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_core {
    double cycle_ticks;    /* of an addition that waits for the one before */
    double add_ticks;      /* of one of many that do not */
    double add_most_ticks; /* the same in the slowest part of the look: a neighbour may come and go
                            * within it */
};

/* Takes some 20 us. The first two are the best of some, so that an interrupt does not look like a
 * neighbour. */
TIMEBASE_API void timebase_bench_core_look(struct timebase_bench_core *out);

TIMEBASE_EXTERN_END

#endif
