/* SPDX-License-Identifier: MIT */
/*
 * bracket: what a sample says, as a point for the estimator: at the middle tick the reference
 * showed its time, to within the point's width. Every term of the sample's own uncertainty is
 * in the width, and nowhere else.
 */
#ifndef DISCIPLINE_BRACKET_H
#define DISCIPLINE_BRACKET_H

#include "discipline.h"
#include "estimator.h"

/*
 * Length of the bracket. If it was read on two CPUs whose counters are further apart than it is
 * long, it seems to end before it began. Then its length is 0, and the width's spread covers it.
 */
uint64_t bracket_ticks(const struct discipline_sample *sample);

struct estimator_point bracket_point(const struct discipline_sample *sample, struct fixed period);

/* The length of a tick between two samples, good enough to know how wide their brackets are. */
struct fixed bracket_rough_period(const struct discipline_sample *a,
                                  const struct discipline_sample *b);

#endif
