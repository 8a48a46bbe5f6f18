/* SPDX-License-Identifier: MIT */
/*
 * The first two calls of a process into the library: prints the nanoseconds from before it attaches
 * to the page that it is given until after its first reading. Begun by bench/trust_reads.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <timebase/clock.h>

static int64_t kernel_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(int argc, char **argv)
{
    timebase_clock *clock;
    if (argc != 2)
        return 2;
    kernel_ns(); /* the first use of the kernel's own clock is not the library's cost */
    int64_t start_ns = kernel_ns();
    int error = timebase_clock_attach(&clock, argv[1]);
    int64_t utc_ns = error == TIMEBASE_OK ? timebase_utc_ns(clock) : 0;
    int64_t end_ns = kernel_ns();
    printf("%" PRId64 "\n", end_ns - start_ns);
    return error != TIMEBASE_OK || utc_ns == 0;
}
