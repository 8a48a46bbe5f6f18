/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tracking.h"

#include <stddef.h>
#include <time.h>

struct sandwich {
    int64_t before_ns, kernel_ns, after_ns;
};

static int take(const timebase_clock *clock, struct sandwich *sandwich)
{
    struct timespec kernel;
    sandwich->before_ns = timebase_utc_ns(clock);
    if (clock_gettime(CLOCK_REALTIME, &kernel) != 0)
        return TIMEBASE_E_REFERENCE;
    sandwich->after_ns = timebase_utc_ns(clock);
    sandwich->kernel_ns = (int64_t)kernel.tv_sec * 1000000000 + kernel.tv_nsec;
    return TIMEBASE_OK;
}

static int64_t width(const struct sandwich *sandwich)
{
    return sandwich->after_ns - sandwich->before_ns;
}

static int narrowest(const timebase_clock *clock, uint32_t sandwiches, struct sandwich *best,
                     struct timebase_instant *now)
{
    int result = take(clock, best);
    timebase_now(clock, now);
    for (uint32_t i = 1; i < sandwiches && result == TIMEBASE_OK; i++) {
        struct sandwich next;
        result = take(clock, &next);
        if (result == TIMEBASE_OK && width(&next) < width(best)) {
            timebase_now(clock, now);
            *best = next;
        }
    }
    return result;
}

int timebase_bench_track(const timebase_clock *clock, uint32_t sandwiches,
                         struct timebase_bench_tracking *out)
{
    if (clock == NULL || out == NULL || sandwiches == 0)
        return TIMEBASE_E_INVALID;
    struct sandwich best;
    struct timebase_instant now;
    int result = narrowest(clock, sandwiches, &best, &now);
    if (result != TIMEBASE_OK)
        return result;
    out->mono_ns = now.mono_ns;
    out->error_ns = best.before_ns - best.kernel_ns + width(&best) / 2;
    out->bracket_ns = (uint64_t)(width(&best) + 1) / 2;
    out->maxerror_ns = now.maxerror_ns;
    out->esterror_ns = now.esterror_ns;
    out->status = (int32_t)(now.flags & TIMEBASE_LINE_STATUS_MASK);
    return TIMEBASE_OK;
}
