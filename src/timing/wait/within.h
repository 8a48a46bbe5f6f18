/* SPDX-License-Identifier: MIT */
/* A value, or the nearer of two limits. */
#ifndef WAIT_WITHIN_H
#define WAIT_WITHIN_H

static inline double within(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
