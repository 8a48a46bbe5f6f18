/* SPDX-License-Identifier: MIT */
#include "option.h"

#include <string.h>

bool option_place(const char *argument, const char **rest, char *out, size_t size)
{
    const char *comma = strchr(argument, ',');
    size_t length = comma != NULL ? (size_t)(comma - argument) : strlen(argument);
    *rest = comma != NULL ? comma + 1 : NULL;
    if (length == 0 || length >= size)
        return false;
    memcpy(out, argument, length);
    out[length] = '\0';
    return true;
}

int option_next(const char **rest, struct decimal_field *key, struct decimal_field *value)
{
    size_t length = *rest != NULL ? strlen(*rest) : 0;
    struct decimal_field option;
    if (!decimal_next(rest, &length, ',', &option))
        return 0;
    const char *equals = memchr(option.text, '=', option.length);
    if (equals == NULL)
        return -1;
    *key = (struct decimal_field){option.text, (size_t)(equals - option.text)};
    *value = (struct decimal_field){equals + 1, option.length - key->length - 1};
    return 1;
}

bool option_is(const struct decimal_field *field, const char *text)
{
    return strlen(text) == field->length && memcmp(field->text, text, field->length) == 0;
}

bool option_duration(const struct decimal_field *field, uint64_t *ns)
{
    static const struct {
        const char *name;
        unsigned places;
    } units[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t width = strlen(units[i].name);
        int64_t value;
        if (field->length <= width ||
            memcmp(field->text + field->length - width, units[i].name, width) != 0 ||
            !decimal_parse(field->text, field->length - width, units[i].places, &value) ||
            value < 0)
            continue;
        *ns = (uint64_t)value;
        return true;
    }
    return false;
}
