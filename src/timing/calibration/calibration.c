/* SPDX-License-Identifier: MIT */
#include "calibration.h"

#include <stddef.h>
#include <string.h>

#include "clock/counter/probe.h"

#include "timing/hurry/hurry.h"
#include "timing/learn/quantile.h"
#include "timing/stages/near_exact.h"
#include "timing/stages/outcome.h"
#include "timing/stages/rehearsal.h"
#include "timing/waiter/aim_edge.h"

#include "calibration_calls.h"
#include "calibration_delays.h"
#include "calibration_ends.h"
#include "calibration_quiet.h"
#include "calibration_trials.h"

enum {
    SERIES = 256,        /* of readings, for each spacing */
    LENGTH_TRIALS = 512, /* of a short and of the longest run */
    SHORT_RUN = 24,      /* cycles */
    PERIOD_TRIALS = 64,
    TRIALS = TRIALS_MOST, /* exact, and plain */
    FINE_STEP_TICKS =
        5,             /* a vernier is worth it where the step is longer than one reading's error */
    SLOW_TICK_NS = 30, /* a run is some 70 ns: too short to fill such ticks */
    ATTEMPTS = 3,
};

/* ---- warm up ------------------------------------------------------------------------------ */

static uint64_t time_of_work(void)
{
    uint64_t start = timebase_ticks_ordered();
    for (int i = 0; i < 20000; i++)
        __asm__ __volatile__("");
    return timebase_ticks_ordered() - start;
}

/* Until four rounds in a row took the same to 0.4 %. */
static void warm_up(const struct waiter *waiter)
{
    uint64_t end = timebase_ticks() + (uint64_t)(3e6 / waiter->learnt.period_ns);
    uint64_t before = 0;
    for (int steady = 0; steady < 4 && (int64_t)(timebase_ticks() - end) < 0;) {
        uint64_t now = time_of_work();
        uint64_t change = now > before ? now - before : before - now;
        steady = change <= now / 256 ? steady + 1 : 0;
        before = now;
    }
}

/* ---- readings ----------------------------------------------------------------------------- */

static void find_step(struct waiter *waiter)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    vernier_init(&waiter->vernier, counter_find_granularity(&counter));
}

/* Series begin at all phases of a step. Of several spacings the one that is had most often. */
static double spacing_of(approach_readings *read)
{
    const double reach_ticks = 0.75;
    double slopes[SERIES];
    uint32_t readings[APPROACH_FINE];
    for (int i = 0; i < SERIES; i++) {
        for (int left = i * 13 % 32; left > 0; left--)
            __asm__ __volatile__("");
        read(readings);
        slopes[i] = vernier_slope(readings, APPROACH_FINE);
    }
    return quantile_mean_about(slopes, SERIES, reach_ticks);
}

/* In ticks: the cycle is not known yet. */
static void find_spacing(struct waiter *waiter)
{
    struct vernier *vernier = &waiter->vernier;
    double narrowest = 0;
    vernier->readings = APPROACH_FINE;
    for (int pad = 0; pad < APPROACH_PADS; pad++) {
        double spacing = spacing_of(waiter->ways.fine[pad]);
        double gap = vernier_gap(vernier->step_ticks, spacing, APPROACH_VERNIER);
        if (pad > 0 && gap > narrowest * 0.8) /* fewer instructions unless it pays */
            continue;
        narrowest = gap;
        waiter->learnt.series = pad;
        vernier->spacing_ticks = spacing;
    }
    vernier->slack_ticks = narrowest;
}

static void find_readings(struct waiter *waiter)
{
    find_step(waiter);
    if (waiter->vernier.step_ticks >= FINE_STEP_TICKS && waiter->ways.series[0] != NULL)
        find_spacing(waiter);
    estimate_init(&waiter->spacing, waiter->vernier.spacing_ticks, WAITER_MEAN); /* of 1 tick */
}

/* ---- cycles ------------------------------------------------------------------------------- */

/* Ticks from the last poll to the event, with a run of so many cycles: the first poll is the last.
 */
static double one_length(struct waiter *waiter, int cycles, int *is_sound)
{
    struct approach *a = &waiter->approach;
    a->target_ticks = timebase_ticks();
    a->cycles_per_tick = 0;
    a->fixed_cycles = -cycles * (INT64_C(1) << APPROACH_CYCLE_BITS);
    a->another_cycles = APPROACH_LONGEST_RUN;
    for (int left = waiter->rehearsals++ * 13 % 64; left > 0; left--)
        __asm__ __volatile__(""); /* at all phases of a step */
    struct rehearsal done = rehearsal_run(waiter);
    *is_sound = done.is_sound;
    return done.error_ticks - waiter_sample_ticks(waiter);
}

/*
 * In turn, so that the clock is the same for both. The means of the better part. The short one is not
 * empty: on some cores (Granite Rapids) the way into a run outlasts what hides it by some ten cycles, so
 * that shorter ones take no less. By empty ones a cycle came out 4 % too short, and hundreds of waits
 * were 1 to 2 ns wider until that had been learnt. Waits hardly have such, as another poll leaves more.
 */
static int find_lengths(struct waiter *waiter, double *short_one, double *longest)
{
    double ticks[2][LENGTH_TRIALS];
    int counts[2] = {0, 0}, is_sound;
    for (int i = 0; i < 2 * LENGTH_TRIALS; i++) {
        ticks[i % 2][counts[i % 2]] =
            one_length(waiter, i % 2 ? APPROACH_LONGEST_RUN : SHORT_RUN, &is_sound);
        counts[i % 2] += is_sound;
    }
    if (counts[0] < LENGTH_TRIALS / 2 || counts[1] < LENGTH_TRIALS / 2)
        return 1;
    *short_one = quantile_low_mean(ticks[0], counts[0]);
    *longest = quantile_low_mean(ticks[1], counts[1]);
    return !(*longest > *short_one && *short_one > 0);
}

static int find_cycles(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double short_one, longest;
    if (find_lengths(waiter, &short_one, &longest) != 0)
        return 1;
    double cycle = (longest - short_one) / (APPROACH_LONGEST_RUN - SHORT_RUN);
    tempo_init(&waiter->tempo, cycle);
    estimate_init(&waiter->spacing, waiter->vernier.spacing_ticks / cycle, WAITER_MEAN);
    learnt->tail.cycles = short_one / cycle - SHORT_RUN;
    return 0;
}

/* ---- polls -------------------------------------------------------------------------------- */

/* From one poll to the next, in a wait of so many that the counter's step does not matter. */
static double one_period(struct waiter *waiter)
{
    enum { AHEAD_NS = 2000 };
    uint32_t polls[APPROACH_VERNIER];
    double ahead = AHEAD_NS / waiter->learnt.period_ns;
    waiter_aim(waiter, timebase_ticks() + (uint64_t)ahead, 0, 1);
    rehearsal_run(waiter);
    if (waiter_last_polls(waiter, polls) < APPROACH_VERNIER)
        return waiter->approach.gap_ticks;
    return (double)(int32_t)(polls[APPROACH_VERNIER - 1] - polls[0]) / (APPROACH_VERNIER - 1);
}

static double mean_period(struct waiter *waiter)
{
    double periods[PERIOD_TRIALS];
    for (int i = 0; i < PERIOD_TRIALS; i++)
        periods[i] = one_period(waiter);
    return quantile_low_mean(periods, PERIOD_TRIALS);
}

static void publish_period(struct waiter *waiter, double period_ticks)
{
    int most = waiter_has_vernier(waiter) ? WAITER_PERIOD_MEAN : WAITER_FINE_PERIOD_MEAN;
    estimate_init(&waiter->period, period_ticks, most);
    waiter_publish_tempo(waiter);
}

static void find_period(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks;
    a->pad_cycles = 0;
    publish_period(waiter, cycle * APPROACH_LONGEST_RUN);
    publish_period(waiter, mean_period(waiter));
    if (!waiter_has_vernier(waiter)) {
        waiter->learnt.usual_period_ticks = waiter->period.value;
        return;
    }
    vernier_note_open(&waiter->vernier, APPROACH_VERNIER);
    a->pad_cycles = vernier_choose(&waiter->vernier, VERNIER_POLLS, waiter->period.value, cycle,
                                   APPROACH_LONGEST_PAD + 1, 0);
    publish_period(waiter, mean_period(waiter));
}

/* ---- exact and plain ---------------------------------------------------------------------- */

struct findings {
    double bias, spread, stamp;
};

static void size_errors(double *errors, int count, double middle)
{
    for (int i = 0; i < count; i++)
        errors[i] = errors[i] < middle ? middle - errors[i] : errors[i] - middle;
    quantile_sort(errors, count);
}

static struct findings try_way(struct waiter *waiter, int exact)
{
    struct trials trials;
    trials.count = 0;
    trials_run(waiter, (struct rehearsal_plan){exact, EVENT_CALLED, 0}, rehearsal_near, TRIALS,
               &trials);
    double *errors = trials.errors;
    quantile_sort(errors, trials.count);
    struct findings found = {
        .bias = quantile_at(errors, trials.count, 0.5),
        .spread = quantile_at(errors, trials.count, 0.95) - quantile_at(errors, trials.count, 0.05),
        .stamp = quantile_trimmed_mean(trials.stamps, trials.count),
    };
    size_errors(errors, trials.count, found.bias);
    choice_init(&waiter->choice, exact ? CHOICE_EXACT : CHOICE_LOOP, errors, trials.count);
    return found;
}

static void try_exact(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct findings found = try_way(waiter, 1);
    learnt->tail.cycles += found.bias / waiter->tempo.cycle_ticks;
    learnt->tail.first_cycles = learnt->tail.cycles;
    learnt->exact_spread_ticks = found.spread;
    learnt->stamp_ticks = found.stamp;
}

static void find_plain(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->plain_bias_ticks = 0;
    struct findings found = try_way(waiter, 0);
    learnt->plain_bias_ticks = found.bias;
    learnt->plain_spread_ticks = found.spread;
    learnt->plain_stamp_ticks[EVENT_CALLED] = found.stamp;
}

/* A run fills at most what is left after the last poll. Emulated processors take longer to poll. */
static int can_run_fill_a_period(const struct waiter *waiter)
{
    return waiter->period.value <= APPROACH_LONGEST_RUN * waiter->tempo.cycle_ticks;
}

/* Returns 0 if what it finds can be true, and of use. */
static int find_exact(struct waiter *waiter)
{
    if (find_cycles(waiter) != 0)
        return 1;
    find_period(waiter);
    if (!can_run_fill_a_period(waiter))
        return 1;
    try_exact(waiter);
    return !waiter_takes_time(waiter);
}

/*
 * If this thread is held up, the machine looks slower than it is. So if the exact waits do no
 * better than the loop, they are measured again.
 */
static void find_ways(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    if (waiter->ways.exact == NULL || learnt->period_ns >= SLOW_TICK_NS)
        return;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        learnt->exact = find_exact(waiter) == 0;
        if (learnt->exact && learnt->exact_spread_ticks < learnt->plain_spread_ticks)
            return;
    }
}

/* What loops are late by is found once more then. */
static void find_edges(struct waiter *waiter)
{
    if (!waiter_may_end_on_edges(waiter))
        return;
    waiter->learnt.edge_steps_per_tick = 1 / waiter->vernier.step_ticks;
    waiter->learnt.edge_ticks = timebase_ticks();
    find_plain(waiter);
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* Have polls been so much nearer since that a neighbour was there then, and has gone? */
static int has_neighbour_left(const struct waiter *waiter)
{
    const double nearer = 0.95;
    return waiter_has_vernier(waiter) && waiter->learnt.exact &&
        waiter_bare_period(waiter) < nearer * waiter->learnt.bare_period_ticks;
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* The approaches read the processor's counter, whatever the clock takes its ticks from. */
static struct approach_ways ways_here(void)
{
    struct approach_ways none = {.mechanism = TIMEBASE_MECHANISM_LOOP};
    return timebase_counter_id() >= TIMEBASE_COUNTER_OS ? none : approach_ways();
}

static double find_period_ns(const timebase_clock *clock)
{
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t ticks =
        timebase_ticks_at_mono(clock, now_ns + 1000000000) - timebase_ticks_at_mono(clock, now_ns);
    return ticks > 0 ? 1e9 / (double)ticks : 1;
}

/* Where there is a vernier it is not known well enough yet. */
static void try_reading(struct waiter *waiter)
{
    if (!waiter_has_vernier(waiter))
        calibrate_reading(waiter);
}

/* Returns whether it began beside a neighbour that has gone. */
static int calibrate_once(struct waiter *waiter, struct quiet *quiet)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    outcome_settle_open(waiter);
    uint64_t waits = waiter->waits, late = waiter_late(waiter), disturbed = waiter->disturbed;
    waiter->last.is_near_exact = 0; /* a rehearsal is none */
    memset(learnt, 0, sizeof(*learnt));
    tempo_init(&waiter->tempo, 1);
    waiter->is_calibrating = 1;
    waiter->is_in_event = 0; /* a function that never returned has left it */
    learnt->period_ns = find_period_ns(waiter->clock);
    learnt->hot_ticks = waiter_ticks_of_ns(waiter, WAITER_HOT_NS);
    waiter->ways = ways_here();
    waiter->approach.foresee = waiter->ways.foresee;
    learnt->near_ticks = waiter_ends_behind(waiter); /* the counter is read as it will be */
    warm_up(waiter);
    waiter->cpu = evidence_cpu(&waiter->evidence);
    find_readings(waiter);
    quiet_begin(quiet, waiter);
    try_reading(waiter);
    choice_forget(&waiter->choice);
    quiet_run(quiet, waiter, find_plain);
    try_reading(waiter);
    quiet_run(quiet, waiter, find_ways);
    quiet_run(quiet, waiter, find_edges);
    learnt->bare_period_ticks = waiter_bare_period(waiter);
    const struct choice found = waiter->choice; /* behind this biases are not known yet */
    quiet_run(quiet, waiter, calibrate_calls);
    quiet_run(quiet, waiter, calibrate_delays);
    waiter->choice = found;
    hurry_init(waiter);
    near_exact_init(waiter);
    waiter->approach.even_polls = 0;    /* those of calibrations do not count */
    waiter->uneven_share = 0;
    waiter->bad_readings = 0;           /* nor those */
    waiter->cold = (struct caution){0}; /* the first exact waits of all are no evidence */
    waiter->waits = waits;
    waiter->late = late - waiter->approach.hurry_late;
    waiter->disturbed = disturbed;
    waiter->is_calibrating = 0;
    return quiet_was_none(quiet);
}

void calibrate(struct waiter *waiter, int64_t patience_ns)
{
    uint64_t start = timebase_ticks();
    double patience_ticks = (double)patience_ns / find_period_ns(waiter->clock);
    struct quiet quiet = {.until = start + (uint64_t)(int64_t)patience_ticks};
    for (int attempt = 0; attempt < ATTEMPTS && calibrate_once(waiter, &quiet); attempt++)
        ;
    waiter->calibrations++;
    waiter->calibration_ns = (double)(timebase_ticks() - start) * waiter->learnt.period_ns;
}

/*
 * Calibrates again if the thread runs on another CPU, whose core clock is another; or if exact waits are
 * possible here and noise may have hidden that from the calibration before; or a neighbour made them late.
 */
void calibrate_again(struct waiter *waiter, int64_t patience_ns)
{
    int moved = evidence_cpu(&waiter->evidence) != waiter->cpu;
    int failed = waiter->ways.exact != NULL && !waiter->learnt.exact;
    int may_try = waiter->calibrations < CALIBRATION_ATTEMPTS;
    if (moved || (may_try && (failed || has_neighbour_left(waiter))))
        calibrate(waiter, patience_ns);
}
