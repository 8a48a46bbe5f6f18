/* SPDX-License-Identifier: MIT */
#include "calibration_event.h"

#include <string.h>

#include "quantile.h"
#include "table.h"
#include "track.h"
#include "calibration_trial.h"

#define SLOW_TICK_NS 30 /* a run is some 80 ns: too short to fill such ticks */

enum {
    PASSES = 6, /* through the lengths of the run */
    TRIALS_A_PASS = 8,
    TRIALS = 256, /* exact, and plain */
    LONGER_TRIALS = 48,
    LONGER_GUESS = 4 * APPROACH_LONGER, /* quarters of a tick; never 0: a loop counts it down */
    LOOSE_COARSE = 1000,                /* ticks; before the right one is known */
    NO_TIME_LEFT = 1 << 26,
};

struct event_trial {
    struct waiter *waiter;
    struct timebase_fine_reading event; /* relative to the target */
};

static void measure_event(void *argument)
{
    struct event_trial *trial = (struct event_trial *)argument;
    waiter_read_fine(trial->waiter, trial->waiter->approach.target_ticks, &trial->event);
}

/* Dispatch a trial at the target that the approach was set up for. */
static void run_trial(struct event_trial *trial, approach_function *approach)
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
    struct event_trial trial = {waiter, {0, 0}};
    struct approach *a = &waiter->approach;
    a->target_ticks = timebase_ticks() + LOOSE_COARSE + 100 + calibration_random(seed, 256);
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
    struct event_trial trial = {waiter, {0, 0}};
    struct approach *a = &waiter->approach;
    double table_ends = waiter->learnt.shortest_ticks + APPROACH_TABLE_ENTRIES / 4.0;
    uint64_t before = (uint64_t)(table_ends + TOO_EARLY);
    waiter_aim(waiter, timebase_ticks() + before + 200 + calibration_random(seed, 256), 0, 1);
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
    struct event_trial trial = {waiter, {0, 0}};
    uint64_t room = (uint64_t)waiter->learnt.coarse_ticks + calibration_some_ticks(waiter, seed);
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

void calibrate_exact(struct waiter *waiter)
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

void calibrate_plain(struct waiter *waiter)
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

void calibrate_run(struct waiter *waiter)
{
    waiter->approach.table = waiter->table;
    waiter->approach.longer_quarters = LONGER_GUESS;
    waiter->learnt.exact =
        waiter->best != NULL && waiter->learnt.period_ns < SLOW_TICK_NS && find_run(waiter) == 0;
    if (waiter->learnt.exact)
        find_longer(waiter);
}
