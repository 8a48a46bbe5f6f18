/* SPDX-License-Identifier: MIT */
#include "calibration_ends.h"

#include <stddef.h>

#include "timing/hurry/hurry_tell.h"
#include "timing/hurry/hurry_ways.h"
#include "timing/learn/quantile.h"
#include "timing/learn/within.h"
#include "timing/stages/rehearsal.h"

#include "calibration_trials.h"

enum {
    TRIALS = 64,         /* of each way */
    FINE_TRIALS = 192,   /* ... where nothing but their number makes up for a neighbour's noise */
    LOOP_TRIALS = 128,   /* ... by the loop: their errors fill its period */
    TURN = 8,
    HURRY_GAP_NS = 1000, /* polls by cold code are 0.3 us apart */
};

static void trials_forget(struct trials trials[EVENT_WAYS])
{
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        trials[way].count = 0;
}

/*
 * Exact ones lie close together, but for those that something delayed. The loop's fill a step of
 * the counter, all of it: the mean of their better part would be too small by a tenth of one.
 */
static double middle(const struct waiter *waiter, int exact, double *values, int count)
{
    return exact ? quantile_low_mean(values, count)
                 : quantile_mean_about(values, count, trials_reach_ticks(waiter));
}

static int trials_of(const struct waiter *waiter, int exact)
{
    return !exact ? LOOP_TRIALS : waiter_has_vernier(waiter) ? TRIALS : FINE_TRIALS;
}

/* ---- returns ------------------------------------------------------------------------------ */

/* The same trials' errors and times from the stamp, for each way; and the time between their polls. */
struct exits {
    double events[EVENT_WAYS], stamps[EVENT_WAYS], period_ticks;
};

/* Beside a neighbour both it and the time between polls have two values: the mean has a share of each. */
static double middle_stamp(const struct waiter *waiter, int exact, double *stamps, int count)
{
    int is_mean = exact && !waiter_has_vernier(waiter);
    return is_mean ? quantile_trimmed_mean(stamps, count) : middle(waiter, exact, stamps, count);
}

/*
 * What ways differ by is found by turns of a few trials each: the core's clock changes, and a
 * neighbour that comes or goes meanwhile makes all of them later by 10 ns. What rehearsals follow
 * from here on is measured by rehearsals.
 */
static struct exits find_exits(struct waiter *waiter, int exact, int never_early)
{
    struct exits found;
    struct trials trials[EVENT_WAYS];
    double periods[FINE_TRIALS / TURN * EVENT_WAYS];
    int turns = 0;
    trials_forget(trials);
    waiter->last.exact = exact; /* what is told of a run takes longer than of a loop */
    for (int round = 0; round < trials_of(waiter, exact) / TURN; round++)
        for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++) {
            trials_run(waiter, (struct rehearsal_plan){exact, way, never_early}, rehearsal_near, TURN,
                       &trials[way]);
            periods[turns++] = waiter->period.value;
        }
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++) {
        found.events[way] = middle(waiter, exact, trials[way].errors, trials[way].count);
        found.stamps[way] = middle_stamp(waiter, exact, trials[way].stamps, trials[way].count);
    }
    found.period_ticks = quantile_trimmed_mean(periods, turns);
    return found;
}

/*
 * Where the counter steps far a stamp is known to a step, and the vernier knows the event. Where it does
 * not, a stamp is as good as the event, and without the noise of the polls before it; and what
 * follows a stamp goes with the time between polls, so both are found at once.
 */
static void find_exact_exit(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct exits found = find_exits(waiter, 1, 0);
    const double *by = waiter_has_vernier(waiter) ? found.events : found.stamps;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        learnt->exit_ticks[1][way] = by[way] - by[EVENT_CALLED];
    if (waiter_has_vernier(waiter))
        return;
    learnt->stamp_ticks = found.stamps[EVENT_CALLED];
    learnt->usual_period_ticks = found.period_ticks;
}

static void run_to_end(struct waiter *waiter, enum event_way way, enum approach_end end, int most,
                       struct trials *trials)
{
    waiter->calibrated_end = end;
    trials_run(waiter, (struct rehearsal_plan){1, way, 0}, rehearsal_near, most, trials);
    waiter->calibrated_end = END_BY_RUN;
}

/* It is some 8 cycles: nothing where steps are far. */
static void find_unpredicted(struct waiter *waiter, enum event_way way)
{
    enum { MOST_NS = 10 };
    struct trials predicted, unpredicted;
    double most = MOST_NS / waiter->learnt.period_ns;
    predicted.count = unpredicted.count = 0;
    for (int round = 0; round < FINE_TRIALS / TURN; round++) {
        run_to_end(waiter, way, END_BY_RUN, TURN, &predicted);
        run_to_end(waiter, way, END_UNPREDICTED, TURN, &unpredicted);
    }
    double later = quantile_trimmed_mean(unpredicted.stamps, unpredicted.count) -
        quantile_trimmed_mean(predicted.stamps, predicted.count);
    waiter->learnt.unpredicted_ticks[way] = within(0, later, most);
}

static void find_exit(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    if (learnt->exact)
        find_exact_exit(waiter);
    int may_forget = waiter->ways.forget_returns != NULL && waiter_ends_behind(waiter);
    if (learnt->exact && may_forget && !waiter_has_vernier(waiter))
        for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++)
            find_unpredicted(waiter, way);
    struct exits found = find_exits(waiter, 0, 0), never_early = find_exits(waiter, 0, 1);
    for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++) {
        learnt->exit_ticks[0][way] = found.events[way] - found.events[EVENT_CALLED];
        learnt->plain_stamp_ticks[way] = found.stamps[way] - learnt->exit_ticks[0][way];
    }
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        learnt->never_early_rest_ticks[way] = never_early.stamps[way];
    learnt->never_early_more_ticks =
        never_early.stamps[EVENT_CALLED] - found.stamps[EVENT_CALLED];
}

static void find_end(struct waiter *waiter, enum event_way way)
{
    struct trials trials;
    struct waiter_learnt *learnt = &waiter->learnt;
    trials.count = 0;
    run_to_end(waiter, way, END_BY_LOOP, TRIALS, &trials);
    learnt->loop_bias_ticks[way] = middle(waiter, 0, trials.errors, trials.count);
    learnt->loop_stamp_ticks[way] = middle(waiter, 0, trials.stamps, trials.count);
}

/* Of exact waits that end by the loop. */
static void find_ends(struct waiter *waiter)
{
    enum event_way ways = waiter_ends_behind(waiter) ? EVENT_WAYS : EVENT_CALLED + 1;
    for (enum event_way way = EVENT_CALLED; way < ways; way++)
        find_end(waiter, way);
}

/* All that has to do with how a wait ends. Those that tell write a result that nobody reads. */
static void find_returns(struct waiter *waiter)
{
    struct timebase_wait_result unread;
    waiter->last = (struct wait){.waiter = waiter, .cpu = waiter->cpu, .result = &unread};
    find_exit(waiter);
    if (waiter->learnt.exact && waiter_has_vernier(waiter))
        find_ends(waiter);
    waiter->last.result = NULL;
}

/* ---- in a hurry --------------------------------------------------------------------------- */

/* One whose event is a fine reading. */
struct hurry {
    struct waiter *waiter;
    struct timebase_wait_result result;
    double error_ticks;
};

static void read_event(void *argument)
{
    struct hurry *hurry = (struct hurry *)argument;
    struct timebase_fine_reading found;
    timebase_wait_read_fine(waiter_public(hurry->waiter), hurry->result.target_ticks, &found);
    hurry->error_ticks = found.ticks;
}

static int hurry_within(void *waiter, uint64_t target_ticks, uint64_t flags, void *result,
                        void *frame)
{
    struct hurried asked = {.waiter = (struct waiter *)waiter,
                            .ticks = target_ticks,
                            .flags = (unsigned)flags,
                            .frame = frame,
                            .result = (struct timebase_wait_result *)result,
                            .entered_ticks = timebase_ticks()};
    return result != NULL ? hurry_tell(&asked) : hurry_return(&asked);
}

static void hurry_once(struct hurry *hurry, enum event_way way)
{
    enum { LEAST_NS = 250, MORE_NS = 400 };
    struct waiter *waiter = hurry->waiter;
    double more = waiter_throw_dice(waiter, (uint32_t)(MORE_NS / waiter->learnt.period_ns));
    uint64_t now = timebase_ticks();
    uint64_t target = now + (uint64_t)(LEAST_NS / waiter->learnt.period_ns + more);
    struct hurried call = {.waiter = waiter,
                           .ticks = target,
                           .function = read_event,
                           .argument = hurry,
                           .result = &hurry->result,
                           .entered_ticks = now};
    hurry->result.target_ticks = target;
    if (way == EVENT_CALLED) {
        hurry_call(&call);
        return;
    }
    approach_from(waiter, target, 0, way == EVENT_TELLS ? &hurry->result : NULL, hurry_within);
    read_event(hurry);
}

static void hurry_turn(struct hurry *hurry, enum event_way way, struct trials *trials)
{
    for (int i = 0; i < TURN; i++) {
        hurry_once(hurry, way);
        uint64_t stamp = hurry->waiter->approach.hurry_event_ticks;
        double read = (double)(int64_t)(stamp - hurry->result.target_ticks);
        trials_add(trials, hurry->error_ticks, hurry->error_ticks - read);
    }
}

static void find_hurry(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct hurry hurry = {.waiter = waiter};
    struct trials trials[EVENT_WAYS], plain;
    learnt->half_span_ns = (waiter->vernier.span_ticks + 1) / 2 * learnt->period_ns;
    learnt->hurry_gap_ticks = (uint32_t)waiter_ticks_of_ns(waiter, HURRY_GAP_NS);
    trials_forget(trials);
    plain.count = 0;
    for (int round = 0; round < LOOP_TRIALS / TURN; round++) {
        trials_run(waiter, (struct rehearsal_plan){0, EVENT_CALLED, 0}, rehearsal_near, TURN, &plain);
        for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
            hurry_turn(&hurry, way, &trials[way]);
    }
    double called = middle(waiter, 0, plain.errors, plain.count);
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++) {
        struct trials *of = &trials[way];
        learnt->hurry_ticks[way] = middle(waiter, 0, of->errors, of->count) - called;
        learnt->hurry_rest_ticks[way] = middle(waiter, 0, of->stamps, of->count);
        learnt->hurry_whole_ticks[way] = waiter_rounded(learnt->hurry_rest_ticks[way]);
    }
}

void calibrate_ends(struct waiter *waiter)
{
    find_returns(waiter);
    find_hurry(waiter);
}
