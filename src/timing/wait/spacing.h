/* SPDX-License-Identifier: MIT */
/*
 * spacing: how far apart the vernier's readings are, in cycles. It is no property of the code alone: a
 * thread on the same core makes a reading take a fifth longer, though a cycle is as long as before. So
 * each series of readings tells how far apart they were. Pure.
 *
 * A series of sixteen on a counter that steps by 26 ticks shows it to half a tick. What is near is
 * averaged, over 256 at most. Four in a row that are far off on the same side are believed: the
 * neighbour has come or gone, or the calibration was held up. The nearest of them is, as the others
 * may have been held up besides.
 */
#ifndef WAIT_SPACING_H
#define WAIT_SPACING_H

#include <stdint.h>

struct spacing {
    double cycles; /* as believed */
    int count;     /* of what that is the mean */
    int far;       /* how many of the last ones were far off on one side */
    double least;  /* by how many ticks the nearest of these was */
};

/* From a calibration. */
void spacing_init(struct spacing *spacing, double cycles);

/* The slope of n readings: ticks from one to the next. n > 1. */
double spacing_of_readings(const uint32_t *readings, int n);

/* A series' readings were so many ticks apart, while a cycle was so many ticks. */
void spacing_learn(struct spacing *spacing, double ticks, double cycle_ticks);

#endif
