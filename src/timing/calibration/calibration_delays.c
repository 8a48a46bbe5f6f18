/* SPDX-License-Identifier: MIT */
#include "calibration_delays.h"

#include <stddef.h>

#include "timing/delay/delay_at_once.h"
#include "timing/learn/quantile.h"
#include "timing/learn/within.h"
#include "timing/stages/outcome.h"
#include "timing/waiter/readings.h"

#include "calibration_counted.h"
#include "calibration_delay.h"
#include "calibration_from_call.h"
#include "calibration_trials.h"

enum { AT_ONCE_NS = 400 };

/* The first of two runs ends as a delay by one run does; from there on it is followed. */
static void begin_between(struct waiter *waiter)
{
    for (int measured = 0; measured < 2; measured++) {
        const struct waiter_delay *one = &waiter->learnt.delays[DELAY_BY_RUN][measured];
        waiter->learnt.between[measured] =
            (struct waiter_delay){.fixed_ticks = one->fixed_ticks - one->after_ticks};
    }
}

/* With less there would be no time for a run. */
static double least_ns(const struct waiter *waiter, enum delay_way way)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double takes_ns = learnt->delays[way][0].fixed_ticks * learnt->period_ns;
    return within(0, takes_ns, DELAY_SHORT_NS) + DELAY_LEAST_RUN_NS;
}

static void find_one(struct waiter *waiter, enum delay_way way, uint64_t ns, int measured)
{
    struct waiter_delay found = {0};
    waiter->calibrated_way = way;
    found.fixed_ticks = calibration_delay_fixed(waiter, ns, measured, &found.after_ticks);
    waiter->learnt.delays[way][measured] = found;
}

static void find_way(struct waiter *waiter, enum delay_way way, uint64_t ns)
{
    find_one(waiter, way, ns, 0);
    find_one(waiter, way, ns, 1);
}

/* The same for one without a reading behind the loop. */
static double find_bare_loop(struct waiter *waiter)
{
    double ignored;
    waiter->calibrated_way = DELAY_AT_ONCE_BARE;
    return calibration_delay_fixed(waiter, AT_ONCE_NS, 0, &ignored);
}

/*
 * What comes behind the loop of one by cold code is what its caller sees as well. It is found by
 * code that is not cold: how cold it will be is not known. From its end to its stamp is followed
 * (delay_at_once.c), and the rest is not, where the loop has a stamp.
 */
static void find_at_once(struct waiter *waiter)
{
    enum { LAST_NS = 50, ONE = 1 };
    double values[CALIBRATION_DELAYS], rests[CALIBRATION_DELAYS], reach = trials_reach_ticks(waiter);
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->last_ticks = waiter_ticks_of_ns(waiter, LAST_NS);
    learnt->at_once_ticks = ONE; /* there is one */
    waiter->calibrated_way = DELAY_AT_ONCE;
    for (int i = 0; i < CALIBRATION_DELAYS; i++) {
        double asked_ticks;
        double taken_ticks = calibration_delay_trial(waiter, AT_ONCE_NS, 0, &asked_ticks);
        values[i] = taken_ticks - asked_ticks;
        rests[i] = values[i] - waiter->delay_error_ticks;
    }
    learnt->at_once_rest_ticks = ONE + quantile_mean_about(rests, CALIBRATION_DELAYS, reach);
    double stamped_ticks = quantile_mean_about(values, CALIBRATION_DELAYS, reach);
    if (!waiter_has_vernier(waiter) && waiter_may_read(waiter))
        learnt->at_once_stamp_ticks = waiter_rounded(stamped_ticks - find_bare_loop(waiter));
    learnt->at_once_ticks = ONE + stamped_ticks;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
}

/*
 * How long code that is near takes to touch, and what two readings of the counter can be off. So it
 * is a step at most that such a delay is late by where it was not quite so near.
 */
static void find_touch(struct waiter *waiter)
{
    enum { TRIALS = 33, TOLERATED_TICKS = 8 };
    struct waiter_learnt *learnt = &waiter->learnt;
    double touched[TRIALS];
    waiter->calibrated_way = DELAY_AFTER_PAUSE;
    learnt->touch_ticks = INT64_MAX;
    for (int i = 0; i < TRIALS; i++) {
        calibration_delay_one(waiter, AT_ONCE_NS, 0);
        touched[i] = (double)waiter->delay_touched_ticks;
    }
    quantile_sort(touched, TRIALS);
    double usual = quantile_at(touched, TRIALS, 0.5);
    find_way(waiter, DELAY_AFTER_PAUSE, AT_ONCE_NS);
    learnt->touch_ticks = (int64_t)(usual + waiter->vernier.step_ticks) + TOLERATED_TICKS;
    learnt->touch_least_ns = (uint64_t)least_ns(waiter, DELAY_AFTER_PAUSE);
}

/* As if no delay were long enough for a reading. */
static double find_unchecked(struct waiter *waiter)
{
    enum { UNCHECKED_NS = 150 };
    double after_ticks;
    waiter->learnt.checked_ns = UINT64_MAX;
    waiter->calibrated_way = DELAY_UNCHECKED;
    double fixed_ticks = calibration_delay_fixed(waiter, UNCHECKED_NS, 0, &after_ticks);
    waiter->learnt.checked_ns = 0;
    return fixed_ticks;
}

/* On slow cores a reading, and what hides the way to it, take longer than others' delays. */
static double shortest_checked_ns(const struct waiter *waiter)
{
    double least = least_ns(waiter, DELAY_BY_RUN);
    return least > DELAY_CHECKED_NS ? least : DELAY_CHECKED_NS;
}

/* Between the others. */
struct rounds {
    double unchecked_ticks[CALIBRATION_ROUNDS], checked_ns[CALIBRATION_ROUNDS];
    int count;
};

enum { ONE_NS = 300, TWO_NS = 900 };

static void find_runs(struct waiter *waiter, struct rounds *rounds)
{
    rounds->unchecked_ticks[rounds->count] = find_unchecked(waiter);
    find_one(waiter, DELAY_BY_RUN, ONE_NS, 0);
    rounds->checked_ns[rounds->count++] = shortest_checked_ns(waiter);
}

static void run(const struct waiter *waiter, uint64_t cycles)
{
    waiter->ways.run(cycles);
}

static void find_ways(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct rounds rounds;
    rounds.count = 0;
    learnt->delay_cycle_ticks = calibration_delay_cycle(waiter, run);
    find_runs(waiter, &rounds);
    find_way(waiter, DELAY_BY_LOOP, ONE_NS);
    find_at_once(waiter);
    find_runs(waiter, &rounds);
    find_one(waiter, DELAY_BY_RUN, ONE_NS, 1);
    begin_between(waiter);
    find_touch(waiter);
    find_way(waiter, DELAY_BY_TWO_RUNS, TWO_NS);
    find_runs(waiter, &rounds);
    learnt->delay_fixed_ticks = calibration_delay_middle(rounds.unchecked_ticks);
    learnt->checked_ns = (uint64_t)calibration_delay_middle(rounds.checked_ns);
    calibrate_counted(waiter);
    calibrate_from_call(waiter);
    waiter->contradicted_run = waiter->far_code = (struct caution){0}; /* what held it up was no code */
}

/* Longer than all that comes before the end of a wait, on a slow machine too. */
static uint64_t delay_by_wait_ns(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    enum { WAIT_NS = 1700 };
    double before = waiter_coarse_ticks(waiter) + learnt->plain_bias_ticks;
    return WAIT_NS + (uint64_t)(2 * before * learnt->period_ns);
}

/* From the last reading of a fine one to that of an event, with no call between. */
static double find_gap(struct waiter *waiter)
{
    struct timebase_fine_readings before;
    struct timebase_fine_reading after;
    uint32_t readings[APPROACH_FINE];
    timebase_wait_take_fine(waiter_public(waiter), &before);
    waiter_read_event(waiter, readings);
    waiter_intersect_event(waiter, readings, before.ticks[0], &after);
    return after.ticks - waiter_last(waiter, before.ticks, before.ticks[0]);
}

/*
 * From a delay's call to its reading there; and from that reading to its fine one. The end is a
 * wait's, which rehearsals follow: so only the beginning counts. Between the reading before it
 * and the call there may be nothing: to work out its length there made each delay 7 ns too short
 * (Emerald Rapids). One that no other was soon before comes to it by another way.
 *
 * What both take together is known to a fraction of a step, by fine readings, and where between
 * them the one at the call was to a step.
 */
static void find_beginning(struct waiter *waiter, int is_cold)
{
    enum { REACH_TICKS = 8 };
    uint64_t ns = delay_by_wait_ns(waiter);
    double wholes[CALIBRATION_DELAYS], reads[CALIBRATION_DELAYS];
    double half_step = waiter->vernier.span_ticks / 2; /* after its reading a delay was called */
    for (int i = 0; i < CALIBRATION_DELAYS; i++) {
        struct timebase_fine_readings before;
        struct timebase_fine_reading begin;
        calibration_delay_pass_phases(waiter);
        uint64_t now = timebase_ticks();
        waiter->delay_called_ticks = is_cold ? waiter_long_before(now) : now;
        timebase_wait_take_fine(waiter_public(waiter), &before);
        uint64_t begin_ticks = timebase_delay_begin();
        waiter->delay(waiter_public(waiter), ns, TIMEBASE_WAIT_PLAIN, NULL, begin_ticks);
        timebase_wait_place_fine(waiter_public(waiter), &before, begin_ticks, &begin);
        wholes[i] = waiter->last.read_ticks - begin.last_ticks - find_gap(waiter);
        reads[i] = waiter->last.read_ticks - half_step;
    }
    double whole_ticks = quantile_mean_about(wholes, CALIBRATION_DELAYS, REACH_TICKS);
    double read_ticks = quantile_mean_about(reads, CALIBRATION_DELAYS, trials_reach_ticks(waiter));
    if (!is_cold)
        waiter->learnt.delay_call_ticks = whole_ticks - read_ticks;
    waiter->learnt.delay_read_ticks[is_cold] = whole_ticks - waiter->learnt.delay_call_ticks;
}

void calibrate_delays(struct waiter *waiter)
{
    waiter->counted = (struct waiter_counted){0};
    int has_roots = waiter->ways.count != NULL && waiter_has_vernier(waiter);
    waiter->counted.roots_from_ns = has_roots ? DELAY_SHORT_NS : 0;
    find_beginning(waiter, 0);
    find_beginning(waiter, 1);
    if (waiter->ways.run != NULL && waiter->learnt.exact)
        find_ways(waiter);
    waiter->delay_fetched = DELAY_RAN;
    waiter->lesson.of = NULL;
    outcome_settle_open(waiter);
}
