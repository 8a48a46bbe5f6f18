/* SPDX-License-Identifier: MIT */
/*
 * scatter: what the samples say of the estimate's error, where the bound says what it can be.
 *
 * Each sample corrects the estimate. Corrections that widths and the slope's error explain are
 * scatter of the samples; the excess of a larger one is a change of pace, by the reference or by
 * the oscillator, and grows with the time since the sample. The largest of either is remembered for
 * some minutes: a clock is steered every minute or so.
 *
 * Pure.
 */
#ifndef DISCIPLINE_SCATTER_H
#define DISCIPLINE_SCATTER_H

#include <stdint.h>

#include "clock/line/fixed.h"

struct scatter {
    uint64_t usual; /* corrections, 2^-24 ns */
    uint64_t pace;  /* changes of pace, 2^-64 ns per tick */
};

struct scatter_sample {
    struct fixed correction; /* of the estimate */
    uint64_t ticks;          /* since the sample before */
    uint64_t elapsed_ns;     /* likewise */
    uint64_t width_ns;       /* what the two samples' widths explain of it */
    uint64_t slope_ns;       /* and the error of the slope, over the ticks */
};

void scatter_learn(struct scatter *scatter, const struct scatter_sample *sample);

/* Half of the largest usual correction, rounded up: a correction has the scatter of two samples. */
uint64_t scatter_ns(const struct scatter *scatter);

#endif
