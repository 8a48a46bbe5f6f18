/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
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

static int call_gettime(clockid_t id, struct timespec *out)
{
    int saved_errno = errno;
    int result = (int)syscall(CALL_GETTIME, id, out);
    errno = saved_errno;
    return result;
}

/* ---- before the next library's are known ------------------------------------------------------- */

static int early_gettime(clockid_t id, struct timespec *out)
{
    return (int)syscall(CALL_GETTIME, id, out);
}

static int early_getres(clockid_t id, struct timespec *out)
{
    return (int)syscall(CALL_GETRES, id, out);
}

/* The zone of the kernel is nobody's: the C library has filled it with 0 since 2.31. */
static int early_timeofday(struct timeval *time, void *zone)
{
    struct timespec now;
    if (zone != NULL)
        *(struct timezone *)zone = (struct timezone){0};
    if (time == NULL)
        return 0;
    if (early_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = (suseconds_t)(now.tv_nsec / 1000);
    return 0;
}

static int early_timespec_get(struct timespec *out, int base)
{
    return base == TIME_UTC && early_gettime(CLOCK_REALTIME, out) == 0 ? base : 0;
}

/* Seconds as of the last tick: what the kernel gives for time(). */
static time_t early_time(time_t *out)
{
    struct timespec now;
    time_t seconds = early_gettime(CLOCK_REALTIME_COARSE, &now) == 0 ? now.tv_sec : (time_t)-1;
    if (out != NULL)
        *out = seconds;
    return seconds;
}

struct next_functions next = {early_gettime, early_getres, early_timeofday, early_timespec_get,
                              early_time};
int (*next_vdso)(clockid_t id, struct timespec *out) = call_gettime;
int (*next_at_once)(clockid_t id, struct timespec *out) = call_gettime;

#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
static int refuse(clockid_t id, struct timespec *out)
{
    (void)id;
    (void)out;
    return -1;
}

int (*next_timeofday_at_once)(clockid_t id, struct timespec *out) = refuse;
#endif

/* ---- looking for them -------------------------------------------------------------------------- */

/* POSIX has dlsym() tell functions by an object pointer. */
static void find(void *library, const char *name, void *function)
{
    void *found = library == NULL ? NULL : dlsym(library, name);
    if (found != NULL)
        *(void **)function = found;
}

/* It is in the loader's list, and never in a file. */
static void find_vdso(void)
{
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (vdso == NULL)
        vdso = dlopen("linux-gate.so.1", RTLD_LAZY | RTLD_NOLOAD); /* i386 */
    find(vdso, NAME_VDSO, &next_vdso);
}

/* Else a library stands before it, and does what we do not know. */
static bool is_c_librarys(const char *name, const void *function)
{
    void *c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return c_library != NULL && dlsym(c_library, name) == function;
}

/* A function's address, as dlsym() tells it. */
#define ADDRESS(function) (*(void **)&(function))

static void find_at_once(void)
{
    bool has_vdso = next_vdso != call_gettime;
    bool is_gettime = has_vdso && is_c_librarys(NAME_GETTIME, ADDRESS(next.gettime));
    next_at_once = is_gettime ? next_vdso : next.gettime;
#if defined(__USE_TIME_BITS64) && __TIMESIZE == 32
    bool is_timeofday = has_vdso && is_c_librarys(NAME_TIMEOFDAY, ADDRESS(next.timeofday));
    next_timeofday_at_once = is_timeofday ? next_vdso : refuse;
#endif
}

void next_find(void)
{
    int saved_errno = errno;
    find(RTLD_NEXT, NAME_GETTIME, &next.gettime);
    find(RTLD_NEXT, NAME_GETRES, &next.getres);
    find(RTLD_NEXT, NAME_TIMEOFDAY, &next.timeofday);
    find(RTLD_NEXT, NAME_TIMESPEC_GET, &next.timespec_get);
    find(RTLD_NEXT, NAME_TIME, &next.time);
    find_vdso();
    find_at_once();
    errno = saved_errno;
}
