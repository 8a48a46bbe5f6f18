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
 * Keeps in memory what is there now or will be used. A refusal sets *problem, and the daemon goes
 * on.
 */
int privileges_lock_memory(struct problem *problem);

#endif
