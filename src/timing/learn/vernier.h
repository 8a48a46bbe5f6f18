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
#ifndef LEARN_VERNIER_H
#define LEARN_VERNIER_H

#include <stdint.h>

#include <timebase/wait.h>

enum { VERNIER_PHASES = 64 };

struct vernier {
    double step_ticks;
    double
        half_step_ticks;   /* a reading of v stands for v to v + step - 1; their mean is v + this */
    double spacing_ticks;  /* from one reading to the next */
    double slack_ticks;    /* the widest gap that such readings leave */
    float gaps[VERNIER_PHASES]; /* ... if one is k / VERNIER_PHASES of a step further than the last */
    int readings;          /* of a fine reading: 1 where no vernier is needed */
};

/*
 * When the first of n readings was taken, relative to base. Uses them from the first on as long as
 * they agree. Returns how many that is.
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

/* Notes the gaps of n readings for all spacings. */
void vernier_note_gaps(struct vernier *vernier, int n);

/*
 * Which of the spacings base, base + more, ... count of them, leaves the narrowest gap: by half
 * that of the present one, which stays otherwise.
 */
int vernier_choose(const struct vernier *vernier, double base_ticks, double more_ticks, int count,
                   int present);

/*
 * The spacing, from how long series of readings took, of which some were held up: the mean of
 * batches, without the longest of these. Reorders them. At least two batches.
 */
enum { VERNIER_BATCH = 16 };
double vernier_spacing(double *lengths, int series, int readings);

#endif
