/* SPDX-License-Identifier: MIT
 *
 * The kernel's own sleep, and the loops that everybody writes first: over its clock, and over the
 * counter.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include <timebase.h>

#define NS_PER_SEC INT64_C(1000000000)

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC)};
}

static int64_t monotonic_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static void nanosleep_delay(uint64_t ns)
{
    struct timespec left = timespec_of((int64_t)ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static void nanosleep_until(const struct appointment *appointment)
{
    struct timespec instant = timespec_of(appointment->mono_ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL) == EINTR)
        ;
    appointment->event(appointment->argument);
}

static void loop_delay(uint64_t ns)
{
    int64_t end_ns = monotonic_ns() + (int64_t)ns;

    while (monotonic_ns() < end_ns)
        ;
}

static void loop_until(const struct appointment *appointment)
{
    while (monotonic_ns() < appointment->mono_ns)
        ;
    appointment->event(appointment->argument);
}

static void naive_delay(uint64_t ns)
{
    uint64_t start = timebase_ticks(), ticks = (uint64_t)((double)ns * assumed_ticks_per_ns + 0.5);

    while (timebase_ticks() - start < ticks)
        ;
}

static void naive_until(const struct appointment *appointment)
{
    while ((int64_t)(timebase_ticks() - appointment->ticks) < 0)
        ;
    appointment->event(appointment->argument);
}

static const char *open_nothing(int cpu)
{
    (void)cpu;
    return NULL;
}

static const struct peer peers[] = {
    {"clock_nanosleep", nanosleep_delay, 0, nanosleep_until},
    {"clock_gettime_loop", loop_delay, 0, loop_until},
    {"naive_loop", naive_delay, 0, naive_until},
    {NULL, NULL, 0, NULL},
};

const struct group kernel_group = {"kernel", open_nothing, peers};
