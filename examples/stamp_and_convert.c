/* SPDX-License-Identifier: MIT */
/* stamp_and_convert: log raw ticks where every nanosecond counts, convert them afterwards. */
#include <inttypes.h>
#include <stdio.h>

#include <timebase.h>

#define EVENTS 5
#define NS_PER_SEC 1000000000

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();
    uint64_t stamps[EVENTS];

    /* Now: a register is read, nothing else. */
    for (int i = 0; i < EVENTS; i++)
        stamps[i] = timebase_ticks_ordered();

    /* Later, in this or another thread: a tick means the same time whoever converts it. */
    int64_t first_ns = timebase_mono_at_ns(clock, stamps[0]);
    for (int i = 0; i < EVENTS; i++) {
        struct timebase_instant event;
        timebase_at(clock, stamps[i], &event);
        printf("event %d: tick %" PRIu64 " = %" PRId64 " ns, +/- %" PRIu64
               " from the system clock, %+" PRId64 " ns from the first\n",
               i, event.ticks, event.utc_ns, event.maxerror_ns, event.mono_ns - first_ns);
    }

    /* The way back: at which tick will it be a second later? The bound says how sure that is. */
    struct timebase_instant later;
    uint64_t then = timebase_ticks_at_mono(clock, first_ns + NS_PER_SEC);
    timebase_at(clock, then, &later);
    printf("a second after the first: tick %" PRIu64 ", %" PRIu64 " ticks later, +/- %.0f us\n",
           then, then - stamps[0], (double)later.maxerror_ns / 1e3);
    return 0;
}
