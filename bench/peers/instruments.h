/* SPDX-License-Identifier: MIT
 *
 * What both drivers measure with: fenced readings, one instant on two clocks, the counter's period,
 * and a pin to one CPU.
 */
#ifndef PEERS_INSTRUMENTS_H
#define PEERS_INSTRUMENTS_H

#include <stdint.h>
#include <x86intrin.h>

/* One instant on both clocks. */
struct instant {
    uint64_t ticks;
    int64_t mono_ns; /* CLOCK_MONOTONIC */
};

/* Nothing of the batch may start before the first read or end after the second: a fence on both
 * sides of each. */
static inline uint64_t ticks_start(void)
{
    _mm_lfence();
    uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
}

static inline uint64_t ticks_stop(void)
{
    unsigned cpu;
    uint64_t ticks = __rdtscp(&cpu);
    _mm_lfence();
    return ticks;
}

void die(const char *what) __attribute__((noreturn));
void pin_to_cpu(int cpu);
struct instant instant_now(void);
double period_ns(struct instant begin, struct instant end); /* ns per tick */

#endif
