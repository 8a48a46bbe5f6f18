/* SPDX-License-Identifier: MIT */
/*
 * failing_writes: every pwrite() of the program goes through here, by -Wl,--wrap of it and of
 * pwrite64(). After `writes_left` of them, or `bytes_left` bytes, the disk has failed.
 */
#ifndef TEST_DAEMON_FAILING_WRITES_H
#define TEST_DAEMON_FAILING_WRITES_H

#include <errno.h>
#include <sys/types.h>

enum { WRITES_SUCCEED = 100000 };

static int writes_left = WRITES_SUCCEED, bytes_left = WRITES_SUCCEED;

/* Offsets have 64 bits in this build, and the C library's plain pwrite need not. */
ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset);

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    if (writes_left == 0 || bytes_left == 0) {
        errno = EIO;
        return -1;
    }
    writes_left--;
    if (size > (size_t)bytes_left)
        size = (size_t)bytes_left;
    bytes_left -= (int)size;
    return __real_pwrite64(fd, bytes, size, offset);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return __wrap_pwrite64(fd, bytes, size, offset);
}

#endif
