/* SPDX-License-Identifier: MIT */
/*
 * s390x: the time-of-day clock. Bit 51 of the 64 counts microseconds, so a tick is 1/4096 µs by
 * architecture; it wraps in 2042, which the conversion's modular arithmetic does not notice.
 *
 * STORE CLOCK FAST is the cheap read. STORE CLOCK serialises before the value is fetched and
 * gives unique, increasing values (Principles of Operation, "STORE CLOCK").
 */
#ifndef TIMEBASE_ARCH_S390X_H
#define TIMEBASE_ARCH_S390X_H

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_S390_TOD

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    uint64_t ticks;
    __asm__ __volatile__(".insn s, 0xb27c0000, %0" : "=Q"(ticks) : : "cc");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    uint64_t ticks;
    __asm__ __volatile__("stck %0" : "=Q"(ticks) : : "cc", "memory");
    return ticks;
}

/* BCR 15,0 serialises: nothing later starts before it. */
TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    uint64_t ticks = timebase_arch_ticks_ordered();
    __asm__ __volatile__("bcr 15, 0" : : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_end(void)
{
    return timebase_arch_ticks_begin();
}

TIMEBASE_PART void timebase_arch_relax(void)
{
    __asm__ __volatile__("" : : : "memory");
}

#endif
