/* SPDX-License-Identifier: MIT */
/* privileges: only making a folder in /run needs root. */
#ifndef DAEMON_PRIVILEGES_H
#define DAEMON_PRIVILEGES_H

#include "config/problem.h"

/*
 * Become this user for good, with its groups; a folder that we made is given to it. "", or the user
 * that we are: nothing happens. Returns 0, or -1 and *problem.
 */
int privileges_drop(const char *user, int folder_fd, int is_folder_ours, struct problem *problem);

/*
 * Lock in memory the pages that are there now, and others when they are first used. If the kernel
 * refuses, *problem says why, and the daemon goes on.
 */
int privileges_lock_memory(struct problem *problem);

#endif
