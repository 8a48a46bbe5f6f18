/* SPDX-License-Identifier: MIT */
/* A value, or the nearer of two limits. */
#ifndef LEARN_WITHIN_H
#define LEARN_WITHIN_H

static inline double within(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
