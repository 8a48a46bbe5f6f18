/* SPDX-License-Identifier: MIT */
/* In place of src/timing/sleep/sleep_kernel.c: HLT until the APIC's timer. */
#include <stddef.h>

#include <timebase/clock.h>

#include "alarm.h"
#include "timing/sleep/sleep.h"

static int64_t now_ns(void *context)
{
    return timebase_mono_ns((const timebase_clock *)context);
}

static int sleep_until(void *context, int64_t until_ns)
{
    alarm_halt_until(timebase_ticks_at_mono((const timebase_clock *)context, until_ns));
    return 0;
}

const struct sleep_ops sleep_in_kernel = {
    .cpu_ns = NULL,
    .now_ns = now_ns,
    .sleep_until = sleep_until,
};
