/* SPDX-License-Identifier: MIT */
/*
 * The report's figures 7 and 8: a delay before the loop, looked up by the rest of the time left
 * divided by the loop's period, makes a reading fall on the target. The report's table was tuned by
 * hand; here each entry is the delay with the smallest mean error in many trials.
 */
#include <timebase/counter.h>

#include "json.h"
#include "loops.h"
#include "machine.h"
#include "trials.h"

enum { PERIOD_MAX = 256, DELAYS_MAX = 128, TURNS = 4 };

struct table {
    uint32_t period;
    uint32_t delays[PERIOD_MAX];
    uint64_t best[PERIOD_MAX]; /* mean error, in thousandths */
};

static struct table table;
static uint64_t sums[PERIOD_MAX];
static uint32_t counts[PERIOD_MAX];

static uint64_t distance_ticks(bool cache_is_on)
{
    return cache_is_on ? 2000 : 100000;
}

/* From one reading of the loop to the next: the width of the errors of the loop alone. */
static uint32_t find_period(const struct trials *alone)
{
    int64_t low = trials_quantile(alone, 0), high = trials_quantile(alone, 980);
    int64_t period = high - low + 1;
    return period < 2 ? 2 : period > PERIOD_MAX - 1 ? PERIOD_MAX - 1 : (uint32_t)period;
}

static int64_t one(delayed_loop_function *loop, uint64_t distance, uint32_t *index)
{
    uint64_t target = timebase_ticks_ordered() + distance;
    return (int64_t)(loop(target, table.delays, table.period, index) - target);
}

/* Trials with one delay for all: what does it do for each rest? */
static void try_delay(delayed_loop_function *loop, uint64_t distance, uint32_t delay)
{
    uint32_t index;
    for (uint32_t i = 0; i < table.period; i++) {
        sums[i] = counts[i] = 0;
        table.delays[i] = delay;
    }
    for (uint32_t i = 0; i < TURNS * table.period; i++) {
        int64_t error = one(loop, distance + i, &index);
        if (error < 0 || error > PERIOD_MAX * 64)
            continue; /* held up: says nothing of the delay */
        sums[index] += (uint64_t)error;
        counts[index]++;
    }
}

static void learn(delayed_loop_function *loop, uint64_t distance)
{
    static uint32_t chosen[PERIOD_MAX];
    uint32_t delays = 2 * table.period < DELAYS_MAX ? 2 * table.period : DELAYS_MAX;
    for (uint32_t i = 0; i < table.period; i++)
        table.best[i] = UINT64_MAX;
    for (uint32_t delay = 0; delay < delays; delay++) {
        try_delay(loop, distance, delay);
        for (uint32_t i = 0; i < table.period; i++) {
            uint64_t mean = counts[i] > 0 ? sums[i] * 1000 / counts[i] : UINT64_MAX;
            if (mean < table.best[i]) {
                table.best[i] = mean;
                chosen[i] = delay;
            }
        }
    }
    for (uint32_t i = 0; i < table.period; i++)
        table.delays[i] = table.best[i] < UINT64_MAX ? chosen[i] : 0;
}

static void run(delayed_loop_function *loop, uint64_t distance, uint32_t count,
                struct trials *trials)
{
    uint32_t index;
    trials->count = 0;
    for (uint32_t i = 0; i < count; i++)
        trials_add(trials, one(loop, distance + i, &index));
}

/* Leaving out the worst tenth, which was held up. */
static int64_t sum_of_most(const struct trials *trials)
{
    int32_t limit = trials_quantile(trials, 900);
    int64_t sum = 0;
    for (int i = 0; i < trials->count; i++)
        sum += trials->ticks[i] <= limit ? trials->ticks[i] : limit;
    return sum;
}

/* The width of the errors is the period but for one tick or so. */
static void learn_about(delayed_loop_function *loop, uint64_t distance, uint32_t period,
                        struct trials *with)
{
    static struct trials attempt;
    static struct table best;
    int64_t least = INT64_MAX;
    for (uint32_t tried = period > 2 ? period - 1 : 2; tried <= period + 1; tried++) {
        table.period = tried;
        learn(loop, distance);
        run(loop, distance, TRIALS_MAX, &attempt);
        if (sum_of_most(&attempt) < least) {
            least = sum_of_most(&attempt);
            best = table;
            *with = attempt;
        }
    }
    table = best;
}

static void print(const struct machine *machine, bool has_table, bool cache_is_on,
                  const struct trials *trials)
{
    json_begin("table");
    json_bool("table", has_table);
    json_number("period_ticks", table.period);
    trials_print_cache(cache_is_on, machine->is_emulated);
    trials_print(trials);
    json_end();
}

static void forget(void)
{
    for (int i = 0; i < PERIOD_MAX; i++)
        table.delays[i] = 0;
}

static void with_cache(const struct machine *machine, bool cache_is_on)
{
    static struct trials without, with;
    delayed_loop_function *loop = (delayed_loop_function *)loops_place(&loops_delayed, 0);
    uint64_t distance = distance_ticks(cache_is_on);
    forget();
    table.period = PERIOD_MAX;
    if (!cache_is_on)
        caches_switch(false);
    run(loop, distance, PLACE_TRIALS, &without); /* fetches all of it */
    run(loop, distance, TRIALS_MAX, &without);
    learn_about(loop, distance, find_period(&without), &with);
    if (!cache_is_on)
        caches_switch(true);
    print(machine, false, cache_is_on, &without);
    print(machine, true, cache_is_on, &with);
    if (cache_is_on) {
        trials_show("without the table", "", &without);
        trials_show("with the table", "", &with);
    }
}

/*
 * The table that was learnt at byte 0, with the code elsewhere: what the report called sensitive to
 * minor modifications of the code. And a table for each place; not without caches, where learning
 * takes seconds.
 */
static void at_all_places(const struct machine *machine, bool is_learnt_each, bool cache_is_on)
{
    static struct trials_summary places[PLACES];
    static struct trials trials;
    uint64_t distance = distance_ticks(cache_is_on);
    for (unsigned offset = 0; offset < PLACES; offset++) {
        delayed_loop_function *loop = (delayed_loop_function *)loops_place(&loops_delayed, offset);
        if (!cache_is_on)
            caches_switch(false);
        if (is_learnt_each)
            learn(loop, distance);
        run(loop, distance, PLACE_TRIALS, &trials);
        if (!cache_is_on)
            caches_switch(true);
        places[offset] = trials_summary(&trials);
    }
    json_begin("table_places");
    json_text("learnt", is_learnt_each ? "each" : "once");
    trials_print_cache(cache_is_on, machine->is_emulated);
    trials_print_places(places);
    json_end();
}

void experiment_table(struct machine *machine)
{
    with_cache(machine, true);
    at_all_places(machine, false, true);
    at_all_places(machine, true, true);
    with_cache(machine, false);
    at_all_places(machine, false, false);
}
