/* SPDX-License-Identifier: MIT */
/*
 * lock: one writer a page. The file PAGE.lock beside the page is locked by flock(2), so the kernel
 * unlocks it however its holder ends. Its text says which process holds it, and in which boot of
 * the machine the page was last written. Mode 0600, as every process that can open it can lock it.
 */
#ifndef DAEMON_LOCK_H
#define DAEMON_LOCK_H

#include <stdbool.h>

#include "config/problem.h"

enum { LOCK_BOOT = 40 }; /* a boot's id as text, with its end */

struct lock {
    int fd;            /* -1: not held */
    bool is_same_boot; /* the holder before ran in this boot, or that is not known */
};

/*
 * In an open folder. `path` is the page's whole name, for messages. Returns 0; or -1 and *problem,
 * which names the process that holds it.
 */
int lock_take(struct lock *lock, int folder_fd, const char *name, const char *path,
              struct problem *problem);

/* Is it still the file of that name? If it was removed, a second daemon might take a new one. */
bool lock_is_held(const struct lock *lock, int folder_fd, const char *name);

void lock_release(struct lock *lock);

#endif
