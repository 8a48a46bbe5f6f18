/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#include <string.h>

/* Appends digits to *value while there are any: how many. Negative numbers reach further by one. */
static size_t take_digits(const char *text, size_t length, int64_t *value, bool *fits)
{
    size_t i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        *fits = *fits && !__builtin_mul_overflow(*value, 10, value) &&
            !__builtin_sub_overflow(*value, text[i] - '0', value);
    return i;
}

bool decimal_parse(const char *text, size_t length, unsigned places, int64_t *value)
{
    bool fits = true, is_negative = length > 0 && text[0] == '-';
    int64_t negated = 0;
    size_t i = is_negative || (length > 0 && text[0] == '+') ? 1 : 0;
    size_t digits = take_digits(text + i, length - i, &negated, &fits);
    i += digits;
    size_t decimals = 0;
    if (digits > 0 && i < length && text[i] == '.') {
        decimals = take_digits(text + i + 1, length - i - 1, &negated, &fits);
        i += decimals > 0 ? 1 + decimals : 0; /* "1." is left half read, and so refused */
    }
    if (digits == 0 || i != length || decimals > places)
        return false;
    for (; decimals < places; decimals++)
        fits = fits && !__builtin_mul_overflow(negated, 10, &negated);
    if (!fits || (!is_negative && negated == INT64_MIN))
        return false;
    *value = is_negative ? negated : -negated;
    return true;
}

bool decimal_next(const char **text, size_t *length, char separator, struct decimal_field *field)
{
    if (*text == NULL)
        return false;
    const char *end = memchr(*text, separator, *length);
    field->text = *text;
    field->length = end != NULL ? (size_t)(end - *text) : *length;
    *length -= field->length + (end != NULL);
    *text = end != NULL ? end + 1 : NULL;
    return true;
}
