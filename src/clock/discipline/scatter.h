/* SPDX-License-Identifier: MIT */
/*
 * scatter: what the samples say of the estimate's error, where the bound says what it can be.
 *
 * Each sample corrects the estimate. Corrections that widths and the slope's error explain are
 * scatter of the samples; the excess of a larger one is a change of pace, by the reference or by
 * the oscillator, and grows with the time since the sample. If the next sample takes it back it was
 * scatter after all. The largest of either is remembered for some minutes: a clock is steered every
 * minute or so.
 *
 * Pure.
 */
#ifndef DISCIPLINE_SCATTER_H
#define DISCIPLINE_SCATTER_H

#include <stdint.h>

#include "clock/line/fixed.h"

struct scatter {
    uint64_t usual;      /* corrections, 2^-24 ns; 0: none is known */
    uint64_t pace;       /* changes of pace, 2^-64 ns per tick */
    uint64_t sure_pace;  /* without the newest correction: the next one decides what it was */
    struct fixed newest; /* that correction */
};

struct scatter_sample {
    struct fixed correction; /* of the estimate */
    uint64_t ticks;          /* since the sample before */
    uint64_t elapsed_ns;     /* likewise */
    uint64_t width_ns;       /* what the two samples' widths explain of it */
    uint64_t slope_ns;       /* and the error of the slope, over the ticks */
};

void scatter_learn(struct scatter *scatter, const struct scatter_sample *sample);

/*
 * Of a sample and a reading, rounded up. Half of the largest usual correction, which has the
 * scatter of two samples; and half of the counter's step, if corrections are as large.
 */
uint64_t scatter_ns(const struct scatter *scatter, uint64_t step_ns);

/*
 * The error of a slope between two points so many ticks apart, as the samples show it: the points
 * lie off their line as far as corrections are large, and not as far as their widths allow.
 */
uint64_t scatter_slope(const struct scatter *scatter, uint64_t error_frac, uint64_t widths_ns,
                       uint64_t ticks);

#endif
