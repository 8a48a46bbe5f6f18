/* SPDX-License-Identifier: MIT */
#include "wakeups.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#define NS_PER_SEC INT64_C(1000000000)

static int64_t monotonic_ns(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

/* If a signal wakes the thread up early, it sleeps again until the same instant. */
static int sleep_until(int64_t mono_ns)
{
    struct timespec instant = {(time_t)(mono_ns / NS_PER_SEC), (long)(mono_ns % NS_PER_SEC)};
    int refused;
    do
        refused = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
    while (refused == EINTR);
    return refused;
}

int timebase_bench_wakeups(uint32_t sleeps, uint64_t period_ns, int64_t *late_ns)
{
    if (late_ns == NULL || sleeps == 0 || period_ns < 1000 || period_ns > (uint64_t)NS_PER_SEC)
        return TIMEBASE_E_INVALID;
    int64_t period = (int64_t)period_ns;
    int64_t instant = monotonic_ns();
    for (uint32_t i = 0; i < sleeps; i++) {
        instant += period;
        if (sleep_until(instant) != 0)
            return TIMEBASE_E_UNSUPPORTED;
        late_ns[i] = monotonic_ns() - instant;
        if (late_ns[i] >= period)
            instant += late_ns[i] / period * period;
    }
    return TIMEBASE_OK;
}
