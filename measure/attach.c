/* SPDX-License-Identifier: MIT */
#include "attach.h"

#include <timebase.h>

int timebase_bench_attach(const char *path, uint32_t rounds, double *elapsed_ns)
{
    const timebase_clock *judge = timebase_clock_default();
    for (uint32_t round = 0; round < rounds; round++) {
        timebase_clock *clock;
        int64_t before_ns = timebase_mono_ns(judge);
        int error = timebase_clock_attach(&clock, path);
        if (error != TIMEBASE_OK)
            return error;
        (void)timebase_utc_ns(clock);
        elapsed_ns[round] = (double)(timebase_mono_ns(judge) - before_ns);
        timebase_clock_detach(clock);
    }
    return TIMEBASE_OK;
}
