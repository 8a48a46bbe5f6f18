/* SPDX-License-Identifier: MIT */
#include "apic.h"

#include <stdbool.h>

#include "interrupts.h"
#include "msr.h"

enum {
    TASK_PRIORITY = 0x80,
    END_OF_INTERRUPT = 0xb0,
    SPURIOUS = 0xf0,
    TIMER = 0x320,
    LINT0 = 0x350,
    LINT1 = 0x360,
    INITIAL_COUNT = 0x380,
    CURRENT_COUNT = 0x390,
    DIVIDE = 0x3e0,
    /* Of SPURIOUS. */
    SOFTWARE_ENABLE = 0x100,
    /* Of TIMER. */
    MASKED = 1 << 16,
    PERIODIC = 1 << 17,
    DEADLINE = 1 << 18,
    /* Of DIVIDE. */
    BY_ONE = 0xb,
};

#define BASE_ENABLED (1u << 11)
#define BASE_X2 (1u << 10)

volatile uint32_t *apic_registers;
static bool is_deadline;

static void write(unsigned offset, uint32_t value)
{
    apic_registers[offset / 4] = value;
}

/* Out of x2APIC mode only by way of off: its registers are not in memory. */
void apic_begin(void)
{
    uint64_t base = msr_read(MSR_APIC_BASE);
    if (base & BASE_X2)
        msr_write(MSR_APIC_BASE, base & ~(uint64_t)(BASE_X2 | BASE_ENABLED));
    msr_write(MSR_APIC_BASE, (base & ~(uint64_t)BASE_X2) | BASE_ENABLED);
    apic_registers = (volatile uint32_t *)(uintptr_t)(base & 0xfffff000);
    write(SPURIOUS, SOFTWARE_ENABLE | VECTOR_SPURIOUS);
    write(TASK_PRIORITY, 0);
    write(LINT0, MASKED);
    write(LINT1, MASKED);
    write(DIVIDE, BY_ONE);
    apic_disarm();
}

/* The counter is read, and the very next instruction begins the count. */
static uint64_t arm(uint8_t vector, uint32_t mode, uint32_t apic_ticks)
{
    uint32_t low, high;
    is_deadline = false;
    write(TIMER, mode | vector);
    __asm__ __volatile__("rdtsc\n\tmovl %3, %2"
                         : "=&a"(low), "=&d"(high), "=m"(apic_registers[INITIAL_COUNT / 4])
                         : "r"(apic_ticks)
                         : "memory");
    return (uint64_t)high << 32 | low;
}

uint64_t apic_arm_one_shot(uint8_t vector, uint32_t apic_ticks)
{
    return arm(vector, 0, apic_ticks);
}

void apic_arm_periodic(uint8_t vector, uint32_t apic_ticks)
{
    arm(vector, PERIODIC, apic_ticks);
}

/* The fence: the mode is written to memory, the deadline is not, and the mode must come first. */
void apic_arm_deadline(uint8_t vector, uint64_t ticks)
{
    is_deadline = true;
    write(TIMER, DEADLINE | vector);
    __asm__ __volatile__("" : : : "memory");
#ifdef __x86_64__
    __asm__ __volatile__("mfence" : : : "memory");
#else
    __asm__ __volatile__("lock addl $0, (%%esp)" : : : "memory");
#endif
    msr_write(MSR_TSC_DEADLINE, ticks);
}

void apic_disarm(void)
{
    if (is_deadline)
        msr_write(MSR_TSC_DEADLINE, 0);
    is_deadline = false;
    write(INITIAL_COUNT, 0);
    write(TIMER, MASKED | VECTOR_TIMER);
}

uint32_t apic_left(void)
{
    return apic_registers[CURRENT_COUNT / 4];
}

void apic_end_of_interrupt(void)
{
    write(END_OF_INTERRUPT, 0);
}
