/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "instruments.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void die(const char *what)
{
    fprintf(stderr, "driver: failed: %s\n", what);
    exit(1);
}

void pin_to_cpu(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("driver: cannot pin to the CPU");
        exit(1);
    }
}

static int64_t monotonic_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        die("clock_gettime");
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The narrowest of many readings: an interrupt in one of them makes that one wide, and it is not
 * taken. */
struct instant instant_now(void)
{
    struct instant best = {0, 0};
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < 1500; i++) {
        uint64_t before = ticks_start();
        int64_t mono_ns = monotonic_ns();
        uint64_t width = ticks_stop() - before;

        if (width < narrowest) {
            narrowest = width;
            best = (struct instant){before + width / 2, mono_ns};
        }
    }
    return best;
}

double period_ns(struct instant begin, struct instant end)
{
    if (end.ticks <= begin.ticks)
        die("the counter did not advance during the run");
    return (double)(end.mono_ns - begin.mono_ns) / (double)(end.ticks - begin.ticks);
}
