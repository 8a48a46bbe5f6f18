/* SPDX-License-Identifier: MIT */
/*
 * The counter and the CPU that it was read on, where no instruction has both: by the mark of the
 * thread's restartable sequence (rseq.h).
 *
 *     set the mark, take the CPU's number, read the counter; does the mark stand? Else once more.
 *
 * While it stands the thread was not off the processor, so the number is that of the counter's CPU.
 * To compare the numbers of before and after would not do: a thread may have been away and back.
 */
#ifndef COUNTER_BY_CPU_RSEQ_H
#define COUNTER_BY_CPU_RSEQ_H

#include <stdbool.h>
#include <stdint.h>

#include "by_cpu.h"
#include "rseq.h"

/*
 * An attempt takes as long as a reading and some stores. A thread that is disturbed in each of so
 * many has other troubles; it reads the kernel's clock, as on a CPU without lines.
 */
enum { BY_CPU_RSEQ_ATTEMPTS = 100 };

#define BY_CPU_RSEQ_PART static inline __attribute__((always_inline))

/* False: something came in between. A mark that is somebody's already is his to clear. */
BY_CPU_RSEQ_PART bool by_cpu_rseq_attempt(uint32_t *rseq, uint64_t (*ordered_ticks)(void),
                                          unsigned *cpu, uint64_t *ticks)
{
    bool is_others = rseq_has_mark(rseq);
    if (!is_others)
        rseq_set_mark(rseq);
    *cpu = rseq_cpu(rseq);
    *ticks = ordered_ticks();
    bool stands = rseq_has_mark(rseq);
    if (!is_others)
        rseq_clear_mark(rseq);
    return stands;
}

/* As by_cpu_read(); the reading of the counter is named, so that a test can watch it. */
BY_CPU_RSEQ_PART uint64_t by_cpu_by_rseq(uint64_t (*ordered_ticks)(void), unsigned *cpu)
{
    uint64_t ticks;
    uint32_t *rseq = rseq_here();
    for (int i = 0; rseq != NULL && i < BY_CPU_RSEQ_ATTEMPTS; i++)
        if (by_cpu_rseq_attempt(rseq, ordered_ticks, cpu, &ticks))
            return ticks;
    *cpu = BY_CPU_UNKNOWN;
    return ordered_ticks();
}

#endif
