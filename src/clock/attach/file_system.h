/* SPDX-License-Identifier: MIT */
/* file_system: who answers for what a file shows of itself. */
#ifndef CLOCK_FILE_SYSTEM_H
#define CLOCK_FILE_SYSTEM_H

#include <stdbool.h>

/*
 * Does the kernel? A file system in user space (FUSE) shows any owner and mode, and makes a reader
 * wait as long as it likes.
 */
bool file_system_is_kernels(int fd);

#endif
