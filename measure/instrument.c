/* SPDX-License-Identifier: MIT */
#include "instrument.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define MOVED 0.004   /* a tenth of a step at the last of the readings, and twice a look's error */
#define COARSE_NS 1.0 /* a counter with shorter steps is read once */
#define CALM_LOOKS 3
#define PATIENCE_MOST 1024
#define FIRST_LEAST 2
#define FIRST_MOST 6
#define PAIRS 64
#define WORSE 1.5
#define SHARED_BELOW 0.85 /* of the most additions seen in a cycle: a neighbour leaves fewer */

static bool is_coarse(const struct timebase_waiter *waiter)
{
    struct timebase_waiter_description about;
    return timebase_waiter_describe(waiter, &about) == TIMEBASE_OK && about.quantum_ns > COARSE_NS;
}

static bool has_moved(double before, double now)
{
    return before <= 0 || now > before * (1 + MOVED) || now < before * (1 - MOVED);
}

/*
 * Does a neighbour use the core? Beside a busy neighbour readings take longer, and a calibration
 * would hold only until the neighbour is gone.
 */
static bool is_shared(struct timebase_bench_instrument *instrument,
                      const struct timebase_bench_core *core)
{
    double additions = core->add_ticks > 0 ? core->cycle_ticks / core->add_ticks : 0;
    if (additions > instrument->most_additions)
        instrument->most_additions = additions;
    return additions < SHARED_BELOW * instrument->most_additions;
}

static int compare(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* Of pairs of readings with nothing between: three quarters are within this of their median. */
static double scatter_of(const struct timebase_waiter *waiter)
{
    struct timebase_fine_readings taken_first, taken_second;
    struct timebase_fine_reading first, second;
    double taken[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        uint64_t base = timebase_ticks_ordered();
        timebase_wait_take_fine(waiter, &taken_first);
        timebase_wait_take_fine(waiter, &taken_second);
        timebase_wait_place_fine(waiter, &taken_first, base, &first);
        timebase_wait_place_fine(waiter, &taken_second, base, &second);
        taken[i] = second.ticks - first.last_ticks;
    }
    qsort(taken, PAIRS, sizeof taken[0], compare);
    double middle = taken[PAIRS / 2];
    for (int i = 0; i < PAIRS; i++)
        taken[i] = taken[i] > middle ? taken[i] - middle : middle - taken[i];
    qsort(taken, PAIRS, sizeof taken[0], compare);
    return taken[PAIRS * 3 / 4];
}

/*
 * A calibration was disturbed if readings scatter more than after the best calibration so far. Then
 * it is repeated once the core is calm; each further repetition waits for twice as many calm looks.
 */
static int calibrate(struct timebase_bench_instrument *instrument)
{
    struct timebase_bench_core after;
    int result = timebase_waiter_calibrate(instrument->waiter);
    double scatter = scatter_of(instrument->waiter);
    timebase_bench_core_look(&after);
    if (instrument->calibrations == 0 || scatter < instrument->least_scatter_ticks)
        instrument->least_scatter_ticks = scatter;
    instrument->disturbed = scatter > WORSE * instrument->least_scatter_ticks + 1;
    instrument->patience = !instrument->disturbed ? CALM_LOOKS
        : instrument->patience < PATIENCE_MOST    ? 2 * instrument->patience
                                                  : PATIENCE_MOST;
    instrument->cycle_ticks = after.cycle_ticks;
    instrument->calibrations++;
    instrument->calm_looks = 0;
    return result;
}

/* Calibrates several times at once, so that there is something to compare with. */
static int begin(struct timebase_bench_instrument *instrument)
{
    int result = TIMEBASE_OK;
    for (int i = 0; i < FIRST_MOST && result == TIMEBASE_OK; i++) {
        result = calibrate(instrument);
        if (i + 1 >= FIRST_LEAST && !instrument->disturbed)
            break;
    }
    return result;
}

/* A single look may have met a brief moment; `patience` looks in a row that agree have not. */
static bool is_calm(struct timebase_bench_instrument *instrument,
                    const struct timebase_bench_core *now)
{
    bool same = !has_moved(instrument->last_cycle_ticks, now->cycle_ticks);
    instrument->last_cycle_ticks = now->cycle_ticks;
    instrument->calm_looks = same && !is_shared(instrument, now) ? instrument->calm_looks + 1 : 0;
    return instrument->calm_looks >= instrument->patience;
}

int timebase_bench_instrument_follow(struct timebase_bench_instrument *instrument,
                                     const struct timebase_bench_core *core)
{
    struct timebase_bench_core now;
    if (instrument == NULL || instrument->waiter == NULL)
        return TIMEBASE_E_INVALID;
    if (core == NULL)
        timebase_bench_core_look(&now);
    else
        now = *core;
    bool first = instrument->cycle_ticks <= 0, calm = is_calm(instrument, &now);
    bool wrong = instrument->disturbed || has_moved(instrument->cycle_ticks, now.cycle_ticks);
    if (!is_coarse(instrument->waiter) || !(first || (wrong && calm)))
        return TIMEBASE_OK;
    return first ? begin(instrument) : calibrate(instrument);
}
