/* SPDX-License-Identifier: MIT */
/* hit: begin a function at an instant, and see how well that went. README.md shows it, too. */
#include <stdio.h>
#include <timebase.h>

/*
 * TIMEBASE_WAIT_REHEARSE calls it twice: some µs before the instant, to have code and data warm,
 * and at the instant. Only the second call may be seen.
 */
static void send(void *packets)
{
    *(int *)packets += timebase_wait_rehearsing() ? 0 : 1;
}

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();

    /* One CPU, SCHED_FIFO, locked memory, no deep idle states: as far as the kernel grants it. */
    const struct timebase_realtime_request wish = {TIMEBASE_REALTIME_ALL, 50, -1};
    struct timebase_realtime rights;
    if (timebase_realtime_acquire(&rights, &wish) != 0)
        puts("Not all rights were granted, so it will be less punctual: see timebase doctor.");

    /* It learns the CPU that the thread is on: pin first. And, from wake-ups that do not matter,
     * how long waking up takes: so the first one that does is not late. */
    static struct timebase_waiter waiter;
    int error = timebase_waiter_init(&waiter, clock);
    for (int i = 0; i < 50 && error >= 0; i++)
        error = timebase_wait_until_mono(&waiter, timebase_mono_ns(clock) + 1000000,
                                         TIMEBASE_WAIT_SLEEP, NULL);

    /* Each millisecond, asleep for most of it. 1 is late: it was sent all the same. */
    int packets = 0, late = 0;
    int64_t start = timebase_mono_ns(clock);
    for (int i = 1; i <= 20 && error >= 0; i++) {
        struct timebase_wait_result result;
        error = timebase_wait_call_mono(&waiter, start + i * INT64_C(1000000),
                                        TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_REHEARSE, send,
                                        &packets, &result);
        late += error == 1;
        if (error >= 0)
            printf("%+.1f ns%s\n", result.error_ns, result.disturbance ? ", disturbed" : "");
    }

    timebase_realtime_release(&rights);
    printf("%d sent, %d of them late\n", packets, late);
    if (error < 0)
        fprintf(stderr, "%s\n", timebase_strerror(error));
    return error < 0;
}
