/* SPDX-License-Identifier: MIT */
/* options: the command line. Every key of the configuration is a flag: --key=value. */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>

#include "settings.h"

enum options_action {
    OPTIONS_RUN,
    OPTIONS_CHECK,   /* look at the configuration and end */
    OPTIONS_HELP,    /* print options_help */
    OPTIONS_VERSION, /* print the version */
};

struct options {
    enum options_action action;
    const char *config; /* NULL: the default file, which may be missing */
    bool lock_memory;
    struct settings flags; /* those of them that were `given` */
};

extern const char options_help[];

/* The file to read: the one that was asked for, or the default. */
const char *options_config(const struct options *options);

/*
 * Returns 0; or -1 and *problem names the argument. Keeps pointers into argv; one thread at a time,
 * as getopt_long() has globals.
 */
int options_parse(int argc, char **argv, struct options *options, struct problem *problem);

#endif
