/* SPDX-License-Identifier: MIT */
/*
 * shared_file: another process' page, read and never mapped. A file may be cut short, replaced, or
 * made hostile at any moment. A read of a shortened file is short, where mapped memory would raise
 * SIGBUS; and nobody can change a copy between its check and its use.
 *
 * The functions change errno, and their caller restores it. All are async-signal-safe.
 */
#ifndef CLOCK_SHARED_FILE_H
#define CLOCK_SHARED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <timebase/page.h>

struct shared_file {
    int fd; /* below 0: none */
    dev_t device;
    ino_t inode;
    uid_t owner; /* beside root and this user: who may own the file */
};

/*
 * Open an absolute path under the conditions that clock.h states. In service_folder, a folder that
 * root or this user made, the folder's owner may own the file too. Returns 0, TIMEBASE_E_NOT_FOUND,
 * _PERMISSION, _UNTRUSTED, or _FORMAT if it is shorter than a page; and then no file is open.
 */
int shared_file_open(struct shared_file *file, const char *path, const char *service_folder);

/* Is it still this file? The program may have closed it and opened another by that number. */
bool shared_file_is_open(const struct shared_file *file);
void shared_file_close(struct shared_file *file);

static inline bool shared_file_is_same(const struct shared_file *a, const struct shared_file *b)
{
    return a->fd >= 0 && b->fd >= 0 && a->device == b->device && a->inode == b->inode;
}

/*
 * The number of the present publication. Returns 0, TIMEBASE_E_STALE if it is 0, TIMEBASE_E_FORMAT
 * if the file has been cut short, TIMEBASE_E_PERMISSION if it cannot be read, TIMEBASE_E_NOT_FOUND
 * if the program has closed the descriptor.
 */
int shared_file_seq(const struct shared_file *file, uint64_t *seq);

/* All these bytes; or TIMEBASE_E_FORMAT or _PERMISSION as above. */
int shared_file_read(const struct shared_file *file, void *bytes, size_t size, long offset);

/*
 * A consistent, valid copy; its ticks may be corrected by CPU (by_cpu_shared.h). Looks again at who
 * may write the file. Returns 0; as shared_file_open() and shared_file_seq(); as
 * timebase_page_validate(); or TIMEBASE_E_NOT_FOUND if the file has been deleted.
 */
int shared_file_copy(const struct shared_file *file, struct timebase_page *copy);

#endif
