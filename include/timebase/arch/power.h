/* SPDX-License-Identifier: MIT */
/*
 * Power, 64 bit (big and little endian) and 32 bit: the Time Base.
 *
 * MFTB is not ordered with storage accesses. SYNC waits until all earlier ones have been
 * performed and is execution synchronising: nothing after it is initiated before it completes
 * (Power ISA Book II, section 4.6.3); ISYNC afterwards also discards what was prefetched.
 *
 * Cell's erratum (whole.h) is cured on every Power: it costs a compare.
 */
#ifndef TIMEBASE_ARCH_POWER_H
#define TIMEBASE_ARCH_POWER_H

#include <timebase/arch/whole.h>

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_POWER_TB

#if defined(__powerpc64__)

TIMEBASE_PART uint64_t timebase_arch_time_base(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mfspr %0, 268" : "=r"(ticks));
    return ticks;
}

#else

/* Two halves: read again when the upper one changed between its two reads. */
TIMEBASE_PART uint64_t timebase_arch_time_base(void)
{
    uint32_t upper, lower, again;
    do {
        __asm__ __volatile__("mfspr %0, 269\n\tmfspr %1, 268\n\tmfspr %2, 269"
                             : "=r"(upper), "=r"(lower), "=r"(again));
    } while (TIMEBASE_UNLIKELY(upper != again));
    return ((uint64_t)upper << 32) | lower;
}

#endif

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    uint64_t ticks;
    TIMEBASE_ARCH_READ_WHOLE(ticks, timebase_arch_time_base());
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    __asm__ __volatile__("sync\n\tisync" : : : "memory");
    return timebase_arch_ticks();
}

TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    uint64_t ticks = timebase_arch_ticks_ordered();
    __asm__ __volatile__("isync" : : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_end(void)
{
    return timebase_arch_ticks_begin();
}

/* Lower, then medium thread priority: yields issue slots to the other hardware threads. */
TIMEBASE_PART void timebase_arch_relax(void)
{
    __asm__ __volatile__("or 1, 1, 1\n\tor 2, 2, 2");
}

#endif
