/* SPDX-License-Identifier: MIT */
#include "gaps.h"

#include <stddef.h>

int timebase_bench_poll(uint64_t elapsed_ticks, uint64_t threshold_ticks,
                        struct timebase_bench_gaps *out)
{
    if (out == NULL || elapsed_ticks == 0 || threshold_ticks == 0)
        return TIMEBASE_E_INVALID;
    struct timebase_bench_gaps found = {0, 0, 0, 0, 0};
    uint64_t begin = timebase_ticks();
    uint64_t last = begin;
    while (found.elapsed < elapsed_ticks && found.polls < elapsed_ticks) {
        uint64_t now = timebase_ticks();
        uint64_t gap = now - last;
        if (gap >= threshold_ticks) {
            found.gaps++;
            found.lost += gap;
            if (gap > found.longest)
                found.longest = gap;
        }
        found.polls++;
        found.elapsed = now - begin;
        last = now;
    }
    *out = found;
    return TIMEBASE_OK;
}
