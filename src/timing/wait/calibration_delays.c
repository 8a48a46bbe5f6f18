/* SPDX-License-Identifier: MIT */
#include "calibration_delays.h"

#include <stddef.h>

#include "timing/learn/quantile.h"
#include "timing/learn/within.h"

#include "calibration_trials.h"
#include "delay_at_once.h"
#include "outcome.h"

enum { DELAY_TRIALS = 128, VARIED_NS = 400, AT_ONCE_NS = 400 };

/*
 * A delay by the loop ends with a step of the counter, so one that follows it by code that always
 * takes as long would begin at the same phase of a step, in trial after trial: what is found would
 * be off by up to half a step.
 */
static void pass_phases(struct waiter *waiter)
{
    enum { MOST_CYCLES = 4096 };
    double step = waiter->vernier.step_ticks / waiter->tempo.cycle_ticks;
    uint32_t most = 16 + (uint32_t)within(0, 2 * step, MOST_CYCLES);
    for (uint32_t left = (uint32_t)waiter_throw_dice(waiter, most); left > 0; left--)
        __asm__ __volatile__("" : "+r"(left));
}

/* Both are placed when both have been taken, as a lap is to have nothing else in it. */
struct timed {
    struct timebase_fine_readings before, after;
};

static double length_of(struct waiter *waiter, const struct timed *timed)
{
    struct timebase_fine_reading before, after;
    uint64_t base = timed->before.ticks[0];
    timebase_wait_place_fine(waiter_public(waiter), &timed->before, base, &before);
    timebase_wait_place_fine(waiter_public(waiter), &timed->after, base, &after);
    return after.ticks - before.last_ticks;
}

/* The loop at the call as it nearly always is: one that asks for no lines. */
static unsigned flags_of(enum delay_way way)
{
    return way == DELAY_AT_ONCE ? TIMEBASE_WAIT_PLAIN : 0;
}

static double one_delay(struct waiter *waiter, uint64_t ns, int measured)
{
    struct timebase_waiter *public = waiter_public(waiter);
    struct timebase_wait_result result;
    struct timed timed;
    pass_phases(waiter);
    if (waiter->calibrated_way == DELAY_AT_ONCE || waiter->calibrated_way == DELAY_AFTER_PAUSE)
        waiter->delay_called_ticks = waiter_long_before(timebase_ticks());
    timebase_wait_take_fine(public, &timed.before);
    waiter->delay(public, ns, flags_of(waiter->calibrated_way), measured ? &result : NULL);
    timebase_wait_take_fine(public, &timed.after);
    return length_of(waiter, &timed);
}

/* The same with nothing between the readings. It is a function of its own, because a branch in
 * one_delay() would be predicted wrongly now and then. */
static double nothing(struct waiter *waiter)
{
    struct timebase_waiter *public = waiter_public(waiter);
    struct timed timed;
    timebase_wait_take_fine(public, &timed.before);
    timebase_wait_take_fine(public, &timed.after);
    return length_of(waiter, &timed);
}

/* What a delay of `ns` and more took, and what it was asked to take. */
static double one_trial(struct waiter *waiter, uint64_t ns, int measured, double *asked_ticks)
{
    uint64_t asked_ns = ns + (uint64_t)waiter_throw_dice(waiter, VARIED_NS);
    double taken_ticks = one_delay(waiter, asked_ns, measured);
    *asked_ticks = (double)asked_ns / waiter->learnt.period_ns;
    return taken_ticks - nothing(waiter);
}

/*
 * How much longer a delay is than what it counts; and for what of it comes behind its last reading.
 * Each is measured beside nothing(): both contain the end of a fine reading and the beginning of
 * the next one. They vary over so many polls that nothing predicts the exit of a loop, which takes
 * 10 to 20 ns less where it is predicted.
 */
static double find_fixed(struct waiter *waiter, uint64_t ns, int measured, double *after_ticks)
{
    struct waiter_delay *begins =
        waiter->calibrated_way < DELAY_WAYS ? waiter->learnt.delays[waiter->calibrated_way] : NULL;
    double values[DELAY_TRIALS], behind[DELAY_TRIALS];
    if (begins != NULL)
        begins[measured] = (struct waiter_delay){0};
    for (int i = 0; i < DELAY_TRIALS; i++) {
        double asked_ticks, taken_ticks = one_trial(waiter, ns, measured, &asked_ticks);
        behind[i] = taken_ticks - (double)waiter->delay_taken_ticks;
        values[i] = taken_ticks - asked_ticks;
    }
    *after_ticks = quantile_mean_about(behind, DELAY_TRIALS, 2 * trials_reach_ticks(waiter));
    return quantile_mean_about(values, DELAY_TRIALS, trials_reach_ticks(waiter));
}

/* The first of two runs ends as a delay by one run does; from there on it is followed. */
static void begin_between(struct waiter *waiter)
{
    for (int measured = 0; measured < 2; measured++) {
        const struct waiter_delay *one = &waiter->learnt.delays[DELAY_BY_RUN][measured];
        waiter->learnt.between_ticks[measured] = one->fixed_ticks - one->after_ticks;
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
    struct waiter_delay found;
    waiter->calibrated_way = way;
    found.fixed_ticks = find_fixed(waiter, ns, measured, &found.after_ticks);
    waiter->learnt.delays[way][measured] = found;
}

static void find_way(struct waiter *waiter, enum delay_way way, uint64_t ns)
{
    find_one(waiter, way, ns, 0);
    find_one(waiter, way, ns, 1);
}

/*
 * What comes behind the loop of one by cold code is what its caller sees as well. It is found by
 * code that is not cold: how cold it will be is not known. From its end to its stamp is followed
 * (delay_at_once.c), and the rest is not, where the loop has a stamp.
 */
static void find_at_once(struct waiter *waiter)
{
    enum { LAST_NS = 50, ONE = 1 };
    double values[DELAY_TRIALS], rests[DELAY_TRIALS], reach = trials_reach_ticks(waiter);
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->last_ticks = waiter_ticks_of_ns(waiter, LAST_NS);
    learnt->at_once_ticks = ONE; /* there is one */
    waiter->calibrated_way = DELAY_AT_ONCE;
    for (int i = 0; i < DELAY_TRIALS; i++) {
        double asked_ticks, taken_ticks = one_trial(waiter, AT_ONCE_NS, 0, &asked_ticks);
        values[i] = taken_ticks - asked_ticks;
        rests[i] = values[i] - waiter->delay_error_ticks;
    }
    learnt->at_once_rest_ticks = ONE + quantile_mean_about(rests, DELAY_TRIALS, reach);
    learnt->at_once_ticks = ONE + quantile_mean_about(values, DELAY_TRIALS, reach);
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
        one_delay(waiter, AT_ONCE_NS, 0);
        touched[i] = (double)waiter->delay_touched_ticks;
    }
    quantile_sort(touched, TRIALS);
    double usual = quantile_at(touched, TRIALS, 0.5);
    find_way(waiter, DELAY_AFTER_PAUSE, AT_ONCE_NS);
    learnt->touch_ticks = (int64_t)(usual + waiter->vernier.step_ticks) + TOLERATED_TICKS;
    learnt->touch_least_ns = (uint64_t)least_ns(waiter, DELAY_AFTER_PAUSE);
}

/*
 * By runs so long that the counter's step does not matter; what they have in common falls out. The
 * cycle of approaches is known to half a percent, which is 5 ns of a delay of a microsecond.
 */
static double find_cycle(const struct waiter *waiter)
{
    enum { TRIALS = 9, SHORT = 5000, LONGER = 20000 };
    double ticks[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        uint64_t start = timebase_ticks_ordered();
        waiter->ways.run(SHORT);
        uint64_t between = timebase_ticks_ordered();
        waiter->ways.run(SHORT + LONGER);
        ticks[i] = (double)(timebase_ticks_ordered() - between) - (double)(between - start);
    }
    quantile_sort(ticks, TRIALS);
    return quantile_at(ticks, TRIALS, 0.5) / LONGER;
}

/* As if no delay were long enough for a reading. */
static double find_unchecked(struct waiter *waiter)
{
    enum { UNCHECKED_NS = 150 };
    double after_ticks;
    waiter->learnt.checked_ns = UINT64_MAX;
    waiter->calibrated_way = DELAY_UNCHECKED;
    double fixed_ticks = find_fixed(waiter, UNCHECKED_NS, 0, &after_ticks);
    waiter->learnt.checked_ns = 0;
    return fixed_ticks;
}

/* On slow cores a reading, and what hides the way to it, take longer than others' delays. */
static double shortest_checked_ns(const struct waiter *waiter)
{
    double least = least_ns(waiter, DELAY_BY_RUN);
    return least > DELAY_CHECKED_NS ? least : DELAY_CHECKED_NS;
}

/* What nothing follows afterwards is found so often, between the others. */
enum { ROUNDS = 3 };

struct rounds {
    double unchecked_ticks[ROUNDS], checked_ns[ROUNDS];
    int count;
};

enum { ONE_NS = 300, TWO_NS = 900 };

static void find_runs(struct waiter *waiter, struct rounds *rounds)
{
    rounds->unchecked_ticks[rounds->count] = find_unchecked(waiter);
    find_one(waiter, DELAY_BY_RUN, ONE_NS, 0);
    rounds->checked_ns[rounds->count++] = shortest_checked_ns(waiter);
}

/*
 * A neighbour, or a hypervisor, can make all trials of one round 40 ns longer or shorter: then all
 * delays of 200 ns were too short by that for good.
 */
static double middle(double rounds[ROUNDS])
{
    quantile_sort(rounds, ROUNDS);
    return rounds[ROUNDS / 2];
}

static void find_ways(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct rounds rounds;
    rounds.count = 0;
    learnt->delay_cycle_ticks = find_cycle(waiter);
    find_runs(waiter, &rounds);
    find_way(waiter, DELAY_BY_LOOP, ONE_NS);
    find_at_once(waiter);
    find_runs(waiter, &rounds);
    find_one(waiter, DELAY_BY_RUN, ONE_NS, 1);
    begin_between(waiter);
    find_touch(waiter);
    find_way(waiter, DELAY_BY_TWO_RUNS, TWO_NS);
    find_runs(waiter, &rounds);
    learnt->delay_fixed_ticks = middle(rounds.unchecked_ticks);
    learnt->checked_ns = (uint64_t)middle(rounds.checked_ns);
    waiter->contradicted_run = waiter->far_code = (struct caution){0};
}

/* Longer than all that comes before the end of a wait, on a slow machine too. */
static uint64_t delay_by_wait_ns(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    enum { WAIT_NS = 1700 };
    double before = waiter_coarse_ticks(waiter) + learnt->plain_bias_ticks;
    return WAIT_NS + (uint64_t)(2 * before * learnt->period_ns);
}

/*
 * From a delay's call to its reading there; and from that reading to its fine one. The end is a
 * wait's, which rehearsals follow: so only the beginning counts. Between the reading before it and the
 * call there may be nothing: to work out its length there made each delay 7 ns too short (Emerald
 * Rapids).
 */
static void find_beginning(struct waiter *waiter)
{
    uint64_t ns = delay_by_wait_ns(waiter);
    double calls[DELAY_TRIALS], reads[DELAY_TRIALS];
    double half_step = waiter->vernier.span_ticks / 2; /* after its reading a delay was called */
    for (int i = 0; i < DELAY_TRIALS; i++) {
        struct timebase_fine_readings before;
        struct timebase_fine_reading begin;
        pass_phases(waiter);
        timebase_wait_take_fine(waiter_public(waiter), &before);
        waiter->delay(waiter_public(waiter), ns, TIMEBASE_WAIT_PLAIN, NULL);
        timebase_wait_place_fine(waiter_public(waiter), &before, waiter->last.entered_ticks, &begin);
        calls[i] = half_step - begin.last_ticks - nothing(waiter);
        reads[i] = waiter->last.read_ticks - half_step;
    }
    double reach = trials_reach_ticks(waiter);
    waiter->learnt.delay_call_ticks = quantile_mean_about(calls, DELAY_TRIALS, reach);
    waiter->learnt.delay_read_ticks = quantile_mean_about(reads, DELAY_TRIALS, reach);
}

void calibrate_delays(struct waiter *waiter)
{
    find_beginning(waiter);
    if (waiter->ways.run != NULL && waiter->learnt.exact)
        find_ways(waiter);
    waiter->lesson.of = NULL;
    outcome_settle_open(waiter);
}
