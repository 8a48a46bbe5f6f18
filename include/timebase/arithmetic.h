/* SPDX-License-Identifier: MIT */
/*
 * The one multiplication that conversion needs: the upper half of a 64 x 64 bit product.
 *
 * Where the compiler has no 128-bit integer, four 32 x 32 products are added up instead. The
 * 2007 article added the two middle products and the carry in one 64-bit variable, which can
 * overflow; here each middle product gives its lower half to the carry and its upper half to the
 * result: middle <= 3 * (2^32 - 1) < 2^34, and the result is exact. TIMEBASE_PORTABLE_MULTIPLY
 * selects this version everywhere, so that 64-bit machines test it too.
 */
#ifndef TIMEBASE_ARITHMETIC_H
#define TIMEBASE_ARITHMETIC_H

#include <stdint.h>

#include <timebase/attributes.h>

/* *low and the result are the lower and upper 64 bits of a * b. */
TIMEBASE_PART uint64_t timebase_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__SIZEOF_INT128__) && !defined(TIMEBASE_PORTABLE_MULTIPLY)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t lowest = a_low * b_low;
    uint64_t one = a_high * b_low, other = a_low * b_high;
    uint64_t middle = (lowest >> 32) + (uint32_t)one + (uint32_t)other;
    *low = (middle << 32) | (uint32_t)lowest;
    return a_high * b_high + (one >> 32) + (other >> 32) + (middle >> 32);
#endif
}

TIMEBASE_PART uint64_t timebase_multiply_high(uint64_t a, uint64_t b)
{
    uint64_t low;
    return timebase_multiply(a, b, &low);
}

#endif
