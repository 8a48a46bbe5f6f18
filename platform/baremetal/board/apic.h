/* SPDX-License-Identifier: MIT */
/*
 * apic: the local APIC's timer (Intel SDM vol. 3A, "Advanced Programmable Interrupt Controller").
 *
 *     apic_begin();
 *     apic_arm_one_shot(VECTOR_TIMER, apic_ticks);
 *     apic_arm_deadline(VECTOR_TIMER, tsc_ticks);       // if the processor has it
 *     halt_for_interrupt();                             // timer_count and timer_ticks have changed
 *     apic_disarm();
 */
#ifndef BOARD_APIC_H
#define BOARD_APIC_H

#include <stdint.h>

/* Registers in memory; the entry code uses it, too. */
extern volatile uint32_t *apic_registers;

/* How often the timer has come, and the counter when it last did: written by its interrupt. */
extern volatile uint32_t timer_count;
extern volatile uint64_t timer_ticks;

/* Switched on in memory, whatever the firmware left; the timer stopped. */
void apic_begin(void);

/* Counts down at the APIC's own frequency, undivided. Returns the counter just before it begins. */
uint64_t apic_arm_one_shot(uint8_t vector, uint32_t apic_ticks);
void apic_arm_periodic(uint8_t vector, uint32_t apic_ticks);

/* When the counter reaches this; at once if it has. */
void apic_arm_deadline(uint8_t vector, uint64_t ticks);

void apic_disarm(void);

/* What is left of the count; only after apic_arm_one_shot(). */
uint32_t apic_left(void);

void apic_end_of_interrupt(void);

#endif
