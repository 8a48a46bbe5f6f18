/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <stddef.h>

static const char *line = "";

void command_line_begin(const char *text)
{
    line = text != NULL ? text : "";
}

/* Behind `word`, if the text begins with it; else null. */
static const char *behind(const char *text, const char *word)
{
    for (; *word != 0; text++, word++)
        if (*text != *word)
            return NULL;
    return text;
}

/* The values of the word name=..., or null. */
static const char *values_of(const char *name)
{
    for (const char *at = line; *at != 0;) {
        const char *end = behind(at, name);
        if (end != NULL && *end == '=')
            return end + 1;
        while (*at != 0 && *at != ' ')
            at++;
        while (*at == ' ')
            at++;
    }
    return NULL;
}

bool command_line_names(const char *name)
{
    return values_of(name) != NULL;
}

bool command_line_has(const char *name, const char *value)
{
    const char *at = values_of(name);
    while (at != NULL) {
        const char *end = behind(at, value);
        if (end != NULL && (*end == 0 || *end == ' ' || *end == ','))
            return true;
        while (*at != 0 && *at != ' ' && *at != ',')
            at++;
        at = *at == ',' ? at + 1 : NULL;
    }
    return false;
}
