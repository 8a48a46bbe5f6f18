/* SPDX-License-Identifier: MIT */
/* interval: which of two events came first, if that can be known at all. */
#include <inttypes.h>
#include <stdio.h>

#include <timebase.h>

#define READINGS_MAX 100000000

static void print(const char *name, const struct timebase_interval *when)
{
    printf("%s: %" PRId64 " ... %" PRId64 " (%" PRId64 " ns)\n", name, when->earliest_ns,
           when->latest_ns, when->latest_ns - when->earliest_ns);
}

static const char *order(const struct timebase_interval *a, const struct timebase_interval *b)
{
    if (timebase_interval_before(a, b))
        return "definitely before";
    return timebase_interval_before(b, a) ? "definitely after" : "overlapping, nobody knows";
}

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();
    struct timebase_interval a, b, c;

    /* The first conversion learns the length of a tick: up to 1 ms, once in a process. */
    timebase_utc_at_ns(clock, timebase_ticks());

    /* Bounds against the system clock; for true UTC: timebase_utc_interval(). */
    if (timebase_realtime_interval(clock, &a) == TIMEBASE_STATUS_UNKNOWN ||
        timebase_realtime_interval(clock, &b) == TIMEBASE_STATUS_UNKNOWN) {
        fprintf(stderr, "nothing is known about the time\n");
        return 1;
    }
    /* Wait out the doubt: from then on everybody's clock agrees that a is over. */
    int readings = 0;
    do {
        timebase_realtime_interval(clock, &c);
    } while (++readings < READINGS_MAX && !timebase_interval_before(&a, &c));

    print("a", &a);
    print("b", &b);
    print("c", &c);
    printf("a and b, one right after the other: %s\n", order(&a, &b));
    printf("a and c, %d readings later: %s\n", readings, order(&a, &c));
    return timebase_interval_before(&a, &c) ? 0 : 1;
}
