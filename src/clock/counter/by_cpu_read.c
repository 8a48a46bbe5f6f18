/* SPDX-License-Identifier: MIT */
/*
 * One instruction that reads the counter and names the CPU. RDTSCP does: Linux keeps the CPU's
 * number in the lowest 12 bits of TSC_AUX. The counters of other processors agree by architecture.
 */
#include <timebase/counter.h>

#include "by_cpu.h"

#if defined(__x86_64__) || defined(__i386__)

#define CPU_MASK 0xfffu

bool by_cpu_is_possible(void)
{
    return true; /* a counter that is read at all has RDTSCP: readable.c */
}

uint64_t by_cpu_read(unsigned *cpu)
{
    unsigned long low, high, auxiliary;
    __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(auxiliary) : : "memory");
    *cpu = (unsigned)auxiliary & CPU_MASK;
    return ((uint64_t)high << 32) + low;
}

#else

bool by_cpu_is_possible(void)
{
    return false;
}

uint64_t by_cpu_read(unsigned *cpu)
{
    *cpu = 0;
    return timebase_arch_ticks_ordered();
}

#endif
