/* SPDX-License-Identifier: MIT */
/*
 * saturate: sums that end at the largest number instead of wrapping. A bound that is too wide still
 * holds. One that has wrapped does not.
 */
#ifndef SOURCES_SATURATE_H
#define SOURCES_SATURATE_H

#include <stdint.h>

static inline uint64_t saturate_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* |a|, and |a - b|: as unsigned numbers they always fit. */
static inline uint64_t saturate_abs(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

static inline uint64_t saturate_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static inline int64_t saturate_up(int64_t a, uint64_t b)
{
    return b > (uint64_t)INT64_MAX - (uint64_t)a ? INT64_MAX : (int64_t)((uint64_t)a + b);
}

static inline int64_t saturate_down(int64_t a, uint64_t b)
{
    return b > (uint64_t)a - (uint64_t)INT64_MIN ? INT64_MIN : (int64_t)((uint64_t)a - b);
}

/* ns at a rate, rounded up. */
static inline uint64_t saturate_growth(uint64_t ns, uint64_t rate_ppb)
{
    uint64_t whole = ns / 1000000000, rest = ns % 1000000000;
    if (rate_ppb != 0 && whole > UINT64_MAX / rate_ppb)
        return UINT64_MAX;
    /* rest < 2^30; rate_ppb may have 33 bits, both of them together 63 */
    return saturate_add(whole * rate_ppb, (rest * rate_ppb + 999999999) / 1000000000);
}

#endif
