/* SPDX-License-Identifier: MIT */
#include "drift.h"

#include "../src/discipline/assumptions.h"
#include "../src/discipline/bound.h"

/* Growth from the sample to the line's start, then from tick to tick. */
static void widen(struct timebase_line *line, uint64_t sampled_ticks, uint32_t rate)
{
    int64_t age = (int64_t)(line->start_ticks - sampled_ticks);
    if (age > 0)
        line->maxerror_ns += timebase_growth((uint64_t)age, rate) + 1;
    line->drift_rate = line->drift_rate > UINT32_MAX - rate ? UINT32_MAX : line->drift_rate + rate;
}

void drift_widen(struct timebase_lines *lines, const struct discipline *discipline,
                 uint32_t drift_ppb)
{
    if (drift_ppb <= ASSUME_DRIFT_PPM * 1000)
        return;
    uint32_t ppm = (drift_ppb - ASSUME_DRIFT_PPM * 1000 + 999) / 1000;
    const struct estimator *estimator = &discipline->estimator;
    uint32_t rate = bound_rate(estimator->period, ppm);
    widen(&lines->before, estimator->newest.ticks, rate);
    widen(&lines->slew, estimator->newest.ticks, rate);
    widen(&lines->after, estimator->newest.ticks, rate);
}
