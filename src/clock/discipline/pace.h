/* SPDX-License-Identifier: MIT */
/*
 * pace: how far a slope of the reference can be from true UTC's.
 *
 * The source of the claim tells it. A slew that no source has told shows all the same: the
 * oscillator keeps its pace, so if a slope differs from one that was UTC's, the reference is or was
 * slewed.
 *
 * Lengths of a tick in 2^-64 ns; what is 1 ns or more is UINT64_MAX.
 */
#ifndef DISCIPLINE_PACE_H
#define DISCIPLINE_PACE_H

#include <stdint.h>

#include "clock/line/fixed.h"

/* The best known length of a tick in true UTC; all zero: none is known. */
struct pace {
    struct fixed period;
    uint64_t error_frac; /* as it was when it was learnt */
    uint64_t told_frac;  /* the part of it that was told; the rest was measured */
};

struct pace_slope {
    struct fixed period;
    uint64_t error_frac; /* it is the reference's own mean pace to within this */
    uint64_t told_frac;  /* and that, by what was told, UTC's to within this */
    uint64_t limit_frac; /* any two paces of it are no further apart, unless more was told */
};

/*
 * How far the slope can be from UTC's beyond its own error, for an oscillator that keeps its pace.
 * Learns the slope if what was told explains it and it is better known than the present pace.
 */
uint64_t pace_growth(struct pace *pace, const struct pace_slope *slope);

/* a + b, at most UINT64_MAX. */
uint64_t pace_add(uint64_t a, uint64_t b);

/* So many parts in 10^9 of a length. */
uint64_t pace_part(struct fixed period, uint64_t ppb);

#endif
