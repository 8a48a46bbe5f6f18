/* SPDX-License-Identifier: MIT */
/* fold: gaps laid over each other with one period, and the window into which most of them fall. */
#ifndef CALENDAR_FOLD_H
#define CALENDAR_FOLD_H

#include "comb.h"

struct fold {
    const struct comb_gap *gaps;
    int count;
    int64_t period_ns;
    int64_t periods;   /* watched, whole ones */
    int window_bins;   /* the window: its width in bins, */
    int64_t window_ns; /* in ns, */
    int64_t begin_ns;  /* and the phase at which it begins */
    int inside;        /* gaps in the window */
    int64_t teeth;     /* periods with a gap in the window */
};

/* gaps, count, period_ns and periods, > 0, are given; choose the window and count. */
void fold_make(struct fold *fold);

/* Where a gap is in the window's own phase: from 0 to below the window's width if inside. */
int64_t fold_phase(const struct fold *fold, const struct comb_gap *gap);

/* A bound on the chance that noise has as many teeth in the best of all windows. */
double fold_chance(const struct fold *fold);

#endif
