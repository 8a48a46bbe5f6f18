/* SPDX-License-Identifier: MIT */
#include "disruption.h"

/* As after a jump: the next observation takes one off. */
#define UNRELIABLE_SAMPLES 4
/* The old pace is trusted to a part in so many: 500 ppm. */
#define PACE_PARTS 2000

void disruption_apply(struct discipline *discipline)
{
    struct estimator *estimator = &discipline->estimator;
    if (!estimator->ready)
        return;
    estimator->count = 0;
    estimator->period_error_frac = fixed_over(estimator->period, PACE_PARTS).frac + 1;
    discipline->unreliable = UNRELIABLE_SAMPLES;
}
