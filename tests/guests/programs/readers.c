/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include <stddef.h>
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

reader *reader_named(const char *name)
{
    static const struct {
        const char *name;
        reader *read;
    } readers[] = {{"counter", read_counter}, {"kernel", read_kernel}, {"mono", read_mono}};
    for (unsigned i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (strcmp(readers[i].name, name) == 0)
            return readers[i].read;
    return NULL;
}
