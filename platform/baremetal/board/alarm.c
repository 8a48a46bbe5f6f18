/* SPDX-License-Identifier: MIT */
#include "alarm.h"

#include <timebase/counter.h>

#include "apic.h"
#include "interrupts.h"
#include "processor.h"

static double apic_per_tick;
static bool takes_deadlines;

void alarm_begin(double ticks_per_apic_tick, bool has_deadline)
{
    apic_per_tick = 1 / ticks_per_apic_tick;
    takes_deadlines = has_deadline;
}

/* A count of 0 would stop the timer. */
static uint32_t count_until(uint64_t ticks)
{
    int64_t left = (int64_t)(ticks - timebase_ticks());
    double count = left > 0 ? (double)left * apic_per_tick + 1 : 1;
    return count < 4e9 ? (uint32_t)count : 4000000000u;
}

void alarm_set(uint8_t vector, uint64_t ticks)
{
    if (takes_deadlines)
        apic_arm_deadline(vector, ticks);
    else
        apic_arm_one_shot(vector, count_until(ticks));
}

void alarm_clear(void)
{
    apic_disarm();
    /* One that was on its way is taken here, so that it is not taken for the next. */
    interrupts_on();
    __asm__ __volatile__("nop");
    interrupts_off();
}

void alarm_halt_until(uint64_t ticks)
{
    while ((int64_t)(ticks - timebase_ticks_ordered()) > 0) {
        interrupts_off();
        alarm_set(VECTOR_TIMER, ticks);
        halt_for_interrupt();
    }
    interrupts_off();
    alarm_clear();
}
