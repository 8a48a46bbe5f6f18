/* SPDX-License-Identifier: MIT */
/*
 * preload: the C library's functions that tell the time, for programs that cannot be changed.
 *
 *     LD_PRELOAD=libtimebase-preload.so program        or    timebase exec -- program
 *
 * TIMEBASE_PRELOAD in the environment: "auto" is the default; "kernel" asks the kernel always;
 * "always" follows the kernel's clocks by the counter even where nothing is gained.
 *
 * Five clocks are followed (followed.h): REALTIME, MONOTONIC, MONOTONIC_RAW, BOOTTIME and TAI. All
 * others, what only looks at a resolution, and time(), which has the second of the last tick and
 * costs no counter, go to the next library. Where a followed clock is written to an address that is
 * none, the program gets SIGSEGV, as from the kernel's own code in its memory (vDSO).
 *
 * The names of the C library stand in assembly labels: on 32-bit machines there are two of each, for
 * seconds of 32 and of 64 bits, and its headers redirect the one to the other.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include <timebase/attributes.h>

#include "by_line.h"
#include "counts.h"
#include "next.h"

#define NS_PER_SEC 1000000000
#define EXPORT __attribute__((visibility("default")))
/* So that a shorter way, which leads here if it fails, saves no registers for it. */
#define APART __attribute__((noinline))
/* Together in memory: an emulator looks up where a jump to another page goes, each time. */
#define HOT __attribute__((hot))

__attribute__((constructor)) static void begin(void)
{
    next_find();
    followed_begin(getenv("TIMEBASE_PRELOAD"));
    counts_begin(getenv("TIMEBASE_PRELOAD_COUNT"));
}

__attribute__((destructor)) static void end(void)
{
    counts_end();
}

static struct timespec timespec_of(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_SEC)};
    time.tv_nsec = (long)(ns % NS_PER_SEC);
    return time;
}

static struct timeval timeval_of(uint64_t ns)
{
    struct timeval time = {.tv_sec = (time_t)(ns / NS_PER_SEC)};
    time.tv_usec = (suseconds_t)(ns % NS_PER_SEC / 1000);
    return time;
}

/* The way of nearly all calls where something is gained; none are counted. */
TIMEBASE_PART bool is_by_line(enum followed which, uint64_t *ns)
{
    return counts_table == NULL && by_line_read(which, ns);
}

/* Nothing is gained, and nothing counted: what is put before the program must not be felt. */
static inline bool is_aside(void)
{
    return counts_table == NULL && followed_stands_aside();
}

static int gettime(clockid_t id, struct timespec *out)
{
    uint64_t ns;
    enum followed which = followed_of(id);
    if (which == FOLLOWED_NOT || !followed_read(which, &ns))
        return next.gettime(id, out);
    *out = timespec_of(ns);
    return 0;
}

static int timeofday(struct timeval *out, void *zone)
{
    uint64_t ns;
    if (out == NULL || zone != NULL || !followed_read(FOLLOWED_REALTIME, &ns))
        return next.timeofday(out, zone);
    *out = timeval_of(ns);
    return 0;
}

static int get_timespec(struct timespec *out, int base)
{
    uint64_t ns;
    if (base != TIME_UTC || !followed_read(FOLLOWED_REALTIME, &ns))
        return next.timespec_get(out, base);
    *out = timespec_of(ns);
    return base;
}

/* As <sys/timeb.h> has it, which the C library has only for programs of before. */
struct ftime {
    time_t seconds;
    unsigned short milliseconds;
    short zone, is_summer;
};

static int get_ftime(struct ftime *out)
{
    struct timespec now;
    if (gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    *out = (struct ftime){now.tv_sec, (unsigned short)(now.tv_nsec / 1000000), 0, 0};
    return 0;
}

static time_t get_time(time_t *out)
{
    time_t now = next.time(NULL);
    if (out != NULL)
        *out = now;
    return now;
}

/* ---- the names, with 64-bit seconds -------------------------------------------------------- */

#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define WIDE(name, wide) __asm__(wide)
#else
#define WIDE(name, wide) __asm__(name)
#endif

EXPORT int preload_gettime(clockid_t id, struct timespec *out)
    WIDE("clock_gettime", "__clock_gettime64");
EXPORT int preload_getres(clockid_t id, struct timespec *out)
    WIDE("clock_getres", "__clock_getres64");
EXPORT int preload_timeofday(struct timeval *out, void *zone)
    WIDE("gettimeofday", "__gettimeofday64");
EXPORT int preload_timespec_get(struct timespec *out, int base)
    WIDE("timespec_get", "__timespec_get64");
EXPORT time_t preload_time(time_t *out) WIDE("time", "__time64");
EXPORT int preload_ftime(struct ftime *out) WIDE("ftime", "__ftime64");

static APART int gettime_counted(clockid_t id, struct timespec *out, const void *caller)
{
    uint64_t begin = counts_before();
    int result = gettime(id, out);
    counts_after(begin, COUNTED_CLOCK_GETTIME, id, caller);
    return result;
}

static APART HOT int gettime_by_line(clockid_t id, struct timespec *out, const void *caller)
{
    uint64_t ns;
    enum followed which = followed_of(id);
    if (which == FOLLOWED_NOT || !is_by_line(which, &ns))
        return gettime_counted(id, out, caller);
    *out = timespec_of(ns);
    return 0;
}

HOT int preload_gettime(clockid_t id, struct timespec *out)
{
    if (is_aside() && next_at_once(id, out) == 0)
        return 0;
    return gettime_by_line(id, out, __builtin_return_address(0));
}

int preload_getres(clockid_t id, struct timespec *out)
{
    uint64_t begin = counts_before();
    int result = next.getres(id, out);
    counts_after(begin, COUNTED_CLOCK_GETRES, id, __builtin_return_address(0));
    return result;
}

static APART int timeofday_counted(struct timeval *out, void *zone, const void *caller)
{
    uint64_t begin = counts_before();
    int result = timeofday(out, zone);
    counts_after(begin, COUNTED_GETTIMEOFDAY, CLOCK_REALTIME, caller);
    return result;
}

static APART HOT int timeofday_by_line(struct timeval *out, void *zone, const void *caller)
{
    uint64_t ns;
    if (out == NULL || zone != NULL || !is_by_line(FOLLOWED_REALTIME, &ns))
        return timeofday_counted(out, zone, caller);
    *out = timeval_of(ns);
    return 0;
}

#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32

/* False: ask next.timeofday. */
static inline bool today_at_once(const void *out, const void *zone, struct timespec *now)
{
    return out != NULL && zone == NULL && next_timeofday_at_once(CLOCK_REALTIME, now) == 0;
}

static inline int timeofday_aside(struct timeval *out, void *zone)
{
    struct timespec now;
    if (!today_at_once(out, zone, &now))
        return next.timeofday(out, zone);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

#else

static inline int timeofday_aside(struct timeval *out, void *zone)
{
    return next.timeofday(out, zone);
}

#endif

HOT int preload_timeofday(struct timeval *out, void *zone)
{
    if (is_aside())
        return timeofday_aside(out, zone);
    return timeofday_by_line(out, zone, __builtin_return_address(0));
}

int preload_timespec_get(struct timespec *out, int base)
{
    uint64_t begin = counts_before();
    int result = get_timespec(out, base);
    counts_after(begin, COUNTED_TIMESPEC_GET, CLOCK_REALTIME, __builtin_return_address(0));
    return result;
}

time_t preload_time(time_t *out)
{
    uint64_t begin = counts_before();
    time_t result = get_time(out);
    counts_after(begin, COUNTED_TIME, CLOCK_REALTIME_COARSE, __builtin_return_address(0));
    return result;
}

int preload_ftime(struct ftime *out)
{
    uint64_t begin = counts_before();
    int result = get_ftime(out);
    counts_after(begin, COUNTED_FTIME, CLOCK_REALTIME, __builtin_return_address(0));
    return result;
}

/* ---- and with 32-bit seconds, for programs of before ---------------------------------------- */

#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32

struct narrow {
    int32_t seconds, rest;
};

struct narrow_ftime {
    int32_t seconds;
    unsigned short milliseconds;
    short zone, is_summer;
};

EXPORT int preload_gettime_32(clockid_t id, struct narrow *out) __asm__("clock_gettime");
EXPORT int preload_getres_32(clockid_t id, struct narrow *out) __asm__("clock_getres");
EXPORT int preload_timeofday_32(struct narrow *out, void *zone) __asm__("gettimeofday");
EXPORT int preload_timespec_get_32(struct narrow *out, int base) __asm__("timespec_get");
EXPORT int32_t preload_time_32(int32_t *out) __asm__("time");
EXPORT int preload_ftime_32(struct narrow_ftime *out) __asm__("ftime");

static int narrow(time_t seconds, long rest, struct narrow *out)
{
    if (seconds != (int32_t)seconds) {
        errno = EOVERFLOW;
        return -1;
    }
    *out = (struct narrow){(int32_t)seconds, (int32_t)rest};
    return 0;
}

int preload_gettime_32(clockid_t id, struct narrow *out)
{
    struct timespec now;
    if (is_aside() && next_at_once(id, &now) == 0)
        return narrow(now.tv_sec, now.tv_nsec, out);
    int result = gettime_counted(id, &now, __builtin_return_address(0));
    return result != 0 ? result : narrow(now.tv_sec, now.tv_nsec, out);
}

int preload_getres_32(clockid_t id, struct narrow *out)
{
    struct timespec step;
    uint64_t begin = counts_before();
    int result = next.getres(id, &step);
    counts_after(begin, COUNTED_CLOCK_GETRES, id, __builtin_return_address(0));
    return result != 0 || out == NULL ? result : narrow(step.tv_sec, step.tv_nsec, out);
}

static APART int timeofday_narrowed(struct narrow *out, void *zone, const void *caller)
{
    struct timeval now;
    int result = timeofday_counted(out == NULL ? NULL : &now, zone, caller);
    return result != 0 || out == NULL ? result : narrow(now.tv_sec, now.tv_usec, out);
}

int preload_timeofday_32(struct narrow *out, void *zone)
{
    struct timespec now;
    if (is_aside() && today_at_once(out, zone, &now))
        return narrow(now.tv_sec, now.tv_nsec / 1000, out);
    return timeofday_narrowed(out, zone, __builtin_return_address(0));
}

int preload_timespec_get_32(struct narrow *out, int base)
{
    struct timespec now;
    uint64_t begin = counts_before();
    int result = get_timespec(&now, base);
    counts_after(begin, COUNTED_TIMESPEC_GET, CLOCK_REALTIME, __builtin_return_address(0));
    return result == 0 || narrow(now.tv_sec, now.tv_nsec, out) != 0 ? 0 : result;
}

int32_t preload_time_32(int32_t *out)
{
    struct narrow now;
    uint64_t begin = counts_before();
    time_t seconds = get_time(NULL);
    counts_after(begin, COUNTED_TIME, CLOCK_REALTIME_COARSE, __builtin_return_address(0));
    if (narrow(seconds, 0, &now) != 0)
        return -1;
    if (out != NULL)
        *out = now.seconds;
    return now.seconds;
}

int preload_ftime_32(struct narrow_ftime *out)
{
    struct ftime now;
    struct narrow seconds;
    uint64_t begin = counts_before();
    int result = get_ftime(&now);
    counts_after(begin, COUNTED_FTIME, CLOCK_REALTIME, __builtin_return_address(0));
    if (result != 0 || narrow(now.seconds, 0, &seconds) != 0)
        return -1;
    *out = (struct narrow_ftime){seconds.seconds, now.milliseconds, 0, 0};
    return 0;
}

#endif
