/* SPDX-License-Identifier: MIT */
#include "quantity.h"

#include <stdbool.h>
#include <string.h>

/* A number below this can be multiplied by ten and take a digit. */
#define NUMBER_MAX (UINT64_MAX / 10 - 1)

struct unit {
    const char *name;
    uint64_t multiple; /* of the smallest */
};

/* The first one is for numbers without a unit. */
static const struct unit units[][5] = {
    [UNITS_OF_TIME] = {{"ms", 1000000}, {"ns", 1}, {"us", 1000}, {"s", 1000000000}, {NULL, 0}},
    [UNITS_OF_DRIFT] = {{"ppm", 1000}, {"ppb", 1}, {NULL, 0}},
    [UNITS_OF_SIZE] = {{"", 1},
                       {"k", (uint64_t)1 << 10},
                       {"M", (uint64_t)1 << 20},
                       {"G", (uint64_t)1 << 30},
                       {NULL, 0}},
};

static const struct unit *unit_named(const struct unit *table, const char *name, size_t length)
{
    if (length == 0)
        return table;
    for (; table->name != NULL; table++)
        if (strlen(table->name) == length && memcmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

/* digits / scale, scale a power of ten. */
struct decimal {
    uint64_t digits;
    uint64_t scale;
};

/* Reads "12.5": how many characters, 0 if there is no number or one too long. */
static size_t read_decimal(const char *text, size_t length, struct decimal *out)
{
    size_t at = 0;
    unsigned digits = 0;
    bool is_fraction = false;
    out->digits = 0;
    out->scale = 1;
    for (; at < length; at++) {
        if (text[at] == '.' && !is_fraction && digits > 0) {
            is_fraction = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9')
            break;
        if (out->digits > NUMBER_MAX || out->scale > NUMBER_MAX)
            return 0;
        out->digits = out->digits * 10 + (uint64_t)(text[at] - '0');
        out->scale *= is_fraction ? 10 : 1;
        digits++;
    }
    bool ends_in_point = at > 0 && text[at - 1] == '.';
    return digits > 0 && !ends_in_point ? at : 0;
}

/* digits / scale * multiple, exactly; false if it is no whole number or too large. */
static bool multiply(const struct decimal *number, uint64_t multiple, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(number->digits, multiple, &product) || product % number->scale != 0)
        return false;
    *out = product / number->scale;
    return true;
}

int quantity_parse(const struct quantity *quantity, const char *text, size_t length, uint64_t *out,
                   struct problem *problem)
{
    struct decimal number;
    uint64_t value;
    int shown = (int)(length < 100 ? length : 100);
    size_t digits = read_decimal(text, length, &number);
    size_t unit_at = digits;
    while (unit_at < length && text[unit_at] == ' ')
        unit_at++;
    const struct unit *unit =
        digits > 0 ? unit_named(units[quantity->units], text + unit_at, length - unit_at) : NULL;
    if (unit == NULL)
        return problem_set(problem, "\"%.*s\" is not %s: write %s", shown, text, quantity->noun,
                           quantity->range);
    if (!multiply(&number, unit->multiple, &value) || value < quantity->min ||
        value > quantity->max)
        return problem_set(problem, "%.*s is out of range: write %s", shown, text, quantity->range);
    *out = value;
    return 0;
}
