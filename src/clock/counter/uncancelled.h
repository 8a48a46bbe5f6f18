/* SPDX-License-Identifier: MIT */
/*
 * uncancelled: files, by system calls that are no cancellation points. The C library's functions
 * end a thread that pthread_cancel() has asked to end, and what it had locked and opened stays so.
 * Each sets errno as its namesake does.
 */
#ifndef CLOCK_UNCANCELLED_H
#define CLOCK_UNCANCELLED_H

#include <stddef.h>
#include <sys/types.h>

/* folder may be AT_FDCWD. Nothing is created. */
int uncancelled_openat(int folder, const char *name, int flags);
ssize_t uncancelled_read(int fd, void *bytes, size_t size);
/* offset below 2^31. */
ssize_t uncancelled_pread(int fd, void *bytes, size_t size, long offset);
void uncancelled_close(int fd);

#endif
