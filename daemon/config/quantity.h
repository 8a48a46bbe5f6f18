/* SPDX-License-Identifier: MIT */
/*
 * quantity: a decimal number with a unit, in whole multiples of the smallest. "1.5s" is 1500000000
 * ns. No locale, no floating point; a number that would have to be rounded is refused. Pure.
 */
#ifndef DAEMON_QUANTITY_H
#define DAEMON_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#include "problem.h"

enum quantity_units {
    UNITS_OF_TIME,  /* ns; "ns", "us", "ms", "s"; without one: ms */
    UNITS_OF_DRIFT, /* parts in 10^9; "ppm", "ppb"; without one: ppm */
    UNITS_OF_SIZE,  /* bytes; "k", "M", "G" of 1024 */
};

struct quantity {
    const char *noun;  /* "a time" */
    const char *range; /* for people: "100ms to 2s, such as 250ms" */
    enum quantity_units units;
    uint64_t min, max;
};

/* Returns 0; or -1 and *problem, and *out is unchanged. */
int quantity_parse(const struct quantity *quantity, const char *text, size_t length, uint64_t *out,
                   struct problem *problem);

#endif
