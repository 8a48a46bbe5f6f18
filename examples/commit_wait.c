/* SPDX-License-Identifier: MIT */
/*
 * commit_wait: number an event by a time that nobody who hears of it can be behind.
 *
 * The event gets the latest time that it may be now, and is told of only when that time is
 * certainly past: whoever hears of it and then asks any clock, gets a later one.
 */
#include <inttypes.h>
#include <stdio.h>

#include <timebase.h>

#define PATIENCE_NS 100000000

static void work(void)
{
    printf("the work of the transaction goes here, while the doubt grows old\n");
}

int main(void)
{
    timebase_clock *clock; /* the daemon's: the process' own has no more than an estimate */
    struct timebase_interval now;
    timebase_clock_attach_or_default(&clock, NULL);
    int64_t deadline_ns = timebase_mono_ns(clock) + PATIENCE_NS;

    int error = timebase_clock_wait_bound(clock, 50000000, deadline_ns, &now);
    if (error != TIMEBASE_OK) {
        /* Where nobody promises anything about UTC: take another order then. */
        printf("no bound below 50 ms: %s\n", timebase_strerror(error));
        return error == TIMEBASE_E_INVALID ? 1 : 0;
    }
    int64_t commit_ns = now.latest_ns;
    work();
    error = timebase_clock_wait_after(clock, commit_ns, TIMEBASE_NO_DEADLINE);
    printf("committed at %" PRId64 ": %s\n", commit_ns, timebase_strerror(error));
    return error == TIMEBASE_OK ? 0 : 1;
}
