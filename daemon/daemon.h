/* SPDX-License-Identifier: MIT */
/* daemon: the whole of it, from settings to the end. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "options.h"

/* Flags over the file over the defaults. Returns 0, or -1 and *problem. */
int daemon_settings(const struct options *options, struct settings *settings,
                    struct problem *problem);

/* Keeps the page until it is told to end. Returns the process' exit status. */
int daemon_run(const struct options *options, const struct settings *settings);

#endif
