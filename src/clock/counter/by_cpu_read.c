/* SPDX-License-Identifier: MIT */
#include "by_cpu_here.h"

uint64_t by_cpu_read(unsigned *cpu)
{
    return by_cpu_here(cpu);
}

#if defined(__x86_64__) || defined(__i386__)

bool by_cpu_is_possible(void)
{
    return true; /* a counter that is read at all has RDTSCP: readable.c */
}

#else

bool by_cpu_is_possible(void)
{
    return false;
}

#endif
