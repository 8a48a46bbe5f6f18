/* SPDX-License-Identifier: MIT */
/*
 * Quality: 100, less what each reason takes away. Pure: the same findings, the same number.
 *
 * As a scale: 80 and more, use it; from 40, look at the reasons; below, use the kernel's
 * clock. The OS clock in the counter's place is sound but slow, and so has 60.
 */
#include "probe.h"

struct reason {
    uint32_t bit;
    int32_t penalty;
    const char *text;
};

/* In the order of the bits, which is that of their weight for the reader. */
static const struct reason table[] = {
    {TIMEBASE_REASON_UNREADABLE, 40,
     "The processor's counter cannot be read here or was not wanted; the kernel's clock stands "
     "in for it, at a higher price."},
    {TIMEBASE_REASON_WENT_BACKWARDS, 90,
     "The counter went backwards between two reads of one thread."},
    {TIMEBASE_REASON_KERNEL_DISTRUSTS, 65,
     "The kernel knows this counter and keeps time by another one: it has probably found it "
     "unstable or out of step between CPUs."},
    {TIMEBASE_REASON_VARIABLE_RATE, 65,
     "The counter follows the processor's pace: its ticks have no fixed length."},
    {TIMEBASE_REASON_STOPS_IN_IDLE, 45, "The counter may stop while the processor is deeply idle."},
    {TIMEBASE_REASON_FREQUENCY_LIES, 15,
     "The frequency that the processor, the hypervisor or the kernel states is wrong by the OS "
     "clock; the measured one is used."},
    {TIMEBASE_REASON_KERNEL_SILENT, 10,
     "What the kernel thinks of this counter is unknown: /sys or /proc does not tell."},
    {TIMEBASE_REASON_COARSE, 10, "The counter steps by more than 10 nanoseconds."},
    {TIMEBASE_REASON_EMULATED, 20,
     "A read takes more than 500 nanoseconds: it traps to a hypervisor, an emulator or the "
     "kernel."},
    {TIMEBASE_REASON_CLASS_UNKNOWN, 20,
     "Nobody says whether the counter keeps its pace when the processor changes its own."},
};

enum { TABLE_LENGTH = sizeof(table) / sizeof(table[0]) };

static uint32_t class_reasons(int counter_class)
{
    switch (counter_class) {
    case TIMEBASE_CLASS_NONE:
        return TIMEBASE_REASON_VARIABLE_RATE;
    case TIMEBASE_CLASS_CONSTANT:
        return TIMEBASE_REASON_STOPS_IN_IDLE;
    case TIMEBASE_CLASS_INVARIANT:
    case TIMEBASE_CLASS_NON_STOP:
        return 0;
    default:
        return TIMEBASE_REASON_CLASS_UNKNOWN;
    }
}

/*
 * More than 10 ns, to the nearest nanosecond: the many processors whose counter follows a clock of
 * 100 MHz that runs a little slow step by 10.
 */
static int is_coarse(const struct timebase_counter *counter)
{
    return (double)counter->granularity_ticks * 1e9 >= 10.5 * (double)counter->frequency_hz;
}

static uint32_t derived_reasons(const struct timebase_counter *counter)
{
    uint32_t reasons = class_reasons(counter->counter_class);
    if (counter->id == TIMEBASE_COUNTER_OS)
        reasons |= TIMEBASE_REASON_UNREADABLE;
    if (is_coarse(counter))
        reasons |= TIMEBASE_REASON_COARSE;
    if (counter->cost_ps > 500000)
        reasons |= TIMEBASE_REASON_EMULATED;
    return reasons;
}

void counter_judge_quality(struct timebase_counter *counter)
{
    int32_t quality = 100;
    counter->reasons |= derived_reasons(counter);
    for (int i = 0; i < TABLE_LENGTH; i++)
        if (counter->reasons & table[i].bit)
            quality -= table[i].penalty;
    counter->quality = quality > 0 ? quality : 0;
}

TIMEBASE_API const char *timebase_counter_reason(const struct timebase_counter *counter, unsigned n)
{
    if (counter == NULL)
        return NULL;
    for (int i = 0; i < TABLE_LENGTH; i++)
        if ((counter->reasons & table[i].bit) && n-- == 0)
            return table[i].text;
    return NULL;
}
