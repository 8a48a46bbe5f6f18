/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trial.h"

#include "../../../../measure/phase.h"
#include "../../instruments.h"

#include <time.h>

#define SHORT_NS 20000
enum { WARM_UP_SHORT = 10, WARM_UP_LONG = 1 };

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void nothing(uint64_t ns)
{
    (void)ns;
}

/* Through a pointer, whatever is called: as others are, and as nothing is. */
static double lap(void (*volatile wait)(uint64_t), uint64_t ns, struct stopwatch *watch)
{
    struct stopwatch_lap lap;

    bench_pass_phases();
    stopwatch_begin(watch, &lap);
    wait(ns);
    stopwatch_end(watch, &lap);
    return stopwatch_check(stopwatch_length(watch, &lap), lap.begin);
}

/* The core's clock moves, and with it what the stopwatch adds: so that is measured each time. */
static double delay(struct cell *cell, struct stopwatch *watch, double ticks_per_ns)
{
    cell->costs[cell->count] = lap(nothing, 0, watch);
    return lap(cell->peer->delay, cell->asked_ns, watch) - (double)cell->asked_ns * ticks_per_ns;
}

/* The next instant of the grid that leaves half a period to wait for it. */
static uint64_t next_target(struct cell *cell, uint64_t target, uint64_t period_ticks)
{
    uint64_t soonest = ticks_start() + period_ticks / 2;

    for (target += period_ticks; (int64_t)(target - soonest) < 0; target += period_ticks)
        cell->skipped++;
    return target;
}

struct stamp {
    struct stopwatch *watch;
    uint64_t target;
    double ticks;
};

/* The event. A rehearsal stamps too, and is overwritten. */
static void stamp(void *argument)
{
    struct stamp *found = argument;

    found->ticks = stopwatch_read(found->watch, found->target);
}

static double until(const struct cell *cell, struct stopwatch *watch, uint64_t target)
{
    struct stamp found = {watch, target, 0};
    struct appointment appointment = {target, timebase_mono_at_ns(timebase_clock_default(), target),
                                      stamp, &found};

    cell->peer->until(&appointment);
    return stopwatch_check(found.ticks, target);
}

/* Inline, so that the last reading and what follows it are on one line of the cache. */
static inline uint64_t poll(uint64_t target)
{
    uint64_t now;

    do
        now = ticks_start();
    while ((int64_t)(now - target) < 0);
    return now;
}

static double reading(const struct cell *cell, struct stopwatch *watch, double ticks_per_ns)
{
    bench_pass_phases();
    uint64_t before = ticks_start();

    if (cell->kind == KIND_PAIR)
        return (double)(ticks_start() - before);
    if (cell->kind == KIND_LATER)
        before = poll(before + (uint64_t)((double)cell->asked_ns * ticks_per_ns));
    struct stamp found = {watch, before, 0};
    void (*volatile event)(void *) = stamp;
    event(&found);
    return found.ticks;
}

static double once(struct cell *cell, struct stopwatch *watch, double ticks_per_ns,
                   uint64_t *target)
{
    if (cell->kind == KIND_DELAY)
        return delay(cell, watch, ticks_per_ns);
    if (cell->kind != KIND_PERIOD)
        return reading(cell, watch, ticks_per_ns);
    *target = next_target(cell, *target, (uint64_t)((double)cell->asked_ns * ticks_per_ns));
    return until(cell, watch, *target);
}

size_t cell_looks_of_batch(uint32_t batch)
{
    return 2 * ((batch + CHUNK - 1) / CHUNK);
}

static void run_chunk(struct cell *cell, struct stopwatch *watch, double ticks_per_ns,
                      uint32_t trials, uint64_t *target)
{
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);

    for (uint32_t i = 0; i < trials; i++)
        cell->trials[cell->count++] = once(cell, watch, ticks_per_ns, target);
    cell->wall_ns += clock_ns(CLOCK_MONOTONIC) - wall;
    cell->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

void trial_batch(struct cell *cell, struct stopwatch *watch, double ticks_per_ns)
{
    int warm_up = cell->asked_ns < SHORT_NS ? WARM_UP_SHORT : WARM_UP_LONG;

    stopwatch_tune(watch);
    uint64_t target = ticks_start();
    for (int i = 0; i < warm_up; i++)
        once(cell, watch, ticks_per_ns, &target);
    for (uint32_t left = cell->batch; left > 0; left -= left < CHUNK ? left : CHUNK) {
        timebase_bench_core_look(&cell->looks[cell->looked++]);
        run_chunk(cell, watch, ticks_per_ns, left < CHUNK ? left : CHUNK, &target);
        timebase_bench_core_look(&cell->looks[cell->looked++]);
    }
}
