/* SPDX-License-Identifier: MIT */
/*
 * trusted: who could have put a file where it is. A path is walked folder by folder. Each folder is
 * held open while the next one is looked up, so the folder that was checked is the one that is
 * used.
 */
#ifndef CLOCK_TRUSTED_H
#define CLOCK_TRUSTED_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Walk an absolute path up to its last folder. No folder may be a link. Each belongs to root or
 * this user, and either nobody else may write to it, or it is sticky: then others cannot remove or
 * rename what is ours, and what is theirs is recognised by its owner. The folder service_folder,
 * compared as text, may have any owner, because only root or this user can have made it: *owner
 * becomes its owner. Elsewhere *owner is root. Returns 0, the open folder and the file's name
 * within path; or TIMEBASE_E_INVALID, _NOT_FOUND, _PERMISSION, _UNTRUSTED.
 */
int trusted_folder(const char *path, const char *service_folder, int *folder, const char **name,
                   uid_t *owner);

/* Does this belong to root, this user or `owner`, and may nobody else write it? */
bool trusted_is_safe(const struct stat *stat, uid_t owner);

/* What a failed look-up means. */
int trusted_error(int error_number);

#endif
