/* SPDX-License-Identifier: MIT */
/*
 * A program that asks for the time all along: the benchmark of 2011, gettimeofday() again and again.
 *
 *     asking CALLS NAME
 *
 * prints "NAME: 1000000 calls in 1.234 s, 1234 ns each". The time is that of the counter, by the
 * kernel's raw clock at the begin and at the end.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The kernel's, whatever stands before the C library. */
static int64_t now_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int count, char **arguments)
{
    struct timeval time;
    if (count != 3) {
        fprintf(stderr, "usage: asking CALLS NAME\n");
        return 2;
    }
    uint64_t calls = strtoull(arguments[1], NULL, 10);
    int64_t begin_ns = now_ns();
    for (uint64_t i = 0; i < calls; i++)
        gettimeofday(&time, NULL);
    double passed_ns = (double)(now_ns() - begin_ns);
    printf("%s: %" PRIu64 " calls in %.3f s, %.0f ns each\n", arguments[2], calls, passed_ns / 1e9,
           passed_ns / (double)calls);
    return 0;
}
