/* SPDX-License-Identifier: MIT */
/*
 * in_code: a number that lies in the code which uses it. A compiler puts constants on a page of
 * their own; where that has gone out of the caches it takes 0.1 us and more to come.
 */
#ifndef LEARN_IN_CODE_H
#define LEARN_IN_CODE_H

#include <stdint.h>
#include <string.h>

static inline double in_code(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    __asm__("" : "+r"(bits));
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

#endif
