/* SPDX-License-Identifier: MIT */
#include "calibration_calls.h"

#include <stddef.h>

#include "timing/learn/quantile.h"
#include "timing/stages/outcome.h"
#include "timing/stages/rehearsal.h"
#include "timing/stages/stages.h"
#include "timing/waiter/readings.h"

#include "calibration_ends.h"
#include "calibration_trials.h"

enum {
    TRIALS = 64,
    READING_TRIALS = 512,
    MOST_READING_NS = 80,
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

/* ---- readings and rehearsals -------------------------------------------------------------- */

static double time_of_rehearsals(struct waiter *waiter)
{
    double times[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        uint64_t start = timebase_ticks();
        rehearsal_near(waiter, (struct rehearsal_plan){waiter->learnt.exact, EVENT_CALLED, 0});
        times[i] = (double)(timebase_ticks() - start);
    }
    quantile_sort(times, TRIALS);
    return quantile_at(times, TRIALS, 0.75);
}

/*
 * From a reading's end to the first one of a fine reading. Where the counter steps far the first
 * of them is a fine one as well: by single ones the mean of all trials was off by up to 2 ticks.
 */
static double one_reading(struct waiter *waiter, int is_called)
{
    struct timebase_fine_reading found;
    uint32_t before[APPROACH_FINE], readings[APPROACH_FINE];
    waiter_read(waiter, before);
    uint64_t base = before[0];
    if (is_called) {
        timebase_wait_read_fine(waiter_public(waiter), base, &found);
    } else {
        waiter_read_event(waiter, readings);
        waiter_intersect_event(waiter, readings, base, &found);
    }
    return found.ticks - waiter_last(waiter, before, base);
}

/* What the call of a fine reading adds, and how far apart two readings were meanwhile. */
struct reading {
    double ticks, gap_ticks;
};

/*
 * From the call of a fine reading to its first reading: what the call adds. No wait is a part of
 * it, nor a rehearsal: beside a busy neighbour their events come late, by 6 to 16 ns, and all
 * that the stopwatch tells would be off by that for good. Where the counter's reading is emulated
 * it is not steady.
 */
static struct reading find_reading(struct waiter *waiter)
{
    double ticks[READING_TRIALS], gaps[READING_TRIALS];
    double most = MOST_READING_NS / waiter->learnt.period_ns, reach = trials_reach_ticks(waiter);
    waiter->learnt.reading_ticks = waiter->learnt.usual_gap_ticks = 0;
    waiter->reading_later = 0;
    for (int i = 0; i < READING_TRIALS; i++) {
        gaps[i] = one_reading(waiter, 0);
        ticks[i] = one_reading(waiter, 1) - gaps[i];
    }
    struct reading found = {.ticks = quantile_mean_about(ticks, READING_TRIALS, reach),
                            .gap_ticks = quantile_mean_about(gaps, READING_TRIALS, reach)};
    if (found.ticks <= 0 || found.ticks >= most)
        found.ticks = 0;
    return found;
}

static void follow_gaps_from(struct waiter *waiter, double gap_ticks)
{
    enum { EVERY_NS = 2000, MEAN = 8 };
    if (waiter_has_vernier(waiter))
        return;
    waiter->learnt.usual_gap_ticks = gap_ticks;
    waiter->learnt.gap_every_ticks = (uint32_t)waiter_ticks_of_ns(waiter, EVERY_NS);
    estimate_init(&waiter->reading_gap, gap_ticks, MEAN);
}

/*
 * A neighbour makes it longer by 4 ns, and comes and goes within milliseconds: of all tries in a
 * calibration the least counts.
 */
void calibrate_reading(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct reading before = {learnt->reading_ticks, learnt->usual_gap_ticks};
    struct reading found = find_reading(waiter);
    int is_less = found.ticks > 0 && (before.ticks == 0 || found.ticks < before.ticks);
    learnt->reading_ticks = is_less ? found.ticks : before.ticks;
    follow_gaps_from(waiter, is_less ? found.gap_ticks : before.gap_ticks);
}

/* ---- the lead ----------------------------------------------------------------------------- */

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
    calibrate_reading(waiter);
    calibrate_ends(waiter);
    outcome_settle_open(waiter);
}
