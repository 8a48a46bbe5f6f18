/* SPDX-License-Identifier: MIT */
#include "calibration_call.h"

#include <stddef.h>

#include "delay.h"
#include "outcome.h"
#include "quantile.h"
#include "stages.h"
#include "calibration_trial.h"

enum {
    DELAY_TRIALS = 64,
    LEAD_TRIALS = 8,
    LEAD_NS = 600,
    LEAD_DOUBLED = 6, /* times at most */
};

/* From here, to a wait that polls in C before its approach, whichever it is. */
static uint64_t ahead_ticks(const struct waiter_learnt *learnt)
{
    return (uint64_t)(learnt->lead_ticks + learnt->coarse_ticks + learnt->plain_bias_ticks);
}

/* As timebase_wait_until_ticks() of a checked target on the waiter's CPU: the same way back. */
static __attribute__((noinline)) int until_ticks(struct waiter *waiter, uint64_t target_ticks,
                                                 unsigned flags,
                                                 struct timebase_wait_result *result)
{
    struct wait wait = {.waiter = waiter, .ticks = target_ticks, .flags = flags, .result = result};
    return stages_run(&wait);
}

static double one_return(struct waiter *waiter, int exact, int measured)
{
    struct timebase_fine_reading after;
    struct timebase_wait_result result;
    uint32_t seed = 3;
    uint64_t target =
        timebase_ticks() + ahead_ticks(&waiter->learnt) + calibration_some_ticks(waiter, &seed);
    until_ticks(waiter, target, exact ? 0 : TIMEBASE_WAIT_PLAIN, measured ? &result : NULL);
    waiter_read_fine(waiter, target, &after);
    return after.ticks;
}

static double mean_return(struct waiter *waiter, int exact, int measured)
{
    double errors[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++)
        errors[i] = one_return(waiter, exact, measured);
    return quantile_trimmed_mean(errors, DELAY_TRIALS);
}

static void find_exit(struct waiter *waiter)
{
    for (int exact = 0; exact <= waiter->learnt.exact; exact++)
        for (int measured = 0; measured < 2; measured++)
            waiter->learnt.exit_ticks[exact][measured] = mean_return(waiter, exact, measured);
}

static int late_calls(struct waiter *waiter)
{
    struct wait wait = {
        .waiter = waiter, .flags = TIMEBASE_WAIT_PLAIN, .function = approach_event_none};
    int late = 0;
    for (int i = 0; i < LEAD_TRIALS; i++) {
        wait.ticks = timebase_ticks() + 4 * ahead_ticks(&waiter->learnt);
        late += stages_run(&wait);
    }
    return late;
}

/*
 * The code between polling in C and the approach takes a tenth of this, but more on slow machines.
 */
static void find_lead(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->lead_ticks = LEAD_NS / learnt->period_ns;
    for (int doubled = 0; doubled < LEAD_DOUBLED && late_calls(waiter) > LEAD_TRIALS / 4; doubled++)
        learnt->lead_ticks *= 2;
}

/* A delay, or nothing, between two fine readings. */
struct calibration_delay {
    struct waiter *waiter;
    uint64_t ns; /* 0: nothing */
    unsigned flags;
    enum delay_kind kind; /* a result makes it DELAY_MEASURED */
};

/* As timebase_delay_ns(), on the waiter's CPU. */
static __attribute__((noinline)) int delay_for(struct waiter *waiter, uint64_t ns, unsigned flags,
                                               struct timebase_wait_result *result)
{
    if (delay_is_short(waiter, ns, flags))
        return delay_by_instructions(waiter, ns, result);
    struct wait wait = delay_as_wait(waiter, (double)ns / waiter->learnt.period_ns, flags, result);
    return stages_run(&wait);
}

static double one_delay(const struct calibration_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    struct timebase_fine_reading before, after;
    struct timebase_wait_result result;
    uint64_t base = timebase_ticks();
    waiter->calibrated_kind = delay->kind;
    waiter_read_fine(waiter, base, &before);
    if (delay->ns > 0)
        delay_for(waiter, delay->ns, delay->flags, delay->kind == DELAY_MEASURED ? &result : NULL);
    waiter_read_fine(waiter, base, &after);
    return after.ticks - before.ticks;
}

/* How much longer than asked for. */
static double mean_excess(struct calibration_delay delay, double nothing_ticks)
{
    double values[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++)
        values[i] = one_delay(&delay);
    return quantile_trimmed_mean(values, DELAY_TRIALS) - nothing_ticks -
        (double)delay.ns / delay.waiter->learnt.period_ns;
}

/* By how much the readings of such a delay differ more than its instructions take. */
static double mean_reading(struct calibration_delay delay)
{
    const struct waiter *waiter = delay.waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    double values[DELAY_TRIALS];
    double run = (double)delay.ns / learnt->period_ns - learnt->delay_fixed_ticks[delay.kind];
    for (int i = 0; i < DELAY_TRIALS; i++) {
        one_delay(&delay);
        values[i] = (double)waiter->followed_ticks - run;
    }
    return quantile_trimmed_mean(values, DELAY_TRIALS);
}

/* Longer than all that comes before the end of a wait, on a slow machine too. */
static uint64_t delay_by_wait_ns(const struct waiter_learnt *learnt)
{
    enum { WAIT_NS = 2600 };
    double before = learnt->coarse_ticks + learnt->plain_bias_ticks;
    return WAIT_NS + (uint64_t)(2 * before * learnt->period_ns);
}

enum { SHORT_NS = 150, LONG_NS = 650 };

/* First with the instruction of the approaches; the difference of two delays then corrects it. */
static void find_instruction(struct waiter *waiter, double nothing)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct calibration_delay shorter = {waiter, SHORT_NS, 0, DELAY_BARE};
    struct calibration_delay longer = {waiter, LONG_NS, 0, DELAY_BARE};
    double asked = (LONG_NS - SHORT_NS) / learnt->period_ns;
    learnt->run_ticks = learnt->instruction_ticks;
    double before = mean_excess(shorter, nothing);
    learnt->run_ticks *= (asked + mean_excess(longer, nothing) - before) / asked;
}

/* What a delay by instructions takes beside them. */
static void find_fixed(struct waiter *waiter, double nothing)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    for (int kind = DELAY_BARE; kind < DELAY_KINDS; kind++) {
        struct calibration_delay delay = {waiter, SHORT_NS, 0, (enum delay_kind)kind};
        learnt->delay_fixed_ticks[kind] = mean_excess(delay, nothing);
        delay.ns = LONG_NS;
        if (kind != DELAY_BARE)
            learnt->delay_read_ticks[kind] = mean_reading(delay);
    }
}

/* How late a delay by a wait is. */
static void find_bias(struct waiter *waiter, double nothing)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct calibration_delay delay = {.waiter = waiter, .ns = delay_by_wait_ns(learnt)};
    for (int way = 0; way < (learnt->exact ? 4 : 2); way++) {
        int exact = way / 2, measured = way % 2;
        delay.flags = exact ? 0 : TIMEBASE_WAIT_PLAIN;
        delay.kind = measured ? DELAY_MEASURED : DELAY_BARE;
        learnt->delay_bias_ticks[exact][measured] = mean_excess(delay, nothing);
    }
}

static void find_delay(struct waiter *waiter)
{
    struct calibration_delay none = {.waiter = waiter, .kind = DELAY_BARE};
    double nothing = mean_excess(none, 0);
    if (waiter->ways.run != NULL && waiter->learnt.instruction_ticks > 0) {
        find_instruction(waiter, nothing);
        find_fixed(waiter, nothing);
    }
    find_bias(waiter, nothing);
}

void calibrate_calls(struct waiter *waiter)
{
    waiter->wait_is_open = waiter->can_track = 0;
    find_lead(waiter);
    find_exit(waiter);
    find_delay(waiter);
    outcome_settle_open(waiter);
    waiter->can_track = 0;
}
