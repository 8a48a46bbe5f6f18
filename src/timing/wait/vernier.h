/* SPDX-License-Identifier: MIT */
/*
 * vernier: reads the counter more finely than its step.
 *
 * A counter that steps by s shows v for any instant in [v, v + s). Readings at known distances o[k]
 * from the first place the first one in the intersection of all [v[k] - o[k], v[k] - o[k] + s),
 * which n readings with well-spread phases make about s/n wide: as the two scales of a vernier
 * calliper do. If the intersection is empty, the readings were not at those distances: something
 * disturbed them.
 *
 * Pure: no clock is read here.
 */
#ifndef WAIT_VERNIER_H
#define WAIT_VERNIER_H

#include <stdint.h>

#include <timebase/wait.h>

struct vernier {
    double step_ticks;
    double
        half_step_ticks;   /* a reading of v stands for v to v + step - 1; their mean is v + this */
    double spacing_ticks;  /* from one reading to the next */
    double brief_spacing_ticks; /* ... of a brief sample */
    double slack_ticks[2]; /* the widest gap that a sample leaves: of all its readings, brief */
    int readings;          /* of a fine reading: 1 where no vernier is needed */
};

/*
 * When the first of n readings was taken, relative to base. Uses them from the first on as long as
 * they agree. Returns 0, or 1 if only the first was used.
 */
int vernier_intersect(const struct vernier *vernier, const uint32_t *readings, int n, uint32_t base,
                      struct timebase_fine_reading *out);

/* The slope of n readings: ticks from one to the next, as they show it themselves. n > 1. */
double vernier_slope(const uint32_t *readings, int n);

/*
 * The widest stretch of the counter's step that n readings at this spacing leave open: how well
 * the spacing suits the step. Between step / n and step.
 */
double vernier_gap(double step_ticks, double spacing_ticks, int n);

/*
 * The spacing, from how long series of readings took, of which some were held up: the mean of
 * batches, without the longest of these. Reorders them. At least two batches.
 */
enum { VERNIER_BATCH = 16 };
double vernier_spacing(double *lengths, int series, int readings);

#endif
