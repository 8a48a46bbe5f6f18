/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <timebase.h>

static uint64_t read_counter(void)
{
    return timebase_ticks_ordered();
}

static uint64_t read_kernel(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t read_mono(void)
{
    return (uint64_t)timebase_mono_ns(timebase_clock_default());
}

static timebase_clock *attached;

static uint64_t read_attached(void)
{
    return (uint64_t)timebase_mono_ns(attached);
}

static int64_t realtime_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Was CLOCK_REALTIME where the clock says, some time between the two looks? */
static uint64_t read_bounded(void)
{
    struct timebase_interval when;
    int64_t before_ns = realtime_ns();
    int status = timebase_realtime_interval(attached, &when);
    int64_t after_ns = realtime_ns();
    if (status == TIMEBASE_STATUS_UNRELIABLE) /* no promise is made: the host held somebody up */
        return read_attached();
    if (after_ns < when.earliest_ns || before_ns > when.latest_ns) {
        printf("outside the bound: %" PRId64 " to %" PRId64 ", not %" PRId64 " to %" PRId64 "\n",
               before_ns, after_ns, when.earliest_ns, when.latest_ns);
        exit(4);
    }
    return read_attached();
}

static void attach(void)
{
    int error = timebase_clock_attach(&attached, NULL);
    if (error == 0)
        return;
    printf("not attached: %s\n", timebase_strerror(error));
    exit(3);
}

reader *reader_named(const char *name)
{
    static const struct {
        const char *name;
        reader *read;
    } readers[] = {{"counter", read_counter},
                   {"kernel", read_kernel},
                   {"mono", read_mono},
                   {"attached", read_attached},
                   {"bounded", read_bounded}};
    if (strcmp(name, "attached") == 0 || strcmp(name, "bounded") == 0)
        attach();
    for (unsigned i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (strcmp(readers[i].name, name) == 0)
            return readers[i].read;
    return NULL;
}
