/* SPDX-License-Identifier: MIT */
/*
 * interrupts: what arrives where. Nothing but the local APIC's timer is expected. Everything else,
 * exceptions among it, is named on screen and serial port, and ends the run.
 */
#ifndef BOARD_INTERRUPTS_H
#define BOARD_INTERRUPTS_H

#include <stdint.h>

enum {
    VECTOR_TIMER = 0x40,   /* entries_<processor>.S: takes a stamp, and returns */
    VECTOR_TIMEOUT = 0x41, /* a unit's time is over */
    VECTOR_SPURIOUS = 0xff,
};

/* What the entry code has on the stack: entries_<processor>.S. */
struct interrupt_frame {
#ifdef __x86_64__
    uint64_t registers[15];
#else
    uint32_t registers[8];
#endif
    uintptr_t vector, error;
    uintptr_t ip, cs, flags;
};

/* Tables loaded, the old interrupt controllers silenced; interrupts stay off. */
void interrupts_begin(void);

/*
 * What the time-out does with the interrupted code; null: it is a wild interrupt. It may change
 * where that goes on.
 */
void interrupts_on_timeout(void (*handler)(struct interrupt_frame *frame));

#endif
