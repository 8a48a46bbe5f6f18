/* SPDX-License-Identifier: MIT */
/*
 * tick_candidate: one period that the kernel's tick may have. The gaps are taken modulo this
 * period; the window is where most of them then lie.
 */
#ifndef CALENDAR_TICK_CANDIDATE_H
#define CALENDAR_TICK_CANDIDATE_H

#include "tick.h"

struct tick_candidate {
    const struct tick_gap *gaps;
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
void tick_candidate_measure(struct tick_candidate *candidate);

/* Where a gap is in the window's own phase: from 0 to below the window's width if inside. */
int64_t tick_candidate_phase(const struct tick_candidate *candidate, const struct tick_gap *gap);

/* A bound on the chance that noise has as many teeth in the best of all windows. */
double tick_candidate_chance(const struct tick_candidate *candidate);

#endif
