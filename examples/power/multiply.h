/* SPDX-License-Identifier: MIT */
/*
 * The article's two ways to multiply 64 by 64 bits, mended.
 *
 * In C (listing 6) the sum of the two middle products is a bit too long for its 64-bit variable:
 * with 7 % of all operands the carry is lost, 2^32 in the upper half. timebase/arithmetic.h keeps
 * it. In assembly (listing 7) "g" lets operands be in memory, where mulhdu cannot take them: "r".
 */
#ifndef MULTIPLY_H
#define MULTIPLY_H

#include <stdint.h>

#include <timebase/arithmetic.h>

static inline void multiply_c(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    *high = timebase_multiply(a, b, low);
}

#if defined(__powerpc64__)

static inline void multiply_assembly(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    __asm__("mulhdu %0, %1, %2" : "=r"(*high) : "r"(a), "r"(b));
    __asm__("mulld %0, %1, %2" : "=r"(*low) : "r"(a), "r"(b));
}
#define multiply multiply_assembly

#else

#define multiply multiply_c

#endif

#endif
