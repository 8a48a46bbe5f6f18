/* SPDX-License-Identifier: MIT */
#include "background.h"

#include <cpuid.h>

#include "apic.h"
#include "ports.h"
#include "processor.h"
#include "stop.h"

/* More than any first-level cache, and a stride that no line serves twice. */
enum { MEMORY_BYTES = 4 << 20, STRIDE = 64 };

/* A turn of the loops takes 0.3 ns to some us: at least a second. */
#define TURNS_MAX UINT64_C(4000000000)

static volatile char memory[MEMORY_BYTES];

#define UNTIL_TIMER(count, work)                                                                   \
    do {                                                                                           \
        interrupts_on();                                                                           \
        for (uint64_t turns = 0; timer_count == (count); turns++) {                                \
            work;                                                                                  \
            if (turns == TURNS_MAX)                                                                \
                stop("the APIC's timer makes no interrupt");                                       \
        }                                                                                          \
        interrupts_off();                                                                          \
    } while (0)

static void run_nop(uint32_t count)
{
    UNTIL_TIMER(count, __asm__ __volatile__("nop"));
}

static void run_cpuid(uint32_t count)
{
    unsigned a, b, c, d;
    UNTIL_TIMER(count, __cpuid(0, a, b, c, d));
}

static void run_memory(uint32_t count)
{
    unsigned at = 0;
    UNTIL_TIMER(count, (memory[at]++, at = (at + STRIDE) % MEMORY_BYTES));
}

static void run_ports(uint32_t count)
{
    UNTIL_TIMER(count, port_read(PORT_NOBODY));
}

static void run_pause(uint32_t count)
{
    UNTIL_TIMER(count, __asm__ __volatile__("pause"));
}

/* Nothing but an interrupt ends it: count_apic() has seen that the timer makes some. */
static void run_halt(uint32_t count)
{
    interrupts_off();
    while (timer_count == count) {
        halt_for_interrupt();
        interrupts_off();
    }
}

const struct background backgrounds[BACKGROUNDS] = {
    {"nop", run_nop},     {"cpuid", run_cpuid}, {"memory", run_memory},
    {"ports", run_ports}, {"pause", run_pause}, {"halt", run_halt},
};
