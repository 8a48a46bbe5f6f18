/* SPDX-License-Identifier: MIT */
/* kernel_now: the kernel's clocks by system call, whatever has been done to the vDSO. */
#ifndef TEST_KERNEL_NOW_H
#define TEST_KERNEL_NOW_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline int64_t kernel_now(clockid_t id)
{
    struct timespec now;
#if defined(SYS_clock_gettime64)
    struct {
        int64_t sec, nsec;
    } wide;
    if (sizeof(now.tv_sec) > sizeof(long)) {
        if (syscall(SYS_clock_gettime64, id, &wide) != 0)
            return INT64_MIN;
        return wide.sec * 1000000000 + wide.nsec;
    }
#endif
    if (syscall(SYS_clock_gettime, id, &now) != 0)
        return INT64_MIN;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
