/* SPDX-License-Identifier: MIT */
#include "bound.h"

#include "assumptions.h"

uint32_t bound_rate(struct fixed period, uint32_t ppm)
{
    struct fixed million = fixed_over(period, 1000000);
    struct fixed rate = fixed_times(million, ppm);
    return rate.ns > 0 ? UINT32_MAX : (uint32_t)(rate.frac >> 32) + 1;
}

uint32_t bound_drift_rate(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t slope = (estimator->period_error_frac >> 32) + 1;
    uint64_t sum = slope + bound_rate(estimator->period, ASSUME_DRIFT_PPM);
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

uint64_t bound_at(const struct discipline *discipline, struct fixed off, uint64_t start_ticks)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t known = (uint64_t)fixed_abs(off).ns + 1 + estimator->error_ns + ASSUME_ROUNDING_NS;
    int64_t age = (int64_t)(start_ticks - estimator->newest.ticks);
    if (age <= 0)
        return known;
    uint32_t slew = bound_rate(estimator->period, ASSUME_SLEW_PPM);
    return known + timebase_growth((uint64_t)age, bound_drift_rate(discipline)) +
        timebase_growth((uint64_t)age, slew);
}
