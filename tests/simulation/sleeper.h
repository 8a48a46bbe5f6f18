/* SPDX-License-Identifier: MIT */
/*
 * sleeper: waits in virtual time. Sleeping ends after the moment asked for by a latency that the
 * scenario chooses; reading the clock takes a little; polling takes the time it takes, and is
 * counted.
 */
#ifndef SIMULATION_SLEEPER_H
#define SIMULATION_SLEEPER_H

#include <stdint.h>

#include "timing/sleep/sleep.h"

#define MICROSECOND 1000
#define MILLISECOND 1000000
#define SECOND 1000000000

struct bed {
    int64_t now_ns;
    uint64_t chance; /* state of the random numbers */
    uint64_t seed;   /* what they began with */
    int64_t (*latency_ns)(struct bed *bed);
    struct sleeper sleeper;
    int64_t lead_ns, period_ns, target_ns;
    /* Counted since bed_forget(). */
    int64_t began_ns, polled_ns;
    uint64_t waits, slept, late, missed; /* late: no time for the lead; missed: none at all */
};

/* A sleeper who has learnt nothing: lead 4 us. The seed is printed. */
void bed_make(struct bed *bed, int64_t period_ns, int64_t (*latency_ns)(struct bed *bed));

/* Wait for the next target, a period after the last one, or several if that is over. */
void bed_wait(struct bed *bed);
void bed_wait_times(struct bed *bed, uint64_t times);
void bed_forget(struct bed *bed);

/* Of all the time since bed_forget(), the share that was polled; of the waits, those late. */
double bed_polled_share(const struct bed *bed);
double bed_late_share(const struct bed *bed);

/* In (0, 1]; exponential with this mean; 0 or 1, the latter with this probability. */
double bed_chance(struct bed *bed);
double bed_exponential(struct bed *bed, double mean);
int bed_happens(struct bed *bed, double probability);

/* Latencies: of a machine at rest, some 17 us and seldom more than 40. */
int64_t latency_usual(struct bed *bed);

#endif
