/* SPDX-License-Identifier: MIT */
/* run: a run of timebase_bench_dispatch(), as its dispatchers see it. */
#ifndef TIMEBASE_BENCH_ACCURACY_RUN_H
#define TIMEBASE_BENCH_ACCURACY_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "accuracy.h"
#include "accuracy_event.h"

struct bench_run {
    const struct timebase_bench_schedule *schedule;
    struct timebase_bench_hit *hits;
    uint32_t hits_made;
    volatile uint32_t due; /* the period whose event is the next to come, from 1 */
    int64_t start_ns;
    volatile int result;
    struct bench_event event;
};

bool bench_run_is_over(const struct bench_run *run);

/* The timer's setting: it expires at the first period and at each one after. */
struct itimerspec bench_run_timer(const struct bench_run *run);

/* The event takes place now. The first of `expired` periods is served, the others are missed. */
void bench_run_dispatch(struct bench_run *run, uint64_t expired);

/*
 * Keeps a hit: what the event read, against the tick at which it was due. mechanism is -1 if no
 * waiter waited.
 */
void bench_run_keep(struct bench_run *run, uint64_t target_ticks, bool late, uint32_t disturbance,
                    int32_t mechanism);

/* When a period begins, and how the kernel takes such an instant; both of CLOCK_MONOTONIC. */
int64_t bench_run_due_ns(const struct bench_run *run, uint32_t period);
struct timespec bench_run_timespec(int64_t ns);

#endif
