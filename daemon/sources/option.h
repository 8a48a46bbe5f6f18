/* SPDX-License-Identifier: MIT */
/* option: a driver's argument, "/dev/ptp0,error=2us,scale=utc": a place, then key=value. */
#ifndef SOURCES_OPTION_H
#define SOURCES_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decimal.h"

/* The place into out[size], and *rest after it. False: empty, or does not fit. */
bool option_place(const char *argument, const char **rest, char *out, size_t size);

/* The next key=value of *rest: 1; 0 at the end; -1: no "=" in it. */
int option_next(const char **rest, struct decimal_field *key, struct decimal_field *value);

bool option_is(const struct decimal_field *field, const char *text);

/* "500ns", "2us", "1.5ms", "8s"; not negative. False if it is anything else. */
bool option_duration(const struct decimal_field *field, uint64_t *ns);

#endif
