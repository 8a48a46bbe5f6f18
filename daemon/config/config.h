/* SPDX-License-Identifier: MIT */
/*
 * config: the configuration file. Each line is "key = value"; # begins a comment, blanks around are
 * ignored. The keys and their values are those of settings.h.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stddef.h>

#include "settings.h"

/* The build says where: below its sysconfdir. */
#define CONFIG_DEFAULT TIMEBASED_CONFIG

/* Larger files are no configuration. */
enum { CONFIG_BYTES = 1 << 16 };

/*
 * Pure: text of so many bytes, any bytes. `file` is for messages only. Returns 0; or -1 and
 * *problem: "FILE:LINE: KEY: what is wrong: what to do" of the first line that is wrong, and
 * *settings is as it was.
 */
int config_parse(const char *text, size_t length, const char *file, struct settings *settings,
                 struct problem *problem);

/*
 * The same from a file. Returns 0; -1 and *problem; 1 if there is no such file, and nothing was
 * set.
 */
int config_read(const char *path, struct settings *settings, struct problem *problem);

#endif
