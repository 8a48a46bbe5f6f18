/* SPDX-License-Identifier: MIT */
/* inline: batches of C's inline readings. The sums keep them from being left out. */
#include <timebase.h>

#define BATCH(name, reading)                                                                       \
    uint64_t inline_##name(const timebase_clock *clock, uint64_t count);                           \
    uint64_t inline_##name(const timebase_clock *clock, uint64_t count)                            \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < count; i++)                                                       \
            sum += (reading);                                                                      \
        (void)clock;                                                                               \
        return sum;                                                                                \
    }

static inline uint64_t bounded(const timebase_clock *clock)
{
    struct timebase_interval when;
    int status = timebase_utc_interval(clock, &when);
    return (uint64_t)when.earliest_ns + (uint64_t)when.latest_ns + (uint64_t)status;
}

BATCH(utc_ns, (uint64_t)timebase_utc_ns(clock))
BATCH(mono_ns, (uint64_t)timebase_mono_ns(clock))
BATCH(utc_bounded, bounded(clock))
BATCH(ticks, timebase_ticks_ordered())
