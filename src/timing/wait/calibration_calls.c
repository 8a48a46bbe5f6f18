/* SPDX-License-Identifier: MIT */
#include "calibration_calls.h"

#include <stddef.h>

#include "timing/learn/quantile.h"

#include "calibration_trials.h"
#include "hurry_tell.h"
#include "hurry_ways.h"
#include "outcome.h"
#include "rehearsal.h"
#include "stages.h"

enum {
    TRIALS = 64,
    READING_TRIALS = 128,
    MOST_READING_NS = 80,
    LEAD_TRIALS = 8,
    LEAD_NS = 600,
    LEAD_DOUBLED = 6, /* times at most */
    HURRY_GAP_NS = 1000, /* polls by cold code are 0.3 us apart */
};

/* From here, to a wait that polls in C before its approach, whichever it is. */
static uint64_t ahead_ticks(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double varied = (80 + waiter->uses * 13 % 200) / learnt->period_ns;
    return (uint64_t)(learnt->lead_ticks + waiter_coarse_ticks(waiter) + learnt->plain_bias_ticks +
                      varied);
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

/* From a reading of the counter to the first one of a fine reading. */
static double one_reading(struct waiter *waiter, int is_called)
{
    struct timebase_fine_reading found;
    uint32_t readings[APPROACH_FINE];
    uint64_t base = timebase_ticks_ordered();
    if (is_called) {
        timebase_wait_read_fine(waiter_public(waiter), base, &found);
        return found.ticks;
    }
    waiter_read(waiter, readings);
    waiter_intersect(waiter, readings, base, &found);
    return found.ticks;
}

/*
 * From the call of a fine reading to its first reading: what the call adds. No wait is a part of it,
 * nor a rehearsal: beside a busy neighbour their events come late, by 6 to 16 ns, and all that the
 * stopwatch tells would be off by that for good. Where the counter's reading is emulated it is not
 * steady.
 */
static void find_reading(struct waiter *waiter)
{
    double ticks[READING_TRIALS], most = MOST_READING_NS / waiter->learnt.period_ns;
    waiter->learnt.reading_ticks = 0;
    for (int i = 0; i < READING_TRIALS; i++)
        ticks[i] = one_reading(waiter, 1) - one_reading(waiter, 0);
    double found = quantile_mean_about(ticks, READING_TRIALS, trials_reach_ticks(waiter));
    waiter->learnt.reading_ticks = found > 0 && found < most ? found : 0;
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
    enum event_way ways = waiter_ends_behind(waiter) ? EVENT_WAYS : EVENT_CALLED + 1;
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

static void find_hurry(struct waiter *waiter)
{
    double errors[TRIALS], stamps[TRIALS], reach = trials_reach_ticks(waiter);
    struct waiter_learnt *learnt = &waiter->learnt;
    struct hurry hurry = {.waiter = waiter};
    learnt->half_span_ns = (waiter->vernier.span_ticks + 1) / 2 * learnt->period_ns;
    learnt->hurry_gap_ticks = (uint32_t)waiter_ticks_of_ns(waiter, HURRY_GAP_NS);
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++) {
        for (int i = 0; i < TRIALS; i++) {
            hurry_once(&hurry, way);
            errors[i] = hurry.error_ticks;
            uint64_t stamp = waiter->approach.hurry_event_ticks;
            stamps[i] = errors[i] - (double)(int64_t)(stamp - hurry.result.target_ticks);
        }
        learnt->hurry_ticks[way] = quantile_mean_about(errors, TRIALS, reach);
        learnt->hurry_rest_ticks[way] = quantile_mean_about(stamps, TRIALS, reach);
        learnt->hurry_whole_ticks[way] = waiter_rounded(learnt->hurry_rest_ticks[way]);
    }
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

void calibrate_calls(struct waiter *waiter)
{
    waiter->unsettled = NOTHING_LEFT;
    waiter->learnt.rehearsal_ticks = time_of_rehearsals(waiter);
    find_lead(waiter);
    find_reading(waiter);
    find_returns(waiter);
    find_hurry(waiter);
    outcome_settle_open(waiter);
}
