/* SPDX-License-Identifier: MIT */
#ifndef TEST_MULTIPLY_PORTABLE_H
#define TEST_MULTIPLY_PORTABLE_H

#include <stdint.h>

uint64_t multiply_portably(uint64_t a, uint64_t b, uint64_t *low);

#endif
