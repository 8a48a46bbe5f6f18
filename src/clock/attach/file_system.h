/* SPDX-License-Identifier: MIT */
/* file_system: can a file's owner and mode be believed? */
#ifndef CLOCK_FILE_SYSTEM_H
#define CLOCK_FILE_SYSTEM_H

#include <stdbool.h>

/*
 * Does the kernel itself answer for this file? A file system in user space (FUSE) can show any
 * owner and mode, and can make a reader wait for as long as it likes.
 */
bool file_system_is_kernels(int fd);

#endif
