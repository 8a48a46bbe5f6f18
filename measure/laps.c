/* SPDX-License-Identifier: MIT */
#include "laps.h"

#include <stddef.h>

/* Each addition needs the one before: a cycle each; the loop runs in parallel. */
static void add(uint32_t additions)
{
    uint64_t sum = additions;
    for (uint32_t i = 0; i < additions; i++) {
        sum += i;
        __asm__ __volatile__("" : "+r"(sum));
    }
}

int timebase_bench_laps(struct timebase_stopwatch *watch, uint32_t laps, uint32_t additions,
                        double *ns)
{
    int result = timebase_stopwatch_calibrate(watch, timebase_clock_default());
    if (result != TIMEBASE_OK)
        return result;
    if (ns == NULL)
        return TIMEBASE_E_INVALID;
    for (uint32_t lap = 0; lap < laps; lap++) {
        struct timebase_elapsed elapsed;
        TIMEBASE_STOPWATCH(watch, &elapsed)
        {
            if (additions != 0)
                add(additions);
        }
        ns[lap] = elapsed.ns;
    }
    return TIMEBASE_OK;
}
