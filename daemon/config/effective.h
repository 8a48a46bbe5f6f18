/* SPDX-License-Identifier: MIT */
/* effective: prints the settings in force, for `timebased --check`. */
#ifndef DAEMON_EFFECTIVE_H
#define DAEMON_EFFECTIVE_H

#include <stdio.h>

#include "settings.h"

/*
 * Each key with its value and who set it, as lines that are a configuration themselves. `flags` are
 * those of the command line, which are in `settings` already. A path with " #" in it is shown as it
 * is, and no configuration can have it.
 */
void effective_settings_write(FILE *out, const struct settings *settings,
                              const struct settings *flags);

#endif
