/* SPDX-License-Identifier: MIT */
/*
 * straight_run: the points that the estimator keeps, which lie on one straight line as closely as
 * their widths allow; and the slope that comes of them.
 */
#ifndef DISCIPLINE_STRAIGHT_RUN_H
#define DISCIPLINE_STRAIGHT_RUN_H

#include "estimator.h"

static inline uint64_t run_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The slope between two points, and how wrong their widths let it be; UINT64_MAX: 1 ns or more. */
struct fixed run_slope(const struct estimator_point *a, const struct estimator_point *b,
                       uint64_t *error_frac);

/* A first slope must be good to a part in 500; if it is not, wait for a longer baseline. */
bool run_has_good_slope(const struct estimator_point *a, const struct estimator_point *b);

/* Cut the run until it is straight up to the newest point. The last kept point always stays. */
bool run_cut(struct estimator *estimator, const struct estimator_point *newest);

/* Keep the point, if it is worth a place. */
void run_keep(struct estimator *estimator, const struct estimator_point *point);

/* What was told since the last kept point holds from there on. */
void run_note(struct estimator *estimator, const struct estimator_point *told);

/* How far a slope along the run may be from UTC's. */
uint64_t run_told(const struct estimator *estimator, struct fixed period);

/* Take the run's slope up to the newest point, if it is better than the present one. */
void run_adopt_slope(struct estimator *estimator, const struct estimator_point *newest);

#endif
