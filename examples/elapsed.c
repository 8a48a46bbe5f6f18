/* SPDX-License-Identifier: MIT */
/* elapsed: how long a few instructions take, without what the watch itself takes. */
#include <inttypes.h>
#include <stdio.h>

#include <timebase.h>

#define ROUNDS 1000

static volatile unsigned sink;

static void work(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        sink = sink * 2654435761u + i;
}

static void print(const char *what, struct timebase_elapsed elapsed)
{
    printf("%-28s %10.1f ns +/- %.1f (%" PRId64 " ticks)\n", what, elapsed.ns,
           elapsed.uncertainty_ns, elapsed.ticks);
}

int main(void)
{
    struct timebase_stopwatch watch;
    int error = timebase_stopwatch_calibrate(&watch, timebase_clock_default());
    if (error != TIMEBASE_OK) {
        fprintf(stderr, "calibrate: %s\n", timebase_strerror(error));
        return 1;
    }
    printf("an empty lap takes %" PRIu64 " ticks; they are subtracted\n", watch.overhead_ticks);

    struct timebase_elapsed elapsed;
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    {
    }
    print("nothing", elapsed);
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    {
        work();
    }
    print("work, first time", elapsed);

    /* Nested, by hand: the inner lap's own cost is taken off the outer one. */
    struct timebase_lap outer = timebase_stopwatch_start(&watch);
    work();
    struct timebase_lap inner = timebase_stopwatch_start(&watch);
    work();
    struct timebase_elapsed second = timebase_stopwatch_stop(&watch, inner);
    struct timebase_elapsed both = timebase_stopwatch_stop(&watch, outer);
    print("work twice", both);
    print("the second of the two", second);
    return 0;
}
