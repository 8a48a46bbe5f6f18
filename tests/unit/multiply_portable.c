/* SPDX-License-Identifier: MIT */
/* The multiplication without 128-bit integers, on every processor, beside the other one. */
#ifndef TIMEBASE_PORTABLE_MULTIPLY
#define TIMEBASE_PORTABLE_MULTIPLY
#endif
#include <timebase/arithmetic.h>

#include "multiply_portable.h"

uint64_t multiply_portably(uint64_t a, uint64_t b, uint64_t *low)
{
    return timebase_multiply(a, b, low);
}
