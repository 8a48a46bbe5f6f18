/* SPDX-License-Identifier: MIT */
/*
 * counter_step: what a reading of this machine's counter may lag behind, as the kernel's reference
 * finds it. A reference made up by a test has to say it, too: emulated counters step by a
 * microsecond.
 */
#ifndef TEST_COUNTER_STEP_H
#define TEST_COUNTER_STEP_H

#include <string.h>

#include "clock/counter/probe.h"

static inline uint64_t counter_step_ticks(void)
{
    static uint64_t step_ticks;
    if (step_ticks == 0) {
        struct timebase_counter counter;
        memset(&counter, 0, sizeof(counter));
        counter_find_granularity(&counter);
        step_ticks = counter_largest_step(&counter);
    }
    return step_ticks;
}

#endif
