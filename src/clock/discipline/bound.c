/* SPDX-License-Identifier: MIT */
#include "bound.h"

#include "assumptions.h"

#define PPB_PER_PPM 1000

static uint32_t narrowed(uint64_t rate)
{
    return rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
}

/* Parts in 10^9 of a tick's length; less than 2^32 ns. */
static uint64_t rate_ppb(struct fixed period, uint64_t ppb)
{
    struct fixed rate = fixed_times(fixed_over(period, 1000000000), ppb);
    return ((uint64_t)rate.ns << 32 | rate.frac >> 32) + 1;
}

uint32_t bound_rate(struct fixed period, uint32_t ppm)
{
    return narrowed(rate_ppb(period, (uint64_t)ppm * PPB_PER_PPM));
}

uint32_t bound_drift_rate(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t allowed_ppb = (uint64_t)estimator_drift_ppm(estimator) * PPB_PER_PPM;
    uint64_t slope = (estimator->period_error_frac >> 32) + 1;
    uint64_t oscillator = rate_ppb(estimator->period, allowed_ppb);
    uint64_t claim = (estimator->growth_frac >> 32) + 1;
    return narrowed(slope + oscillator + claim);
}

uint32_t bound_slew_rate(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t told_ppm = discipline->sample.slew_limit_ppm;
    uint64_t limit_ppm = told_ppm != 0 ? told_ppm : ASSUME_SLEW_PPM;
    if (limit_ppm < estimator->slew_limit_ppm)
        limit_ppm = estimator->slew_limit_ppm;
    uint64_t slew = rate_ppb(estimator->period, limit_ppm * PPB_PER_PPM);
    uint64_t claim = estimator->growth_frac >> 32;
    return narrowed(claim < slew ? slew - claim : 1);
}

bool bound_is_told(const struct discipline *discipline)
{
    return bound_drift_rate(discipline) < UINT32_MAX && bound_slew_rate(discipline) < UINT32_MAX;
}

/* The reading's usual place in its bracket may be off the middle by half of it divided by this. */
#define PLACE_PARTS 4
/* Counters of two CPUs are as far apart as was measured that they can be, divided by this. */
#define SPREAD_PARTS 16
/* In some minutes without samples an oscillator strays by its allowance divided by this. */
#define HELD_PARTS 16

static uint64_t ns_of(const struct discipline *discipline, uint64_t ticks)
{
    return (uint64_t)fixed_times(discipline->estimator.period, ticks).ns;
}

static uint64_t step_ns(const struct discipline *discipline)
{
    uint64_t ticks = discipline->sample.step_ticks;
    return ns_of(discipline, ticks > 1 ? ticks : 1);
}

static uint64_t beyond(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/*
 * What corrections do not show. First, where in its bracket the reference is usually read, and
 * where in its step: the counter's step shows, and so does a reference's that is no larger. Second,
 * what the reader's CPU has apart from the sample's. Third, how far the estimate has stopped short
 * of a wide point, up to the usual width.
 */
static uint64_t unseen_ns(const struct discipline *discipline)
{
    uint64_t usual = discipline->estimator.best_width_ns, step = step_ns(discipline);
    uint64_t reference = beyond(discipline->sample.reference_step_ns, step);
    uint64_t spread = ns_of(discipline, discipline->sample.spread_ticks);
    uint64_t left = beyond(discipline->estimator.newest.width_ns, usual);
    return (beyond(usual, step + spread) + reference) / PLACE_PARTS + spread / SPREAD_PARTS +
        (left < usual ? left : usual);
}

uint32_t bound_esterror_rate(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t seen_frac = scatter_slope(&estimator->scatter, estimator->period_error_frac,
                                        2 * estimator->best_width_ns, estimator->slope_ticks);
    uint64_t slope = (seen_frac >> 32) + 1;
    uint64_t pace = (estimator->scatter.pace >> 32) + 1;
    uint64_t strayed_ppb = (uint64_t)estimator_drift_ppm(estimator) * PPB_PER_PPM / HELD_PARTS;
    uint64_t held = discipline->is_holding ? rate_ppb(estimator->period, strayed_ppb) : 0;
    return narrowed(slope + pace + held);
}

uint64_t bound_esterror(const struct discipline *discipline, struct fixed off, uint64_t start_ticks)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t known = (uint64_t)fixed_abs(off).ns + 1 + unseen_ns(discipline) +
        scatter_ns(&estimator->scatter, step_ns(discipline));
    int64_t age = (int64_t)(start_ticks - estimator->newest.ticks);
    if (age <= 0)
        return known;
    return known + timebase_growth((uint64_t)age, bound_esterror_rate(discipline));
}

uint64_t bound_at(const struct discipline *discipline, struct fixed off, uint64_t start_ticks)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t known = (uint64_t)fixed_abs(off).ns + 1 + estimator->error_ns + ASSUME_ROUNDING_NS;
    int64_t age = (int64_t)(start_ticks - estimator->newest.ticks);
    if (age <= 0)
        return known;
    uint64_t drift = timebase_growth((uint64_t)age, bound_drift_rate(discipline));
    uint64_t slew = timebase_growth((uint64_t)age, bound_slew_rate(discipline));
    return known + drift + slew;
}
