/* SPDX-License-Identifier: MIT */
/* Order statistics of small arrays, without allocating. */
#ifndef LEARN_QUANTILE_H
#define LEARN_QUANTILE_H

/* Ascending; heap sort: some 10 us for 256 values, whatever their order. */
void quantile_sort(double *values, int count);

/* Of sorted values; q from 0 to 1. count > 0. */
double quantile_at(const double *sorted, int count, double q);

/* Mean without the lowest and the highest eighth. count > 0; sorts. */
double quantile_trimmed_mean(double *values, int count);

/*
 * Mean of the sorted values from one eighth of them to five eighths. For times, which every
 * disturbance makes longer. count > 0; sorts.
 */
double quantile_low_mean(double *values, int count);

/*
 * Mean of the values that are no farther than reach from the median. For lengths that were measured
 * by a stepped counter, and some of which were held up. count > 0; sorts.
 */
double quantile_mean_about(double *values, int count, double reach);

#endif
