/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the C library calls those with 64-bit seconds, where there are two of each. */
#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define NAME_GETTIME "__clock_gettime64"
#define NAME_GETRES "__clock_getres64"
#define NAME_TIMEOFDAY "__gettimeofday64"
#define NAME_TIMESPEC_GET "__timespec_get64"
#define NAME_TIME "__time64"
#define NAME_VDSO "__vdso_clock_gettime64"
#else
#define NAME_GETTIME "clock_gettime"
#define NAME_GETRES "clock_getres"
#define NAME_TIMEOFDAY "gettimeofday"
#define NAME_TIMESPEC_GET "timespec_get"
#define NAME_TIME "time"
#define NAME_VDSO "__vdso_clock_gettime"
#endif

/* The system call that fills a struct timespec as it is here. */
#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define CALL_GETTIME SYS_clock_gettime64
#define CALL_GETRES SYS_clock_getres_time64
#else
#define CALL_GETTIME SYS_clock_gettime
#define CALL_GETRES SYS_clock_getres
#endif

struct next_functions next;

static int call_gettime(clockid_t id, struct timespec *out)
{
    int saved_errno = errno;
    int result = (int)syscall(CALL_GETTIME, id, out);
    errno = saved_errno;
    return result;
}

int (*next_vdso)(clockid_t id, struct timespec *out) = call_gettime;

/* POSIX has dlsym() tell functions by an object pointer. */
static void find(const char *name, void *function)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

/* It is in the loader's list, and never in a file. */
static void find_vdso(void)
{
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (vdso == NULL)
        vdso = dlopen("linux-gate.so.1", RTLD_LAZY | RTLD_NOLOAD); /* i386 */
    void *function = vdso == NULL ? NULL : dlsym(vdso, NAME_VDSO);
    if (function != NULL)
        *(void **)(void *)&next_vdso = function;
}

void next_find(void)
{
    int saved_errno = errno;
    find(NAME_GETTIME, &next.gettime);
    find(NAME_GETRES, &next.getres);
    find(NAME_TIMEOFDAY, &next.timeofday);
    find(NAME_TIMESPEC_GET, &next.timespec_get);
    find(NAME_TIME, &next.time);
    find_vdso();
    errno = saved_errno;
}

int next_gettime_early(clockid_t id, struct timespec *out)
{
    return (int)syscall(CALL_GETTIME, id, out);
}

int next_getres(clockid_t id, struct timespec *out)
{
    if (next.getres != NULL)
        return next.getres(id, out);
    return (int)syscall(CALL_GETRES, id, out);
}

/* The zone of the kernel is nobody's: the C library has filled it with 0 since 2.31. */
int next_timeofday(struct timeval *time, void *zone)
{
    struct timespec now;
    if (next.timeofday != NULL)
        return next.timeofday(time, zone);
    if (zone != NULL)
        *(struct timezone *)zone = (struct timezone){0};
    if (time == NULL)
        return 0;
    if (next_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = (suseconds_t)(now.tv_nsec / 1000);
    return 0;
}

int next_timespec_get(struct timespec *out, int base)
{
    if (next.timespec_get != NULL)
        return next.timespec_get(out, base);
    return base == TIME_UTC && next_gettime(CLOCK_REALTIME, out) == 0 ? base : 0;
}

/* Seconds as of the last tick: what the kernel gives for time(). */
time_t next_time(void)
{
    struct timespec now;
    if (next.time != NULL)
        return next.time(NULL);
    return next_gettime(CLOCK_REALTIME_COARSE, &now) == 0 ? now.tv_sec : (time_t)-1;
}
