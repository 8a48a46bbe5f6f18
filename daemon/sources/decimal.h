/* SPDX-License-Identifier: MIT */
/* decimal: numbers in other programs' output, read without a locale and without floating point. */
#ifndef SOURCES_DECIMAL_H
#define SOURCES_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * text[length] as a decimal number, times 10^places: "-1.25" with 3 places is -1250. An optional
 * minus or plus, digits, and perhaps a point and up to `places` digits; nothing else, no blanks.
 * False if it is anything else ("nan", "1e3", "1,5"), or does not fit.
 */
bool decimal_parse(const char *text, size_t length, unsigned places, int64_t *value);

/* The next field of text[0..*length): up to the separator or the end, which is taken off. */
struct decimal_field {
    const char *text;
    size_t length;
};
bool decimal_next(const char **text, size_t *length, char separator, struct decimal_field *field);

#endif
