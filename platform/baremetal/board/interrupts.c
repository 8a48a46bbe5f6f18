/* SPDX-License-Identifier: MIT */
#include "interrupts.h"

#include <stddef.h>

#include "apic.h"
#include "json.h"
#include "msr.h"
#include "ports.h"
#include "stop.h"

enum { VECTORS = 256, EXCEPTIONS = 32, ENTRY_BYTES = 16, CODE_SELECTOR = 8, GATE = 0x8e };

extern const char interrupt_entries[]; /* VECTORS of ENTRY_BYTES each */
extern void timer_stamp(void);

#ifdef __x86_64__
enum { INTERRUPT_STACK = 1 }; /* a stack of their own: the code below uses what is under its own */

struct gate {
    uint16_t address_0;
    uint16_t selector;
    uint8_t stack;
    uint8_t type;
    uint16_t address_16;
    uint32_t address_32;
    uint32_t unused;
};

/* Intel SDM vol. 3A, "Task Management in 64-bit Mode". */
struct task_state {
    uint32_t unused_0;
    uint64_t privileged[3];
    uint64_t unused_28;
    uint64_t stacks[7];
    uint64_t unused_92;
    uint16_t unused_100, io_map;
} __attribute__((packed));

extern uint64_t gdt_task[2];
static struct task_state task_state;
static char stack[16384] __attribute__((aligned(16)));

static void load_task_state(void)
{
    uint64_t base = (uintptr_t)&task_state, limit = sizeof(task_state) - 1;
    task_state.stacks[INTERRUPT_STACK - 1] = (uintptr_t)stack + sizeof(stack);
    task_state.io_map = sizeof(task_state);
    gdt_task[0] =
        limit | (base & 0xffffff) << 16 | UINT64_C(0x89) << 40 | (base >> 24 & 0xff) << 56;
    gdt_task[1] = base >> 32;
    __asm__ __volatile__("ltr %0" : : "r"((uint16_t)24) : "memory");
}

static struct gate gate_to(uintptr_t address)
{
    return (struct gate){.address_0 = (uint16_t)address,
                         .selector = CODE_SELECTOR,
                         .stack = INTERRUPT_STACK,
                         .type = GATE,
                         .address_16 = (uint16_t)(address >> 16),
                         .address_32 = (uint32_t)(address >> 32)};
}
#else
struct gate {
    uint16_t address_0;
    uint16_t selector;
    uint8_t unused;
    uint8_t type;
    uint16_t address_16;
};

static void load_task_state(void)
{
}

static struct gate gate_to(uintptr_t address)
{
    return (struct gate){.address_0 = (uint16_t)address,
                         .selector = CODE_SELECTOR,
                         .type = GATE,
                         .address_16 = (uint16_t)(address >> 16)};
}
#endif

static struct gate gates[VECTORS];
static void (*on_timeout)(struct interrupt_frame *frame);

/*
 * The two 8259 are moved off the exceptions' vectors, so that whatever they send by mistake is
 * named rightly, and masked.
 */
static void silence_old_controllers(void)
{
    enum { FIRST = 0x20, SECOND = 0xa0, BEGIN = 0x11, MODE_8086 = 1 };
    port_write(FIRST, BEGIN);
    port_write(SECOND, BEGIN);
    port_write(FIRST + 1, 0x20);
    port_write(SECOND + 1, 0x28);
    port_write(FIRST + 1, 4);
    port_write(SECOND + 1, 2);
    port_write(FIRST + 1, MODE_8086);
    port_write(SECOND + 1, MODE_8086);
    port_write(FIRST + 1, 0xff);
    port_write(SECOND + 1, 0xff);
}

void interrupts_begin(void)
{
    struct {
        uint16_t limit;
        uintptr_t base;
    } __attribute__((packed)) pointer = {sizeof(gates) - 1, (uintptr_t)gates};
    for (int i = 0; i < VECTORS; i++)
        gates[i] = gate_to((uintptr_t)interrupt_entries + (uintptr_t)i * ENTRY_BYTES);
    gates[VECTOR_TIMER] = gate_to((uintptr_t)timer_stamp);
    load_task_state();
    __asm__ __volatile__("lidt %0" : : "m"(pointer));
    silence_old_controllers();
}

void interrupts_on_timeout(void (*handler)(struct interrupt_frame *frame))
{
    on_timeout = handler;
}

static const char *exception_name(uintptr_t vector)
{
    static const char *const names[] = {
        "division error",
        "debug exception",
        "non-maskable interrupt",
        "breakpoint",
        "overflow",
        "bound range exceeded",
        "invalid opcode",
        "no x87",
        "double fault",
        "x87 segment overrun",
        "invalid task state",
        "segment not present",
        "stack fault",
        "general protection fault",
        "page fault",
        "reserved exception",
        "x87 error",
        "misaligned access",
        "machine check",
        "SIMD error",
    };
    return vector < sizeof(names) / sizeof(names[0]) ? names[vector] : "reserved exception";
}

/* Called by the entry code, on the interrupts' stack where there is one. */
void interrupt_arrived(struct interrupt_frame *frame)
{
    if (frame->vector == 13 && frame->ip == (uintptr_t)msr_try_instruction) {
        frame->ip = (uintptr_t)msr_try_failed;
    } else if (frame->vector == VECTOR_TIMEOUT && on_timeout != NULL) {
        apic_end_of_interrupt();
        on_timeout(frame);
    } else if (frame->vector < EXCEPTIONS) {
        stop_with(exception_name(frame->vector), "at", frame->ip);
    } else if (frame->vector != VECTOR_SPURIOUS) {
        stop_with("wild interrupt", "vector", frame->vector);
    }
}
