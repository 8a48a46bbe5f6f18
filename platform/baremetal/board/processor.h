/* SPDX-License-Identifier: MIT */
/* processor: what it says of itself, its interrupt flag, and its caches. */
#ifndef BOARD_PROCESSOR_H
#define BOARD_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

struct processor {
    char vendor[13];
    char brand[49];
    char hypervisor[13]; /* empty: none is admitted */
    uint32_t signature;  /* family, model, stepping: CPUID 1, EAX */
    uint64_t claimed_hz; /* of the TSC, by CPUID 0x15; 0: not said */
    bool has_apic, has_rdtscp, has_deadline, is_invariant, has_smi_count;
};

/* Asked once, before anything else runs. */
void processor_ask(struct processor *processor);

static inline void interrupts_on(void)
{
    __asm__ __volatile__("sti" : : : "memory");
}

static inline void interrupts_off(void)
{
    __asm__ __volatile__("cli" : : : "memory");
}

/* Halts until an interrupt. STI takes effect an instruction later, so none can slip between. */
static inline void halt_for_interrupt(void)
{
    __asm__ __volatile__("sti\n\thlt" : : : "memory");
}

/*
 * Off: no-fill mode; what they hold is written back and dropped; the MTRRs are disabled, so that
 * all memory is uncached (Intel SDM vol. 3A, "Preventing Caching"). The report of 1997 did so.
 */
void caches_switch(bool on);

#endif
