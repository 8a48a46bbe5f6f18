/* SPDX-License-Identifier: MIT */
/*
 * preload: a test program that runs itself again with the preload library in front of the C library.
 * PRELOAD is its path. `word` is for TIMEBASE_PRELOAD. "always": the clocks are followed even where
 * the kernel's reading is cheap; "kernel": they are not.
 */
#ifndef TEST_PRELOAD_H
#define TEST_PRELOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC 1000000000

/* Ahead of the kernel's clock by no more: docs/decisions/0018-exec.md. */
#define AHEAD_NS 80000

static inline void run_preloaded(char **argv, const char *word)
{
    if (getenv("TIMEBASE_PRELOAD") != NULL)
        return;
    setenv("TIMEBASE_PRELOAD", word, 1);
    setenv("LD_PRELOAD", PRELOAD, 1);
    execv("/proc/self/exe", argv);
    perror("cannot run itself again");
    exit(77);
}

static inline int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * NS_PER_SEC + time->tv_nsec;
}

/* On 32-bit machines the calls with 64-bit seconds, as struct timespec has them. */
#if defined(SYS_clock_gettime64)
#define CALL_GETTIME SYS_clock_gettime64
#define CALL_GETRES SYS_clock_getres_time64
#else
#define CALL_GETTIME SYS_clock_gettime
#define CALL_GETRES SYS_clock_getres
#endif

/* By a system call: what a static program, or the kernel's timers, go by. */
static inline int64_t kernel_ns(clockid_t id)
{
    struct timespec now;
    syscall(CALL_GETTIME, id, &now);
    return ns_of(&now);
}

static inline int64_t reading_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return ns_of(&now);
}

static inline void assert_between(int64_t before_ns, int64_t ns, int64_t after_ns)
{
    if (ns < before_ns || ns > after_ns)
        print_error("%lld is not in [%lld, %lld]\n", (long long)ns, (long long)before_ns,
                    (long long)after_ns);
    assert_true(ns >= before_ns);
    assert_true(ns <= after_ns);
}

#endif
