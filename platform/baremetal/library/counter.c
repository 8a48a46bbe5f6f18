/* SPDX-License-Identifier: MIT */
/* In place of src/clock/counter/readable.c: nobody here may switch the counter off. */
#include <timebase/counter.h>

#include "clock/counter/by_cpu.h"

TIMEBASE_API int timebase_counter_readable = 1;

TIMEBASE_API uint64_t timebase_ticks_probe(void)
{
    return timebase_arch_ticks();
}

TIMEBASE_API uint64_t timebase_ticks_ordered_probe(void)
{
    return timebase_arch_ticks_ordered();
}

TIMEBASE_API int timebase_counter_id(void)
{
    return (int)TIMEBASE_ARCH_COUNTER;
}

/* One CPU, one counter. */
uint64_t counter_spread(void)
{
    return 0;
}
