/* SPDX-License-Identifier: MIT */
/* A library that is initialised before all others (-z initfirst), and reads a clock there. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(SYS_clock_gettime64)
#define CALL_GETTIME SYS_clock_gettime64
#else
#define CALL_GETTIME SYS_clock_gettime
#endif

struct early {
    int64_t before_ns, reading_ns, after_ns;
    int result, errno_after;
};

extern struct early early;
struct early early;

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static int64_t kernel_ns(void)
{
    struct timespec now;
    syscall(CALL_GETTIME, CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

__attribute__((constructor)) static void begin(void)
{
    struct timespec now;
    early.before_ns = kernel_ns();
    errno = EXDEV;
    early.result = clock_gettime(CLOCK_MONOTONIC, &now);
    early.errno_after = errno;
    early.reading_ns = ns_of(&now);
    early.after_ns = kernel_ns();
}
