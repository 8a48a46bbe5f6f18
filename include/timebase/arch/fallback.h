/* SPDX-License-Identifier: MIT */
/*
 * Any other processor: the operating system's raw monotonic clock is the counter, one tick a
 * nanosecond. Slower, yet every function of the library works.
 */
#ifndef TIMEBASE_ARCH_FALLBACK_H
#define TIMEBASE_ARCH_FALLBACK_H

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_OS

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    return timebase_ticks_os();
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return timebase_ticks_os();
}

TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    uint64_t ticks = timebase_arch_ticks_ordered();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
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
