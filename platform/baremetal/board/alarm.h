/* SPDX-License-Identifier: MIT */
/* alarm: an interrupt when the counter reaches a value, by the best that the APIC offers. */
#ifndef BOARD_ALARM_H
#define BOARD_ALARM_H

#include <stdbool.h>
#include <stdint.h>

/* The counter's ticks in one of the APIC's; and whether the timer takes deadlines. */
void alarm_begin(double ticks_per_apic_tick, bool has_deadline);

/* At this tick, or a little later. One that has passed comes at once. */
void alarm_set(uint8_t vector, uint64_t ticks);

/* No alarm comes after this. */
void alarm_clear(void);

/* Halts until the counter has reached this. */
void alarm_halt_until(uint64_t ticks);

#endif
