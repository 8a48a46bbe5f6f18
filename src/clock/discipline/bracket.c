/* SPDX-License-Identifier: MIT */
#include "bracket.h"

#include "assumptions.h"

uint64_t bracket_ticks(const struct discipline_sample *sample)
{
    int64_t ticks = (int64_t)(sample->ticks_after - sample->ticks_before);
    return ticks > 0 ? (uint64_t)ticks : 0;
}

static uint64_t at_least_1(uint64_t step)
{
    return step > 1 ? step : 1;
}

/*
 * In ticks: half the bracket; the counter's step, because what the counter shows may be a step old,
 * at the sample and again at the reading; and the difference between CPUs, because the reader may
 * be on another CPU than the sample. The first period is good to a part in 500 (straight_run.c), so
 * a part in 256 is added. In ns: the reference's own step, which it may have been about to make.
 */
static uint64_t width_ns(const struct discipline_sample *sample, struct fixed period)
{
    uint64_t bracket = bracket_ticks(sample);
    uint64_t ticks = (bracket + 1) / 2 + at_least_1(sample->step_ticks) + sample->spread_ticks;
    uint64_t half_ns = (uint64_t)fixed_times(period, ticks).ns;
    return half_ns + half_ns / 256 + at_least_1(sample->reference_step_ns);
}

struct estimator_point bracket_point(const struct discipline_sample *sample, struct fixed period)
{
    int64_t bracket = (int64_t)(sample->ticks_after - sample->ticks_before);
    struct estimator_point point;
    point.ticks = sample->ticks_before + (uint64_t)(bracket / 2);
    point.ns = sample->mono_ns;
    point.width_ns = width_ns(sample, period);
    point.growth_ppb = sample->maxerror_ppb;
    point.slew_limit_ppm = sample->slew_limit_ppm != 0 ? sample->slew_limit_ppm : ASSUME_SLEW_PPM;
    return point;
}

struct fixed bracket_rough_period(const struct discipline_sample *a,
                                  const struct discipline_sample *b)
{
    uint64_t ticks = b->ticks_before - a->ticks_before;
    int64_t ns = b->mono_ns - a->mono_ns;
    return ticks == 0 || ns <= 0 ? fixed_from_ns(1) : fixed_over(fixed_from_ns(ns), ticks);
}
