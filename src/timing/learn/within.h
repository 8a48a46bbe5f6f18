/* SPDX-License-Identifier: MIT */
/* A value, or the nearer of two limits; and what is beyond them. */
#ifndef LEARN_WITHIN_H
#define LEARN_WITHIN_H

/* Without a branch, as the next two. */
static inline double least_of(double a, double b)
{
    return a < b ? a : b;
}

static inline double most_of(double a, double b)
{
    return a > b ? a : b;
}

/* No farther from 0 than so much. */
static inline double no_farther(double most, double value)
{
    return most_of(0 - most, least_of(value, most));
}

static inline double within(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* What of it is more than so far from 0. */
static inline double beyond(double most, double value)
{
    return value - within(0 - most, value, most);
}

#endif
