/* SPDX-License-Identifier: MIT */
/*
 * phase: a trial begins at any phase of the counter's step.
 *
 * A delay by a loop ends with a step of the counter. One that follows it by code that always takes
 * as long begins at the same phase in trial after trial: then a counter that steps by 10 ns shows a
 * spread of 1 ns, and up to half a step of bias, neither of which is a program's.
 */
#ifndef TIMEBASE_BENCH_PHASE_H
#define TIMEBASE_BENCH_PHASE_H

#include <stdint.h>

/* Takes a random while: up to some 256 cycles, longer than any step of a counter whose steps
 * matter. */
static inline void bench_pass_phases(void)
{
    enum { CYCLES = 256 };
    static uint64_t state = UINT64_C(88172645463325252);
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    for (uint64_t left = (state >> 33) % CYCLES; left > 0; left--)
        __asm__ __volatile__("" : "+r"(left));
}

#endif
