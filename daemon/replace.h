/* SPDX-License-Identifier: MIT */
/* replace: replaces a file as a whole: readers see the old text or the new one. */
#ifndef DAEMON_REPLACE_H
#define DAEMON_REPLACE_H

#include <stddef.h>

#include "config/problem.h"

/*
 * Writes PATH.new and renames it; mode 0644, follows no link. Returns 0; or -1, *problem, and the
 * old file is as it was.
 */
int replace_file(const char *path, const char *text, size_t length, struct problem *problem);

#endif
