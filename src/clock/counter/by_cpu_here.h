/* SPDX-License-Identifier: MIT */
/*
 * One instruction that reads the counter and names the CPU. RDTSCP does: Linux keeps the CPU's
 * number in the lowest 12 bits of TSC_AUX. The counters of other processors agree by architecture.
 *
 * Inline, for those whose speed it is; by_cpu_read() is the same as a call. A test that is the machine
 * itself has what it tries compiled to call the test (BY_CPU_IS_PRETENDED).
 */
#ifndef COUNTER_BY_CPU_HERE_H
#define COUNTER_BY_CPU_HERE_H

#include <timebase/counter.h>

#include "by_cpu.h"

#if defined(BY_CPU_IS_PRETENDED)

uint64_t by_cpu_here(unsigned *cpu);

#elif defined(__x86_64__) || defined(__i386__)

#define BY_CPU_MASK 0xfffu

static inline uint64_t by_cpu_here(unsigned *cpu)
{
    unsigned long low, high, auxiliary;
    __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(auxiliary) : : "memory");
    *cpu = (unsigned)auxiliary & BY_CPU_MASK;
    return ((uint64_t)high << 32) + low;
}

#else

static inline uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = 0;
    return timebase_arch_ticks_ordered();
}

#endif

#endif
