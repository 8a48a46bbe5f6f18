/* SPDX-License-Identifier: MIT */
/* event: the function whose beginning is measured. It takes a fine reading first. */
#ifndef TIMEBASE_BENCH_ACCURACY_EVENT_H
#define TIMEBASE_BENCH_ACCURACY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase.h>

#include "accuracy.h"

/* It has cache lines of its own, so that no other store can evict them. */
struct bench_event {
    const struct timebase_waiter *waiter;
    uint64_t base_ticks;
    struct timebase_fine_readings readings;
    int result; /* of the readings; TIMEBASE_E_BUSY before */
} __attribute__((aligned(128)));

void bench_event_expect(struct bench_event *event, const struct timebase_waiter *waiter,
                        uint64_t base_ticks);

/* For timebase_wait_call_*(); the argument is a struct bench_event. */
void bench_event_take(void *event);

/* When the event was, since its base_ticks. Returns what timebase_wait_place_fine() does. */
int bench_event_place(const struct bench_event *event, struct timebase_fine_reading *out);

/* If the event was read, makes a hit of the reading: its error against the target, which may have
 * moved since. */
int bench_event_hit(const struct bench_event *event, uint64_t target_ticks,
                    struct timebase_bench_hit *out);

/* Before a trial: enum timebase_bench_before. The walk must have been prepared. */
void bench_event_disorder(uint32_t before, const struct timebase_waiter *waiter);

#endif
