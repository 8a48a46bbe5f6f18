/* SPDX-License-Identifier: MIT */
/* settings_values: how the text of each key becomes a value of the settings. */
#ifndef DAEMON_SETTINGS_VALUES_H
#define DAEMON_SETTINGS_VALUES_H

#include "settings.h"

struct settings_value {
    const char *name; /* of the key, in the configuration */
    /* Returns 0; or -1, *problem, and nothing was set. The value need not end after length. */
    int (*set)(struct settings *settings, const char *value, size_t length,
               struct problem *problem);
};

extern const struct settings_value settings_values[SETTINGS_KEYS];

#endif
