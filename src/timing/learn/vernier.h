/* SPDX-License-Identifier: MIT */
/*
 * vernier: reads the counter more finely than its step.
 *
 * A counter that steps by s shows v for any instant in [v, v + s); where s is no whole number v is
 * rounded down, so in [v, v + s + 1). Readings at known distances o[k]
 * from the first place the first one in the intersection of all [v[k] - o[k], v[k] - o[k] + s),
 * which n readings with well-spread phases make about s/n wide: as the two scales of a vernier
 * calliper do. If the intersection is empty, the readings were not at those distances: something
 * disturbed them.
 *
 * On Zen 3 a series has one of several spacings, 4 cycles from each other, whatever the one before
 * had. Its slope says which one, or nearly so; and then the readings, as they agree with one only.
 *
 * Pure: no clock is read here.
 */
#ifndef LEARN_VERNIER_H
#define LEARN_VERNIER_H

#include <stdint.h>

#include <timebase/wait.h>

enum { VERNIER_PHASES = 64 };

/* What a spacing is for: series of so many readings that their widest gap counts; or polls, of which
 * there may be few, each of them the last. */
enum vernier_use { VERNIER_SERIES, VERNIER_POLLS, VERNIER_USES };

struct vernier {
    double step_ticks;    /* no whole number where the counter rounds what it counts */
    double span_ticks;    /* a reading of v stands for the whole ticks v to v + this */
    double spacing_ticks; /* from one reading to the next */
    double mode_ticks;    /* a series may be spaced by some of these more or less; 0: by none */
    double slack_ticks;   /* the widest gap that such readings leave */
    int readings;          /* of a fine reading: 1 where no vernier is needed */
    /* What is left open if one is k / VERNIER_PHASES of a step further than the last. */
    float open[VERNIER_USES][VERNIER_PHASES];
};

/* Of a counter that steps so far, by one reading: no spacing is known yet. */
void vernier_init(struct vernier *vernier, double step_ticks);

/*
 * When the first of n readings was taken, relative to base, and to which bound. Uses them from the first
 * on as long as they agree. Returns how many that is.
 */
int vernier_intersect(const struct vernier *vernier, const uint32_t *readings, int n, uint32_t base,
                      struct timebase_fine_reading *out);

/* When the last of them was taken: from the last one back, as their spacing may have changed meanwhile. */
double vernier_last(const struct vernier *vernier, const uint32_t *readings, int n, uint32_t base);

/* The slope of n readings: ticks from one to the next, as they show it themselves. n > 1. */
double vernier_slope(const uint32_t *readings, int n);

/*
 * The widest stretch of the counter's step that n readings at this spacing leave open: how well
 * the spacing suits the step. Between step / n and step.
 */
double vernier_gap(double step_ticks, double spacing_ticks, int n);

/*
 * What is left open of an instant, in the mean: by n readings, each instant as often; and by the first 2, 3
 * ... VERNIER_FEW of them, each number as often.
 */
enum { VERNIER_FEW = 8 };
double vernier_open(double step_ticks, double spacing_ticks, int n);
double vernier_open_of_few(double step_ticks, double spacing_ticks);

/* Notes for all spacings what is left open: by series of n readings, and by polls. */
void vernier_note_open(struct vernier *vernier, int n);

/*
 * Which of the spacings base, base + more, ... count of them, leaves least open. The present one stays
 * where that is not much: half for series, a twentieth for polls.
 */
int vernier_choose(const struct vernier *vernier, enum vernier_use use, double base_ticks,
                   double more_ticks, int count, int present);

#endif
