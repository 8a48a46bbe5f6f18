/* SPDX-License-Identifier: MIT */
#include "by_cpu_here.h"

uint64_t by_cpu_read(unsigned *cpu)
{
    return by_cpu_here(cpu);
}

#if defined(BY_CPU_MASK)

bool by_cpu_is_possible(void)
{
    return true; /* a counter that is read at all has RDTSCP: readable.c */
}

#else

/* Not before glibc 2.35, not with another C library, not in an emulator of programs, and not where
 * somebody has told glibc to leave it (GLIBC_TUNABLES=glibc.pthread.rseq=0). */
bool by_cpu_is_possible(void)
{
    const uint32_t *rseq = rseq_here();
    return rseq != NULL && (int32_t)rseq_cpu(rseq) >= 0;
}

#endif
