/* SPDX-License-Identifier: MIT */
/*
 * inline: the readings in C's inline code, for a Lisp that takes turns with it. For each line
 * "READING CALLS" of its input it prints the mean of so many calls in nanoseconds.
 */
#include <stdio.h>
#include <string.h>

#include <timebase.h>

static volatile uint64_t sink;

#define BATCH(name, expression)                                                                    \
    static void name(const timebase_clock *clock, unsigned calls)                                  \
    {                                                                                              \
        uint64_t all = 0;                                                                          \
        (void)clock;                                                                               \
        for (unsigned i = 0; i < calls; i++)                                                       \
            all ^= (uint64_t)(expression);                                                         \
        sink = all;                                                                                \
    }

static uint64_t bounded(const timebase_clock *clock)
{
    struct timebase_interval bounds;
    int status = timebase_utc_interval(clock, &bounds);
    return (uint64_t)bounds.earliest_ns ^ (uint64_t)bounds.latest_ns ^ (uint64_t)status;
}

BATCH(utc_ns, timebase_utc_ns(clock))
BATCH(utc_bounded, bounded(clock))
BATCH(mono_ns, timebase_mono_ns(clock))
BATCH(ticks, timebase_ticks())

static const struct {
    const char *name;
    void (*batch)(const timebase_clock *, unsigned);
} readings[] = {
    {"utc_ns", utc_ns}, {"utc_bounded", utc_bounded}, {"mono_ns", mono_ns}, {"ticks", ticks}};

static int find(const char *name)
{
    for (unsigned i = 0; i < sizeof readings / sizeof readings[0]; i++)
        if (strcmp(name, readings[i].name) == 0)
            return (int)i;
    return -1;
}

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();
    struct timebase_stopwatch watch;
    char name[32];
    unsigned calls;
    timebase_stopwatch_calibrate(&watch, clock);
    while (scanf("%31s %u", name, &calls) == 2) {
        int which = find(name);
        if (which < 0 || calls == 0) {
            fprintf(stderr, "inline: no reading %s\n", name);
            return 1;
        }
        readings[which].batch(clock, calls / 10 + 1); /* what the pause has made cold */
        struct timebase_lap lap = timebase_stopwatch_start(&watch);
        readings[which].batch(clock, calls);
        struct timebase_elapsed elapsed = timebase_stopwatch_stop(&watch, lap);
        printf("%.3f\n", elapsed.ns / calls);
        fflush(stdout);
    }
    return 0;
}
