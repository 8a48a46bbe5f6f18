/* SPDX-License-Identifier: MIT */
/*
 * calibrate: the machine as waits see it. In order, since each step needs the one before:
 *
 *   warm up     until the core clock stands still, or 3 ms
 *   readings    step and phase of the counter, distances of the vernier's readings
 *   run         ticks from the clean sample to the event, by the length of the run: the table
 *   exact       waits at random targets: bias, spread, earliest; return after the event
 *   plain       the same with the polling loop
 *   delay       ticks of a run alone, by its length
 *
 * Events are measured by a fine reading as their first act. Some 3 ms after the warm-up. Means are
 * trimmed: an interrupt spoils the trials it hits, not the result.
 */
#include <string.h>

#include <timebase/counter.h>

#include "../counter/probe.h"
#include "quantile.h"
#include "table.h"
#include "waiter.h"

#define SLOW_TICK_NS 30 /* a run is some 80 ns: too short to fill such ticks */

enum {
    SERIES = 768, /* for the vernier's distances */
    PASSES = 6,   /* through the lengths of the run */
    TRIALS_A_PASS = 8,
    TRIALS = 256, /* exact, and plain */
    DELAY_TRIALS = 64,
    LONGER_TRIALS = 48,
    LONGER_GUESS = 4 * APPROACH_LONGER, /* quarters of a tick; never 0: a loop counts it down */
    LOOSE_COARSE = 1000,                /* ticks; before the right one is known */
    NO_TIME_LEFT = 1 << 26,
};

/* Numerical Recipes' generator: the phases of the trials need no better. */
static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525 + 1013904223;
}

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    return (uint32_t)(((uint64_t)next_random(seed) * limit) >> 32);
}

/* 80 to 280 ns, and a tick at least. */
static uint64_t some_ticks(const struct waiter *waiter, uint32_t *seed)
{
    double ticks = 1 / waiter->learnt.period_ns;
    return 1 + (uint64_t)(80 * ticks) + random_below(seed, (uint32_t)(200 * ticks) + 2);
}

/* ---- warm up ------------------------------------------------------------------------------ */

static uint64_t time_of_work(void)
{
    uint64_t start = timebase_ticks_ordered();
    for (int i = 0; i < 20000; i++)
        __asm__ __volatile__("");
    return timebase_ticks_ordered() - start;
}

/* Until four rounds in a row took the same to 0.4 %. */
static void warm_up(const struct waiter *waiter)
{
    uint64_t end = timebase_ticks() + (uint64_t)(3e6 / waiter->learnt.period_ns);
    uint64_t before = 0;
    for (int steady = 0; steady < 4 && (int64_t)(timebase_ticks() - end) < 0;) {
        uint64_t now = time_of_work();
        uint64_t change = now > before ? now - before : before - now;
        steady = change <= now / 256 ? steady + 1 : 0;
        before = now;
    }
}

/* ---- readings ----------------------------------------------------------------------------- */

static void find_step(struct waiter *waiter)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter_find_granularity(&counter);
    waiter->vernier.step_ticks = (double)counter.granularity_ticks;
    waiter->vernier.half_step_ticks = (double)(counter.granularity_ticks - 1) / 2;
    waiter->learnt.phase_ticks = timebase_ticks_ordered() % counter.granularity_ticks;
}

/* A series that an interrupt lengthened would move the mean: twice the shortest is too long. */
static void find_offsets(struct waiter *waiter)
{
    struct vernier_sums sums;
    uint32_t readings[APPROACH_FINE], shortest = UINT32_MAX, seed = 1;
    memset(&sums, 0, sizeof(sums));
    for (int i = 0; i < SERIES; i++) {
        for (uint32_t left = random_below(&seed, 32); left > 0; left--)
            __asm__ __volatile__("");
        waiter->ways.read_fine(readings);
        uint32_t length = readings[APPROACH_FINE - 1] - readings[0];
        shortest = length < shortest ? length : shortest;
        if (i >= 16 && length < shortest + shortest / 4)
            vernier_add(&sums, readings);
    }
    if (vernier_fit(&waiter->vernier, &sums) == 0)
        waiter->vernier.readings = APPROACH_FINE;
}

/* A vernier pays where the step is longer than what the sample leaves open otherwise. */
static void find_readings(struct waiter *waiter)
{
    find_step(waiter);
    waiter->vernier.readings = 1;
    waiter->best = waiter->ways.single;
    if (waiter->vernier.step_ticks < 5 || waiter->ways.read_fine == NULL)
        return;
    find_offsets(waiter);
    if (waiter->vernier.readings > 1)
        waiter->best = waiter->ways.vernier;
}

static void publish_offsets(struct waiter *waiter)
{
    waiter->approach.step_256 = (int32_t)(waiter->vernier.step_ticks * 256) - 1;
    for (int k = 0; k < APPROACH_FINE; k++)
        waiter->approach.offsets_256[k] = (int32_t)(waiter->vernier.offsets[k] * 256 + 0.5);
}

/* ---- trials ------------------------------------------------------------------------------- */

struct trial {
    struct waiter *waiter;
    struct timebase_fine_reading event; /* relative to the target */
};

static void measure_event(void *argument)
{
    struct trial *trial = (struct trial *)argument;
    waiter_read_fine(trial->waiter, trial->waiter->approach.target_ticks, &trial->event);
}

/* Dispatch a trial at the target that the approach was set up for. */
static void run_trial(struct trial *trial, approach_function *approach)
{
    struct approach *a = &trial->waiter->approach;
    a->event = measure_event;
    a->argument = trial;
    a->not_before_ticks = a->target_ticks - (UINT64_C(1) << 62);
    evidence_begin(&trial->waiter->evidence, a);
    approach(a);
    evidence_clear(&trial->waiter->evidence, a);
}

/* When the first reading of the sample was taken, relative to the target. */
static double first_reading(const struct waiter *waiter)
{
    return waiter->approach.middle_256 / 256.0 + waiter->vernier.half_step_ticks;
}

/* ---- run ---------------------------------------------------------------------------------- */

static double one_latency(struct waiter *waiter, uint32_t *seed, double *entry)
{
    struct trial trial = {waiter, {0, 0}};
    struct approach *a = &waiter->approach;
    a->target_ticks = timebase_ticks() + LOOSE_COARSE + 100 + random_below(seed, 256);
    a->leave_ticks = a->target_ticks - LOOSE_COARSE;
    a->base_256 = NO_TIME_LEFT; /* entry 0, whatever the time */
    run_trial(&trial, waiter->best);
    *entry = first_reading(waiter) + LOOSE_COARSE;
    return trial.event.ticks - first_reading(waiter);
}

static void find_latencies(struct waiter *waiter, double latencies[TABLE_RUNS], double *entries)
{
    double values[TABLE_RUNS][PASSES * TRIALS_A_PASS];
    uint32_t seed = 7;
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < TABLE_RUNS; i++) {
            memset(waiter->table, TABLE_SHORTEST_RUN + i * TABLE_RUN_STEP, sizeof(waiter->table));
            for (int trial = 0; trial < TRIALS_A_PASS; trial++, entries++)
                values[i][pass * TRIALS_A_PASS + trial] = one_latency(waiter, &seed, entries);
        }
    for (int i = 0; i < TABLE_RUNS; i++)
        latencies[i] = quantile_trimmed_mean(values[i], PASSES * TRIALS_A_PASS);
}

/* One approach that began too early by about a turn: what it took, in quarters of a tick. */
static int one_longer(struct waiter *waiter, uint32_t *seed, double *quarters)
{
    enum { TOO_EARLY = 120 };
    struct trial trial = {waiter, {0, 0}};
    struct approach *a = &waiter->approach;
    double table_ends = waiter->learnt.shortest_ticks + APPROACH_TABLE_ENTRIES / 4.0;
    uint64_t before = (uint64_t)(table_ends + TOO_EARLY);
    waiter_aim(waiter, timebase_ticks() + before + 200 + random_below(seed, 256), 0, 1);
    a->leave_ticks = a->target_ticks - before;
    run_trial(&trial, waiter->best);
    int turns = waiter_turns(waiter);
    if (turns > 0)
        *quarters = a->longer_quarters + 4 * trial.event.ticks / turns;
    return turns > 0;
}

static void find_longer(struct waiter *waiter)
{
    double quarters[LONGER_TRIALS];
    uint32_t seed = 5;
    int count = 0;
    waiter->approach.longer_quarters = LONGER_GUESS;
    for (int i = 0; i < LONGER_TRIALS; i++)
        count += one_longer(waiter, &seed, &quarters[count]);
    double mean = count > 0 ? quantile_trimmed_mean(quarters, count) : 0;
    if (mean > LONGER_GUESS / 4 && mean < APPROACH_TABLE_ENTRIES)
        waiter->approach.longer_quarters = (int32_t)mean;
    waiter->learnt.longer_quarters = waiter->approach.longer_quarters;
}

/* The polls end early enough for nearly all to find the sample before the shortest run. */
static int find_run(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    enum { ENTRIES = PASSES * TRIALS_A_PASS * TABLE_RUNS };
    double latencies[TABLE_RUNS], entries[ENTRIES];
    find_latencies(waiter, latencies, entries);
    if (table_build(waiter->table, latencies) != 0)
        return 1;
    quantile_sort(entries, ENTRIES);
    learnt->shortest_ticks = latencies[0];
    learnt->longest_ticks = latencies[TABLE_RUNS - 1];
    learnt->instruction_ticks =
        (latencies[TABLE_RUNS - 1] - latencies[0]) / ((TABLE_RUNS - 1) * TABLE_RUN_STEP);
    double range = (latencies[TABLE_RUNS - 1] - latencies[0]) * 3 / 4;
    double first = quantile_at(entries, ENTRIES, 0.05), last = quantile_at(entries, ENTRIES, 0.97);
    learnt->coarse_ticks = latencies[0] + (last < first + range ? last : first + range) + 8;
    learnt->coarse_most_ticks = learnt->coarse_ticks + 24; /* still within the table */
    return quantile_at(entries, ENTRIES, 0.5) > first + range;
}

/* ---- exact and plain ---------------------------------------------------------------------- */

static void one_event(struct waiter *waiter, int exact, uint32_t *seed, double *error,
                      double *after_stamp)
{
    struct trial trial = {waiter, {0, 0}};
    uint64_t room = (uint64_t)waiter->learnt.coarse_ticks + some_ticks(waiter, seed);
    waiter_aim(waiter, timebase_ticks() + room, 0, exact);
    run_trial(&trial, exact ? waiter->best : approach_poll);
    *error = trial.event.ticks;
    if (exact)
        waiter->learnt.sample_width_ticks +=
            (waiter->approach.width_256 / 256.0 + waiter->vernier.step_ticks) / TRIALS;
    *after_stamp = trial.event.ticks -
        waiter_middle(waiter, waiter->approach.event_ticks, waiter->approach.target_ticks);
}

static void find_events(struct waiter *waiter, int exact, double errors[TRIALS])
{
    double after_stamp[TRIALS];
    uint32_t seed = 11;
    for (int i = 0; i < TRIALS; i++)
        one_event(waiter, exact, &seed, &errors[i], &after_stamp[i]);
    waiter->learnt.stamp_ticks[exact] = quantile_trimmed_mean(after_stamp, TRIALS);
    quantile_sort(errors, TRIALS);
}

static void find_exact(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double errors[TRIALS];
    find_events(waiter, 1, errors);
    double bias = quantile_at(errors, TRIALS, 0.5);
    learnt->shortest_ticks += bias;
    learnt->longest_ticks += bias;
    learnt->exact_spread_ticks =
        quantile_at(errors, TRIALS, 0.95) - quantile_at(errors, TRIALS, 0.05);
    learnt->early_ticks = bias - quantile_at(errors, TRIALS, 0.02) + learnt->instruction_ticks;
}

static void find_plain(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double errors[TRIALS];
    learnt->plain_bias_ticks = 0;
    find_events(waiter, 0, errors);
    learnt->plain_bias_ticks = quantile_at(errors, TRIALS, 0.5);
    learnt->plain_spread_ticks =
        quantile_at(errors, TRIALS, 0.95) - quantile_at(errors, TRIALS, 0.05);
    if (!learnt->exact)
        learnt->early_ticks = learnt->plain_bias_ticks - quantile_at(errors, TRIALS, 0.02);
}

/* ---- the public function's return, and delays --------------------------------------------- */

static double one_return(struct timebase_waiter *public, struct waiter *waiter, int exact,
                         int measured)
{
    struct timebase_fine_reading after;
    struct timebase_wait_result result;
    uint32_t seed = 3;
    uint64_t target =
        timebase_ticks() + (uint64_t)waiter->learnt.coarse_ticks + some_ticks(waiter, &seed);
    timebase_wait_until_ticks(public, target, exact ? 0 : TIMEBASE_WAIT_PLAIN,
                              measured ? &result : NULL);
    waiter_read_fine(waiter, target, &after);
    return after.ticks;
}

static double mean_return(struct timebase_waiter *public, struct waiter *waiter, int exact,
                          int measured)
{
    double errors[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++)
        errors[i] = one_return(public, waiter, exact, measured);
    return quantile_trimmed_mean(errors, DELAY_TRIALS);
}

static void find_exit(struct timebase_waiter *public, struct waiter *waiter)
{
    for (int exact = 0; exact <= waiter->learnt.exact; exact++)
        for (int measured = 0; measured < 2; measured++)
            waiter->learnt.exit_ticks[exact][measured] =
                mean_return(public, waiter, exact, measured);
}

/* Ticks from a fine reading to the next with a call of this between: or with nothing. */
struct delay {
    struct timebase_waiter *public;
    uint64_t ns; /* 0: nothing */
    int measured;
};

static double one_delay(const struct delay *delay)
{
    const struct waiter *waiter = waiter_within(delay->public);
    struct timebase_fine_reading before, after;
    struct timebase_wait_result result;
    uint64_t base = timebase_ticks();
    waiter_read_fine(waiter, base, &before);
    if (delay->ns > 0)
        timebase_delay_ns(delay->public, delay->ns, 0, delay->measured ? &result : NULL);
    waiter_read_fine(waiter, base, &after);
    return after.ticks - before.ticks;
}

/* How much longer than asked for. */
static double mean_excess(struct delay delay, double nothing_ticks)
{
    const struct waiter *waiter = waiter_within(delay.public);
    double values[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++)
        values[i] = one_delay(&delay);
    return quantile_trimmed_mean(values, DELAY_TRIALS) - nothing_ticks -
        (double)delay.ns / waiter->learnt.period_ns;
}

/* First with the instruction of the approaches; the difference of two delays then corrects it. */
static void find_delay(struct timebase_waiter *public, struct waiter *waiter)
{
    enum { SHORT_NS = 150, LONG_NS = 650, WAIT_NS = 1500 };
    struct waiter_learnt *learnt = &waiter->learnt;
    double nothing = mean_excess((struct delay){public, 0, 0}, 0);
    if (waiter->ways.run != NULL && learnt->instruction_ticks > 0) {
        learnt->run_ticks = learnt->instruction_ticks;
        double shorter = mean_excess((struct delay){public, SHORT_NS, 0}, nothing);
        double longer = mean_excess((struct delay){public, LONG_NS, 0}, nothing);
        double asked = (LONG_NS - SHORT_NS) / learnt->period_ns;
        learnt->run_ticks *= (asked + longer - shorter) / asked;
        for (int measured = 0; measured < 2; measured++)
            learnt->delay_fixed_ticks[measured] =
                mean_excess((struct delay){public, SHORT_NS, measured}, nothing);
    }
    learnt->delay_bias_ticks = mean_excess((struct delay){public, WAIT_NS, 0}, nothing);
}

/* ---- all ---------------------------------------------------------------------------------- */

static double find_period_ns(const timebase_clock *clock)
{
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t ticks =
        timebase_ticks_at_mono(clock, now_ns + 1000000000) - timebase_ticks_at_mono(clock, now_ns);
    return ticks > 0 ? 1e9 / (double)ticks : 1;
}

void waiter_calibrate(struct timebase_waiter *public)
{
    struct waiter *waiter = waiter_within(public);
    uint64_t start = timebase_ticks();
    waiter_settle(waiter);
    uint64_t waits = waiter->waits, late = waiter->late, disturbed = waiter->disturbed;
    memset(&waiter->learnt, 0, sizeof(waiter->learnt));
    waiter->learnt.period_ns = find_period_ns(waiter->clock);
    waiter->approach.table = waiter->table;
    waiter->approach.longer_quarters = LONGER_GUESS;
    warm_up(waiter);
    waiter->cpu = waiter_current_cpu(waiter);
    find_readings(waiter);
    publish_offsets(waiter);
    waiter->learnt.exact =
        waiter->best != NULL && waiter->learnt.period_ns < SLOW_TICK_NS && find_run(waiter) == 0;
    if (waiter->learnt.exact) {
        find_longer(waiter);
        find_exact(waiter);
    }
    find_plain(waiter);
    /* Emulated or disturbed: the table may be worse than none. */
    if (waiter->learnt.exact_spread_ticks > 2 * waiter->learnt.plain_spread_ticks)
        waiter->learnt.exact = 0;
    waiter->wait_is_open = waiter->can_track = 0;
    find_exit(public, waiter);
    find_delay(public, waiter);
    waiter_settle(waiter);
    waiter->waits = waits;
    waiter->late = late;
    waiter->disturbed = disturbed;
    waiter->can_track = 0;
    waiter->calibrations++;
    waiter->calibration_ns = (double)(timebase_ticks() - start) * waiter->learnt.period_ns;
}
