/* SPDX-License-Identifier: MIT */
/*
 * AArch64: the virtual count of the generic timer, CNTVCT_EL0.
 *
 * The read may be speculated. ISB keeps it after earlier instructions, but an earlier load need
 * not have returned its value when ISB completes; DSB ISHLD waits for the loads (Arm ARM,
 * "Ordering of reads of the counter", and B2.3 on DSB). With FEAT_ECV, CNTVCTSS_EL0 would spare the
 * ISB; it is not used, since a reader would have to test for it on every call.
 */
#ifndef TIMEBASE_ARCH_ARM64_H
#define TIMEBASE_ARCH_ARM64_H

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_ARM_VCNT

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    uint64_t ticks;
    __asm__ __volatile__("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    uint64_t ticks;
    __asm__ __volatile__("dsb ish\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_end(void)
{
    return timebase_arch_ticks_begin();
}

TIMEBASE_PART void timebase_arch_relax(void)
{
    __asm__ __volatile__("yield");
}

#endif
