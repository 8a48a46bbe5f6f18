/* SPDX-License-Identifier: MIT */
#include "sharing.h"

#include <stddef.h>
#include <time.h>

#define READS_PER_CHECK 1024

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_some(const timebase_clock *clock, int64_t *own, const int64_t *other,
                      struct timebase_bench_sharing *out)
{
    int64_t last = *own;
    for (int i = 0; i < READS_PER_CHECK; i++) {
        int64_t seen = other != NULL ? __atomic_load_n(other, __ATOMIC_ACQUIRE) : 0;
        int64_t floor = seen > last ? seen : last;
        int64_t now = timebase_mono_ns(clock);
        if (now < floor) {
            out->backward++;
            if (floor - now > out->worst_ns)
                out->worst_ns = floor - now;
        }
        last = now;
        __atomic_store_n(own, now, __ATOMIC_RELEASE);
    }
    out->reads += READS_PER_CHECK;
}

/*
 * Reads CLOCK_REALTIME between two instants, and judges whether it can lie within the bounds of
 * both. If the first instant has status UNKNOWN or UNRELIABLE, the clock promises nothing, and
 * nothing is judged; the status of the second is not looked at.
 */
static void check(const timebase_clock *clock, struct timebase_bench_sharing *out)
{
    struct timebase_instant before, after;
    timebase_now(clock, &before);
    int64_t kernel = clock_ns(CLOCK_REALTIME);
    timebase_now(clock, &after);
    uint32_t status = before.flags & TIMEBASE_LINE_STATUS_MASK;
    if (status == TIMEBASE_STATUS_UNKNOWN || status == TIMEBASE_STATUS_UNRELIABLE)
        return;
    out->checks++;
    int64_t early = before.utc_ns - (int64_t)before.maxerror_ns;
    int64_t late = after.utc_ns + (int64_t)after.maxerror_ns;
    out->outside += kernel < early || kernel > late;
}

TIMEBASE_API void timebase_bench_share(const timebase_clock *clock, int64_t *own,
                                       const int64_t *other, uint64_t reads, int64_t for_ns,
                                       struct timebase_bench_sharing *out)
{
    int64_t last_ns = clock_ns(CLOCK_MONOTONIC), end_ns = last_ns + for_ns;
    uint64_t end = out->reads + reads;
    while (out->reads < end && last_ns < end_ns) {
        read_some(clock, own, other, out);
        check(clock, out);
        int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        if (now_ns - last_ns > out->longest_ns)
            out->longest_ns = now_ns - last_ns;
        last_ns = now_ns;
    }
}
