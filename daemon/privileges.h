/* SPDX-License-Identifier: MIT */
/* privileges: root is needed for nothing here but for making a folder in /run. */
#ifndef DAEMON_PRIVILEGES_H
#define DAEMON_PRIVILEGES_H

#include "config/problem.h"

/*
 * Become this user for good, with its groups; the folder, if it was made by us, goes to it. "" and
 * who is this user already: nothing. Returns 0, or -1 and *problem.
 */
int privileges_drop(const char *user, int folder_fd, int is_folder_ours, struct problem *problem);

/*
 * What is in memory now, or comes to be used, stays there. Refused: a problem for the log, no end.
 */
int privileges_lock_memory(struct problem *problem);

#endif
