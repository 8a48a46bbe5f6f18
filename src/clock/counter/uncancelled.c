/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* syscall() */
#include "uncancelled.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int uncancelled_openat(int folder, const char *name, int flags)
{
    return (int)syscall(SYS_openat, folder, name, flags);
}

ssize_t uncancelled_read(int fd, void *bytes, size_t size)
{
    return (ssize_t)syscall(SYS_read, fd, bytes, size);
}

ssize_t uncancelled_pread(int fd, void *bytes, size_t size, long offset)
{
#if UINTPTR_MAX > 0xffffffffu
    return (ssize_t)syscall(SYS_pread64, fd, bytes, size, offset);
#else
    /* How pread64 takes its offset differs between 32-bit processors; preadv: low, high. */
    struct iovec all = {bytes, size};
    return (ssize_t)syscall(SYS_preadv, fd, &all, 1, offset, 0);
#endif
}

void uncancelled_close(int fd)
{
    syscall(SYS_close, fd);
}
