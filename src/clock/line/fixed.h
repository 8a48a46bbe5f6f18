/* SPDX-License-Identifier: MIT */
/*
 * fixed: nanoseconds with 64 binary places, ns + frac / 2^64, as two's complement of 128 bits.
 *
 * Code that writes lines, or works them out exactly, keeps times and lengths of ticks in this form.
 * No floating point (the same code is to run in a kernel) and no 128-bit integers (32-bit compilers
 * have none).
 */
#ifndef LINE_FIXED_H
#define LINE_FIXED_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/arithmetic.h>

struct fixed {
    int64_t ns; /* rounded down */
    uint64_t frac;
};

static inline struct fixed fixed_from_ns(int64_t ns)
{
    struct fixed value = {ns, 0};
    return value;
}

static inline struct fixed fixed_add(struct fixed a, struct fixed b)
{
    struct fixed sum;
    sum.frac = a.frac + b.frac;
    sum.ns = (int64_t)((uint64_t)a.ns + (uint64_t)b.ns + (sum.frac < a.frac));
    return sum;
}

static inline struct fixed fixed_negate(struct fixed a)
{
    struct fixed result;
    result.frac = -a.frac;
    result.ns = (int64_t)(~(uint64_t)a.ns + (a.frac == 0));
    return result;
}

static inline struct fixed fixed_subtract(struct fixed a, struct fixed b)
{
    return fixed_add(a, fixed_negate(b));
}

static inline bool fixed_is_negative(struct fixed a)
{
    return a.ns < 0;
}

static inline struct fixed fixed_abs(struct fixed a)
{
    return fixed_is_negative(a) ? fixed_negate(a) : a;
}

static inline bool fixed_less(struct fixed a, struct fixed b)
{
    return a.ns < b.ns || (a.ns == b.ns && a.frac < b.frac);
}

/* Nearest whole nanosecond. */
static inline int64_t fixed_round(struct fixed a)
{
    return a.ns + (int64_t)(a.frac >> 63);
}

/* period * ticks; period >= 0, and the product within the range of struct fixed. */
static inline struct fixed fixed_times(struct fixed period, uint64_t ticks)
{
    struct fixed product;
    uint64_t whole = timebase_multiply(period.frac, ticks, &product.frac);
    product.ns = (int64_t)((uint64_t)period.ns * ticks + whole);
    return product;
}

/*
 * (high * 2^64 + low) / divisor, for high < divisor: the quotient then has 64 bits. Restoring
 * division, one bit a round; `carry` is the 65th bit of the running remainder.
 */
static inline uint64_t fixed_quotient(uint64_t high, uint64_t low, uint64_t divisor)
{
    uint64_t quotient = 0;
    for (int bit = 0; bit < 64; bit++) {
        bool carry = high >> 63;
        high = (high << 1) | (low >> 63);
        low <<= 1;
        quotient <<= 1;
        if (carry || high >= divisor) {
            high -= divisor;
            quotient |= 1;
        }
    }
    return quotient;
}

/* value / ticks, rounded down; value >= 0, ticks > 0. */
static inline struct fixed fixed_over(struct fixed value, uint64_t ticks)
{
    uint64_t ns = (uint64_t)value.ns;
    struct fixed result;
    result.ns = (int64_t)(ns / ticks);
    result.frac = fixed_quotient(ns % ticks, value.frac, ticks);
    return result;
}

/* Whole ticks of this period in a time; period > 0, ns below 2^32. Those of 10^9 ns: Hz. */
static inline uint64_t fixed_ticks(struct fixed period, uint64_t ns)
{
    uint64_t length = ((uint64_t)period.ns << 32) | (period.frac >> 32);
    return (ns << 32) / length;
}

#endif
