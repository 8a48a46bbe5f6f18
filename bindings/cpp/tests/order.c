/* SPDX-License-Identifier: MIT */
/*
 * The readings of C, each a function, for `order` to compare with those of order.cpp. Each inline
 * function of C is used once in a file, so that none has a reason to stay out of line: with OWN, the
 * process' own clock is read.
 */
#include <timebase.h>

#ifdef OWN

int64_t own_utc(void);
int64_t own_mono(void);

int64_t own_utc(void)
{
    return timebase_utc_ns(timebase_clock_default());
}

int64_t own_mono(void)
{
    return timebase_mono_ns(timebase_clock_default());
}

#else

int64_t utc_ns(const timebase_clock *clock);
int64_t mono_ns(const timebase_clock *clock);
int64_t tai_ns(const timebase_clock *clock);
int64_t utc_ns_unordered(const timebase_clock *clock);
int64_t mono_ns_unordered(const timebase_clock *clock);
uint64_t ticks(void);
uint64_t ticks_ordered(void);
void now(const timebase_clock *clock, struct timebase_instant *out);

int64_t utc_ns(const timebase_clock *clock)
{
    return timebase_utc_ns(clock);
}

int64_t mono_ns(const timebase_clock *clock)
{
    return timebase_mono_ns(clock);
}

int64_t tai_ns(const timebase_clock *clock)
{
    return timebase_tai_ns(clock);
}

int64_t utc_ns_unordered(const timebase_clock *clock)
{
    return timebase_utc_ns_unordered(clock);
}

int64_t mono_ns_unordered(const timebase_clock *clock)
{
    return timebase_mono_ns_unordered(clock);
}

uint64_t ticks(void)
{
    return timebase_ticks();
}

uint64_t ticks_ordered(void)
{
    return timebase_ticks_ordered();
}

void now(const timebase_clock *clock, struct timebase_instant *out)
{
    timebase_now(clock, out);
}

#endif
