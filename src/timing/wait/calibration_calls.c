/* SPDX-License-Identifier: MIT */
#include "calibration_calls.h"

#include <stddef.h>

#include "timing/learn/quantile.h"

#include "calibration_trials.h"
#include "outcome.h"
#include "rehearsal.h"
#include "stages.h"

enum {
    TRIALS = 64,
    READING_TRIALS = 128,
    DELAY_TRIALS = 128,
    MOST_READING_NS = 20,
    LEAD_TRIALS = 8,
    LEAD_NS = 600,
    LEAD_DOUBLED = 6, /* times at most */
};

/* From here, to a wait that polls in C before its approach, whichever it is. */
static uint64_t ahead_ticks(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double varied = (80 + waiter->uses * 13 % 200) / learnt->period_ns;
    return (uint64_t)(learnt->lead_ticks + waiter_coarse_ticks(waiter) + learnt->plain_bias_ticks +
                      varied);
}

/* What the counter's step makes of the difference of two readings, and a little more. */
static double reach_ticks(const struct waiter *waiter)
{
    return 1.5 * waiter->vernier.step_ticks + 8;
}

/* ---- readings and rehearsals -------------------------------------------------------------- */

static double time_of_rehearsals(struct waiter *waiter)
{
    double times[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        uint64_t start = timebase_ticks();
        rehearsal_near(waiter, (struct rehearsal_plan){waiter->learnt.exact, EVENT_CALLED});
        times[i] = (double)(timebase_ticks() - start);
    }
    quantile_sort(times, TRIALS);
    return quantile_at(times, TRIALS, 0.75);
}

/* Delays and readings are called as everybody does: those calls are a part of what they take. */
static struct timebase_waiter *public_of(struct waiter *waiter)
{
    return (struct timebase_waiter *)(void *)waiter;
}

struct fine_event {
    struct waiter *waiter;
    struct timebase_fine_reading reading;
};

static void read_fine(void *argument)
{
    struct fine_event *event = (struct fine_event *)argument;
    timebase_wait_read_fine(public_of(event->waiter), event->waiter->approach.target_ticks,
                            &event->reading);
}

/*
 * From the call of a fine reading to its first reading. What waits and rehearsals have in common is
 * no part of it: how long that takes of what is believed changes with the core's clock and load. So
 * it is measured beside a rehearsal.
 */
static struct rehearsal one_reading(struct waiter *waiter, struct rehearsal_plan plan)
{
    struct fine_event event = {.waiter = waiter};
    struct wait wait = {.waiter = waiter, .function = read_fine, .argument = &event};
    wait.entered_ticks = timebase_ticks();
    wait.ticks = wait.entered_ticks + ahead_ticks(waiter);
    stages_run(&wait);
    waiter->unsettled = NOTHING_LEFT; /* the rehearsal overwrites what it has to tell */
    int is_even = waiter_polls_agreed(waiter);
    struct rehearsal done = rehearsal_near(waiter, plan);
    done.error_ticks = event.reading.ticks - done.error_ticks;
    done.is_even &= is_even;
    return done;
}

/* Where the counter's reading is emulated it is not steady. */
static void find_reading(struct waiter *waiter)
{
    struct trials trials;
    double most = MOST_READING_NS / waiter->learnt.period_ns;
    struct rehearsal_plan plan = {waiter->learnt.exact, EVENT_CALLED};
    trials_run(waiter, plan, one_reading, READING_TRIALS, &trials);
    double ticks = quantile_mean_about(trials.errors, trials.count, reach_ticks(waiter));
    waiter->learnt.reading_ticks = ticks > 0 && ticks < most ? ticks : 0;
}

/* ---- returns ------------------------------------------------------------------------------ */

/* What rehearsals follow from here on is measured by rehearsals. */
static double mean_of_rehearsals(struct waiter *waiter, struct rehearsal_plan plan,
                                 double *stamp_ticks)
{
    struct trials trials;
    trials_run(waiter, plan, rehearsal_near, TRIALS, &trials);
    *stamp_ticks = quantile_low_mean(trials.stamps, trials.count);
    return quantile_low_mean(trials.errors, trials.count);
}

static void find_exits(struct waiter *waiter, int exact, double *stamps)
{
    double *exits = waiter->learnt.exit_ticks[exact];
    for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++)
        exits[way] = mean_of_rehearsals(waiter, (struct rehearsal_plan){exact, way}, &stamps[way]);
}

static void find_exit(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double stamps[EVENT_WAYS];
    if (learnt->exact)
        find_exits(waiter, 1, stamps);
    find_exits(waiter, 0, stamps);
    for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++)
        learnt->plain_stamp_ticks[way] = stamps[way] - learnt->exit_ticks[0][way];
}

/* Of exact waits that end by the loop. */
static void find_ends(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    waiter->calibrated_end = END_BY_LOOP;
    enum event_way ways = waiter->ways.leaves ? EVENT_WAYS : EVENT_CALLED + 1;
    for (enum event_way way = EVENT_CALLED; way < ways; way++)
        learnt->loop_bias_ticks[way] = mean_of_rehearsals(waiter, (struct rehearsal_plan){1, way},
                                                          &learnt->loop_stamp_ticks[way]);
    waiter->calibrated_end = END_BY_RUN;
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

static int late_calls(struct waiter *waiter)
{
    struct wait wait = {
        .waiter = waiter, .flags = TIMEBASE_WAIT_PLAIN, .function = approach_event_none};
    int late = 0;
    for (int i = 0; i < LEAD_TRIALS; i++) {
        struct timebase_wait_result result;
        wait.result = &result;
        wait.entered_ticks = timebase_ticks();
        wait.ticks = wait.entered_ticks + 4 * ahead_ticks(waiter);
        late += stages_run(&wait) == 1 && result.disturbance == 0;
    }
    return late;
}

/*
 * The code between polling in C and the approach takes a tenth of this, but more on slow machines.
 * If the thread was held up, a late call says nothing about the machine, and is not counted.
 */
static void find_lead(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->lead_ticks = LEAD_NS / learnt->period_ns;
    for (int doubled = 0; doubled < LEAD_DOUBLED && late_calls(waiter) > LEAD_TRIALS / 4; doubled++)
        learnt->lead_ticks *= 2;
}

/* From one fine reading to the next, with the delay between them. */
static double one_delay(struct waiter *waiter, uint64_t ns, int measured)
{
    struct timebase_waiter *public = public_of(waiter);
    struct timebase_fine_reading before, after;
    struct timebase_wait_result result;
    uint64_t base = timebase_ticks();
    timebase_wait_read_fine(public, base, &before);
    waiter->delay(public, ns, 0, measured ? &result : NULL);
    timebase_wait_read_fine(public, base, &after);
    return after.ticks - before.ticks;
}

/* The same with nothing between the readings. It is a function of its own, because a branch in
 * one_delay() would be predicted wrongly now and then. */
static double nothing(struct waiter *waiter)
{
    struct timebase_waiter *public = public_of(waiter);
    struct timebase_fine_reading before, after;
    uint64_t base = timebase_ticks();
    timebase_wait_read_fine(public, base, &before);
    timebase_wait_read_fine(public, base, &after);
    return after.ticks - before.ticks;
}

/*
 * How much longer a delay is than what it counts; and for what of it comes behind its last reading.
 * Each is measured beside nothing(): both contain the rest of a fine reading, which takes a fifth
 * longer while another thread uses the core.
 */
static double find_fixed(struct waiter *waiter, uint64_t ns, int measured, double *after_ticks)
{
    struct waiter_delay *follows =
        waiter->calibrated_way < DELAY_WAYS ? waiter->learnt.delays[waiter->calibrated_way] : NULL;
    double values[DELAY_TRIALS], behind[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++) {
        if (follows != NULL)
            follows[measured] = (struct waiter_delay){0};
        values[i] = one_delay(waiter, ns, measured);
        values[i] -= nothing(waiter);
        behind[i] = values[i] - (double)waiter->delay_taken_ticks;
    }
    *after_ticks = quantile_mean_about(behind, DELAY_TRIALS, 2 * reach_ticks(waiter));
    return quantile_mean_about(values, DELAY_TRIALS, reach_ticks(waiter)) -
        (double)ns / waiter->learnt.period_ns;
}

/* The first of two runs ends as a delay by one run does; from there on it is followed. */
static void begin_between(struct waiter *waiter)
{
    for (int measured = 0; measured < 2; measured++) {
        const struct waiter_delay *one = &waiter->learnt.delays[DELAY_BY_RUN][measured];
        waiter->learnt.between_ticks[measured] = one->fixed_ticks - one->after_ticks;
    }
}

static void find_way(struct waiter *waiter, enum delay_way way, uint64_t ns)
{
    waiter->calibrated_way = way;
    for (int measured = 0; measured < 2; measured++) {
        struct waiter_delay found;
        found.fixed_ticks = find_fixed(waiter, ns, measured, &found.after_ticks);
        waiter->learnt.delays[way][measured] = found;
    }
}

static void find_ways(struct waiter *waiter)
{
    enum { UNCHECKED_NS = 150, ONE_NS = 300, TWO_NS = 900 };
    double after_ticks;
    waiter->calibrated_way = DELAY_UNCHECKED;
    waiter->learnt.delay_fixed_ticks = find_fixed(waiter, UNCHECKED_NS, 0, &after_ticks);
    find_way(waiter, DELAY_BY_LOOP, ONE_NS);
    find_way(waiter, DELAY_BY_RUN, ONE_NS);
    begin_between(waiter);
    find_way(waiter, DELAY_BY_TWO_RUNS, TWO_NS);
    waiter->contradicted_run = (struct caution){0};
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
 * From a delay's reading at its call to its fine reading. Its end is a wait's, which rehearsals
 * follow: so only the beginning counts.
 */
static void find_beginning(struct waiter *waiter)
{
    double reads[DELAY_TRIALS];
    for (int i = 0; i < DELAY_TRIALS; i++) {
        waiter->delay(public_of(waiter), delay_by_wait_ns(waiter), TIMEBASE_WAIT_PLAIN, NULL);
        reads[i] = waiter->last.read_ticks - waiter->vernier.half_step_ticks;
    }
    waiter->learnt.delay_read_ticks = quantile_mean_about(reads, DELAY_TRIALS, reach_ticks(waiter));
}

static void find_delay(struct waiter *waiter)
{
    find_beginning(waiter);
    if (waiter->ways.run != NULL && waiter->learnt.exact)
        find_ways(waiter);
}

void calibrate_calls(struct waiter *waiter)
{
    waiter->unsettled = NOTHING_LEFT;
    waiter->learnt.rehearsal_ticks = time_of_rehearsals(waiter);
    find_lead(waiter);
    find_reading(waiter);
    find_returns(waiter);
    find_delay(waiter);
    outcome_settle_open(waiter);
}
