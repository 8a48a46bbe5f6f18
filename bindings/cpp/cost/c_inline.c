/* SPDX-License-Identifier: MIT */
/* C's own readings, compiled as C: what those of C++ are measured against, in the same process. */
#include "c_inline.h"

#define KEEP(value) __asm__ __volatile__("" : : "r"(value) : "memory")

void c_utc_ns(const timebase_clock *clock, uint64_t calls)
{
    for (; calls != 0; calls--)
        KEEP(timebase_utc_ns(clock));
}

void c_mono_ns(const timebase_clock *clock, uint64_t calls)
{
    for (; calls != 0; calls--)
        KEEP(timebase_mono_ns(clock));
}

void c_utc_bounded(const timebase_clock *clock, uint64_t calls)
{
    for (; calls != 0; calls--) {
        struct timebase_interval out;
        int status = timebase_utc_interval(clock, &out);
        KEEP(status);
        KEEP(out.earliest_ns);
        KEEP(out.latest_ns);
    }
}

void c_ticks(const timebase_clock *clock, uint64_t calls)
{
    (void)clock;
    for (; calls != 0; calls--)
        KEEP(timebase_ticks());
}
