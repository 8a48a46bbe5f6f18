/* SPDX-License-Identifier: MIT
 *
 * The driver's instruments: a batch timer, an order statistic, the counter's period, and a pin to
 * one CPU.
 */
#ifndef PEERS_DRIVER_H
#define PEERS_DRIVER_H

#include "peers.h"

#include <stddef.h>
#include <x86intrin.h>

struct language {
    const char *title;
    const char *(*name)(uint32_t peer);
    uint64_t (*run)(uint32_t peer, uint64_t calls);
    int32_t (*fell_back)(uint32_t peer);
};

struct row {
    const struct language *language;
    uint32_t peer;
    uint64_t *ticks; /* one batch a round */
};

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
uint64_t at_share(
    struct row *row, size_t rounds, double share); /* sorts the row; share 0.5 is the median */
const char *go_peer_name_const(uint32_t peer); /* Go's exported functions cannot say const */

#endif
