/* SPDX-License-Identifier: MIT */
/*
 * load: what else the processor is doing while events are dispatched: the paper's tight loops of
 * NOP and of CPUID, and worse. In steps of about a microsecond, so that they can be stopped.
 */
#ifndef TIMEBASE_BENCH_LOAD_H
#define TIMEBASE_BENCH_LOAD_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

enum timebase_bench_load {
    TIMEBASE_BENCH_LOAD_NOP = 0,      /* the best case of the paper */
    TIMEBASE_BENCH_LOAD_FENCE = 1,    /* instructions one after the other: lfence, or the like */
    TIMEBASE_BENCH_LOAD_CPUID = 2,    /* the paper's worst case; x86, leaves a virtual machine */
    TIMEBASE_BENCH_LOAD_MEMORY = 3,   /* rewrites more memory than caches hold */
    TIMEBASE_BENCH_LOAD_NOP_WALK = 4, /* NOP, and walks over data and code */
    TIMEBASE_BENCH_LOAD_CPUID_WALK = 5,
};

/* 1 if this processor can. */
TIMEBASE_API int timebase_bench_load_possible(int load);

/* One step of it, by the calling thread. */
TIMEBASE_API void timebase_bench_load_step(int load);

/*
 * A thread of its own, of the ordinary scheduling class, that does it on the CPU until stopped.
 * One at a time. Returns 0, TIMEBASE_E_INVALID, TIMEBASE_E_BUSY if there is one, or
 * TIMEBASE_E_PERMISSION if the thread could not be started or put there.
 */
TIMEBASE_API int timebase_bench_load_start(int load, int cpu);
TIMEBASE_API void timebase_bench_load_stop(void);

TIMEBASE_EXTERN_END

#endif
