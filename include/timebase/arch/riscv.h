/* SPDX-License-Identifier: MIT */
/*
 * RISC-V 64: the `time` counter. (`cycle` is not a clock, and has been privileged since Linux 6.6.)
 *
 * Reading a counter CSR counts as device input, so FENCE orders it: "fence r, i" keeps it after
 * earlier loads (unprivileged ISA, Zicsr, "CSR access ordering").
 */
#ifndef TIMEBASE_ARCH_RISCV_H
#define TIMEBASE_ARCH_RISCV_H

#define TIMEBASE_ARCH_COUNTER TIMEBASE_COUNTER_RISCV_TIME

TIMEBASE_PART uint64_t timebase_arch_ticks(void)
{
    uint64_t ticks;
    __asm__ __volatile__("rdtime %0" : "=r"(ticks));
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_ordered(void)
{
    uint64_t ticks;
    __asm__ __volatile__("fence r, i\n\trdtime %0" : "=r"(ticks) : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_begin(void)
{
    uint64_t ticks;
    __asm__ __volatile__("fence rw, i\n\trdtime %0\n\tfence i, rw" : "=r"(ticks) : : "memory");
    return ticks;
}

TIMEBASE_PART uint64_t timebase_arch_ticks_end(void)
{
    return timebase_arch_ticks_begin();
}

/* PAUSE of Zihintpause, written as the hint it is so that older assemblers take it. */
TIMEBASE_PART void timebase_arch_relax(void)
{
    __asm__ __volatile__(".insn i 0x0f, 0, x0, x0, 0x010");
}

#endif
