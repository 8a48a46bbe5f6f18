/* SPDX-License-Identifier: MIT */
/* msr: model-specific registers (Intel SDM vol. 4). */
#ifndef BOARD_MSR_H
#define BOARD_MSR_H

#include <stdbool.h>
#include <stdint.h>

#define MSR_TSC 0x10
#define MSR_APIC_BASE 0x1b
#define MSR_SMI_COUNT 0x34
#define MSR_MTRR_DEFAULT 0x2ff
#define MSR_TSC_DEADLINE 0x6e0

static inline uint64_t msr_read(uint32_t number)
{
    uint32_t low, high;
    __asm__ __volatile__("rdmsr" : "=a"(low), "=d"(high) : "c"(number) : "memory");
    return (uint64_t)high << 32 | low;
}

static inline void msr_write(uint32_t number, uint64_t value)
{
    __asm__ __volatile__("wrmsr"
                         :
                         : "a"((uint32_t)value), "d"((uint32_t)(value >> 32)), "c"(number)
                         : "memory");
}

/* False where the processor has no such register: the exception that this raises is caught. */
bool msr_try_read(uint32_t number, uint64_t *value);

/* In msr_try.S: the instruction that may fault, and where it goes on then. */
extern const char msr_try_instruction[], msr_try_failed[];

#endif
