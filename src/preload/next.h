/* SPDX-License-Identifier: MIT */
/*
 * next: the functions that ours stand in front of, as the next library has them; that is the C
 * library, unless the program has another one that does the same. Before these are known (another
 * library's constructor runs before ours) the kernel is called.
 */
#ifndef PRELOAD_NEXT_H
#define PRELOAD_NEXT_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* Addressed without a detour: what is declared here is this library's own. */
#pragma GCC visibility push(hidden)

/* Each as the function of the C library, errno too. `struct timespec` has 64-bit seconds wherever
 * the C library has them. */
extern struct next_functions {
    int (*gettime)(clockid_t id, struct timespec *out);
    int (*getres)(clockid_t id, struct timespec *out);
    int (*timeofday)(struct timeval *time, void *zone);
    int (*timespec_get)(struct timespec *out, int base);
    time_t (*time)(time_t *out);
} next;

/*
 * next.gettime, at once: the kernel's own code in this process where the C library is next, which
 * does no more than call it. 0, or ask next.gettime: errno may be anything.
 */
extern int (*next_at_once)(clockid_t id, struct timespec *out);

#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
/*
 * What next.timeofday is made of, at once: the C library has it read this clock by its own
 * clock_gettime(). 0, or ask next.timeofday. With seconds of 64 bits that is the kernel's own code itself.
 */
extern int (*next_timeofday_at_once)(clockid_t id, struct timespec *out);
#endif

/* Look for them; once, before there are threads. */
void next_find(void);

/* A clock in nanoseconds; 0, and errno, if it cannot be read. */
static inline uint64_t next_ns(clockid_t id)
{
    struct timespec now;
    if (next.gettime(id, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * The kernel's own code in this process (vDSO), or else the system call: 0, or not, and errno stays.
 * For coarse clocks, which it reads from memory.
 */
extern int (*next_vdso)(clockid_t id, struct timespec *out);

static inline uint64_t next_coarse_ns(clockid_t id)
{
    struct timespec now;
    if (next_vdso(id, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#pragma GCC visibility pop

#endif
