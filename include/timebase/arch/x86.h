/* SPDX-License-Identifier: MIT */
/*
 * x86-64 and i686: the Time Stamp Counter.
 *
 * RDTSC may execute before earlier loads have completed and after later ones have started.
 * RDTSCP waits until all previous instructions have executed and all previous loads are globally
 * visible (Intel SDM vol. 2B, RDTSCP; AMD APM vol. 3 says the same), but later instructions may
 * start before it: LFENCE after it stops them. LFENCE is dispatch serialising on Intel, and on
 * AMD since Linux sets DE_CFG bit 1 at boot.
 *
 * Both instructions clear the upper halves of RAX and RDX in 64-bit mode, so their results are
 * taken as whole registers: no instruction is spent on widening them.
 *
 * A processor without RDTSCP is served by the counter of last resort: see counter.h.
 */
#ifndef TIMEBASE_ARCH_X86_H
#define TIMEBASE_ARCH_X86_H

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_X86_TSC

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    unsigned long low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return ((uint64_t)high << 32) + low;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    unsigned long low, high;
    __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return ((uint64_t)high << 32) + low;
}

/* Everything before has completed, nothing after has begun. */
TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    unsigned long low, high;
    __asm__ __volatile__("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return ((uint64_t)high << 32) + low;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_end(void)
{
    unsigned long low, high;
    __asm__ __volatile__("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return ((uint64_t)high << 32) + low;
}

TIMEBASE_PART void timebase_arch_relax(void)
{
    __asm__ __volatile__("pause");
}

#endif
