/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <stdbool.h>

uint64_t pace_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t saturated(struct fixed length)
{
    return length.ns > 0 ? UINT64_MAX : length.frac;
}

uint64_t pace_part(struct fixed period, uint64_t ppb)
{
    return saturated(fixed_times(fixed_over(period, 1000000000), ppb));
}

static void learn(struct pace *pace, const struct pace_slope *slope, uint64_t error_frac)
{
    pace->period = slope->period;
    pace->error_frac = error_frac;
    pace->told_frac = slope->told_frac;
}

/*
 * How far the two may be apart by what was told, beyond what was measured: both may have left UTC,
 * to either side; but where neither was told to go beyond the limit, no two paces are further
 * apart.
 */
static uint64_t explained(const struct pace *pace, const struct pace_slope *slope)
{
    uint64_t both = pace_add(slope->told_frac, pace->told_frac), limit = slope->limit_frac;
    bool is_limited = slope->told_frac <= limit && pace->told_frac <= limit;
    return is_limited && limit < both ? limit : both;
}

uint64_t pace_growth(struct pace *pace, const struct pace_slope *slope)
{
    uint64_t error_frac = pace_add(slope->error_frac, slope->told_frac);
    if (pace->period.ns == 0 && pace->period.frac == 0)
        learn(pace, slope, error_frac);
    uint64_t apart = saturated(fixed_abs(fixed_subtract(slope->period, pace->period)));
    uint64_t measured = pace_add(slope->error_frac, pace->error_frac - pace->told_frac);
    if (apart > pace_add(measured, explained(pace, slope))) {
        uint64_t untold = pace_add(apart, pace->error_frac);
        return untold == UINT64_MAX ? UINT64_MAX : untold - slope->error_frac;
    }
    if (error_frac < pace->error_frac)
        learn(pace, slope, error_frac);
    return slope->told_frac;
}
