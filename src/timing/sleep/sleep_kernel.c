/* SPDX-License-Identifier: MIT */
/* The sleep that a kernel offers. sleep.c decides how long, and is the same without a kernel. */
#include <errno.h>
#include <stddef.h>
#include <time.h>

#include <timebase/clock.h>

#include "clock/counter/readable.h"
#include "sleep.h"

#define NS_PER_SEC 1000000000

static int64_t now_of_clock(void *context)
{
    return timebase_mono_ns((const timebase_clock *)context);
}

/*
 * The kernel's clock is read first: if the thread is held up between the two readings it wakes up
 * too early and sleeps again, instead of too late.
 */
static int sleep_on_monotonic(void *context, int64_t until_ns)
{
    struct timespec until;
    int saved_errno = errno;
    int error = counter_clock_gettime(CLOCK_MONOTONIC, &until) == 0 ? 0 : errno;
    errno = saved_errno;
    if (error != 0)
        return error;
    int64_t ahead_ns = until_ns - now_of_clock(context), ns = until.tv_nsec + ahead_ns;
    if (ahead_ns < 0)
        return SLEEP_HAS_PASSED;
    until.tv_sec += (time_t)(ns / NS_PER_SEC);
    until.tv_nsec = (long)(ns % NS_PER_SEC);
    do {
        error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    } while (error == EINTR);
    return error;
}

static int64_t cpu_of_thread(void *context)
{
    struct timespec used;
    int saved_errno = errno;
    int error = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    (void)context;
    errno = saved_errno;
    return error == 0 ? (int64_t)used.tv_sec * NS_PER_SEC + used.tv_nsec : 0;
}

const struct sleep_ops sleep_in_kernel = {
    .cpu_ns = cpu_of_thread,
    .now_ns = now_of_clock,
    .sleep_until = sleep_on_monotonic,
};
