/* SPDX-License-Identifier: MIT */
/*
 * The counter and its CPU. RDTSCP has both: Linux keeps the CPU's number in the lowest 12 bits of
 * TSC_AUX. Other processors have no such instruction: there the kernel says whether the thread was
 * moved between the two (by_cpu_rseq.h).
 *
 * Inline, for those whose speed it is; by_cpu_read() is the same as a call. A test that is the machine
 * itself has what it tries compiled to call the test (BY_CPU_IS_PRETENDED), or to go the way of the
 * other processors with a counter of the test's (BY_CPU_RSEQ_COUNTER).
 */
#ifndef COUNTER_BY_CPU_HERE_H
#define COUNTER_BY_CPU_HERE_H

#include <timebase/counter.h>

#include "by_cpu.h"

#if defined(BY_CPU_IS_PRETENDED)

uint64_t by_cpu_here(unsigned *cpu);

#elif (defined(__x86_64__) || defined(__i386__)) && !defined(BY_CPU_RSEQ_COUNTER)

#define BY_CPU_MASK 0xfffu

static inline uint64_t by_cpu_here(unsigned *cpu)
{
    unsigned long low, high, auxiliary;
    __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(auxiliary) : : "memory");
    *cpu = (unsigned)auxiliary & BY_CPU_MASK;
    return ((uint64_t)high << 32) + low;
}

#else

#include "by_cpu_rseq.h"

#if defined(BY_CPU_RSEQ_COUNTER)
uint64_t BY_CPU_RSEQ_COUNTER(void);
#else
#define BY_CPU_RSEQ_COUNTER timebase_arch_ticks_ordered
#endif

static inline uint64_t by_cpu_here(unsigned *cpu)
{
    return by_cpu_by_rseq(BY_CPU_RSEQ_COUNTER, cpu);
}

#endif

#endif
