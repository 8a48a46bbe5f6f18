/* SPDX-License-Identifier: MIT */
/* digits: numbers as text. */
#ifndef BOARD_DIGITS_H
#define BOARD_DIGITS_H

#include <stdint.h>

struct digits {
    char text[24];
};

struct digits digits_decimal(int64_t value);
struct digits digits_unsigned(uint64_t value);
struct digits digits_hexadecimal(uint64_t value);

/* value / 1000, with three decimals. */
struct digits digits_thousandths(int64_t value);

#endif
