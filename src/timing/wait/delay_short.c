/* SPDX-License-Identifier: MIT */
#include "delay_short.h"

#include <stddef.h>

#include "timing/learn/within.h"

#include "outcome.h"

enum {
    CHECKED_NS = 150, /* the shortest that the counter checks */
    LAST_NS = 250,    /* of two runs, the last */
};

/* One delay. */
struct short_delay {
    struct waiter *waiter;
    double ticks;
    int way; /* enum delay_way */
    int measured;
    int is_cold;
    int was_contradicted; /* a run of it, by the counter */
};

APPROACH_WAY static inline struct waiter_delay *learnt_of(const struct short_delay *delay, int way)
{
    return &delay->waiter->learnt.delays[way][delay->measured];
}

APPROACH_WAY static inline double read_taken(struct waiter *waiter)
{
    waiter->delay_taken_ticks = timebase_ticks_ordered() - waiter->delay_called_ticks;
    return (double)(int64_t)waiter->delay_taken_ticks;
}

/* What differs from one delay to the next by more was held up. */
APPROACH_WAY static inline double believed(const struct waiter *waiter, double wrong)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    return within(-most, wrong, most) / MEAN;
}

/*
 * Delays of one length cannot tell what they always take from what each cycle takes; those of many
 * lengths do. A calibration counts from nothing: that says nothing of cycles.
 */
APPROACH_WAY static inline void follow(struct waiter *waiter, double *known, double wrong,
                                       double cycles)
{
    enum { LEAST_CYCLES = 500 };
    double more = believed(waiter, wrong);
    *known += more;
    if (cycles >= LEAST_CYCLES && !waiter->is_calibrating)
        waiter->learnt.delay_cycle_ticks += more / cycles;
}

/*
 * The reading is a part of the delay: it is taken when all before it is done. By it the delay
 * follows what it takes beside what it counts, which changes with the core's load and clock.
 * Returns by how much the reading contradicts what was believed.
 */
APPROACH_WAY static inline double end(const struct short_delay *delay, double cycles)
{
    struct waiter_delay *learnt = learnt_of(delay, delay->way);
    double wrong = read_taken(delay->waiter) + learnt->after_ticks - delay->ticks;
    follow(delay->waiter, &learnt->fixed_ticks, wrong, cycles);
    return wrong;
}

/* ---- by the loop -------------------------------------------------------------------------- */

APPROACH_WAY static inline int by_loop(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    delay->way = DELAY_BY_LOOP;
    double before = learnt_of(delay, DELAY_BY_LOOP)->fixed_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)(delay->ticks - before);
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    while ((int64_t)(timebase_ticks() - leave) < 0)
        continue;
    if (late || delay->is_cold)
        read_taken(waiter);
    else
        end(delay, 0);
    return late;
}

/* ---- by runs ------------------------------------------------------------------------------ */

/*
 * Two readings are less than a step from where they were taken, each. A run that took more or less
 * than that had not the whole of a core, or another clock: see caution.h. What is less than the
 * loop's own period is nothing against runs, however fine the counter.
 */
APPROACH_WAY static inline int is_contradicted(struct short_delay *delay, double wrong)
{
    enum { TOLERATED_TICKS = 4, TOLERATED_NS = 8, LEAST_TURNS = 1, MOST_TURNS = 64 };
    struct waiter *waiter = delay->waiter;
    double most = waiter->vernier.step_ticks + TOLERATED_TICKS;
    double least = TOLERATED_NS / waiter->learnt.period_ns;
    most = most > least ? most : least;
    int is_off = wrong > most || wrong < -most;
    if (is_off)
        caution_went_wrong(&waiter->contradicted_run, LEAST_TURNS, MOST_TURNS);
    delay->was_contradicted |= is_off;
    return is_off;
}

/* Cycles that are left for instructions, to the nearest one. */
APPROACH_WAY static inline double cycles_left(const struct short_delay *delay, double fixed_ticks)
{
    return (delay->ticks - fixed_ticks) / delay->waiter->learnt.delay_cycle_ticks + 0.5;
}

APPROACH_WAY static inline void run(const struct waiter *waiter, double cycles)
{
    waiter->ways.run((uint64_t)(int64_t)cycles);
}

APPROACH_WAY static inline int end_run(struct short_delay *delay, double cycles)
{
    struct waiter *waiter = delay->waiter;
    run(waiter, cycles);
    if (!is_contradicted(delay, end(delay, cycles)))
        caution_went_well(&waiter->contradicted_run);
    return 0;
}

/* Too short for anything else than its instructions. */
APPROACH_WAY static inline int unchecked(const struct short_delay *delay)
{
    double cycles = cycles_left(delay, delay->waiter->learnt.delay_fixed_ticks);
    run(delay->waiter, cycles < 1 ? 0 : cycles);
    return cycles < 1;
}

APPROACH_WAY static inline int by_run(struct short_delay *delay)
{
    double cycles = cycles_left(delay, learnt_of(delay, DELAY_BY_RUN)->fixed_ticks);
    if (cycles >= 1)
        return end_run(delay, cycles);
    read_taken(delay->waiter);
    return 1;
}

/* Was the first run of two, of so many cycles, held up? */
APPROACH_WAY static inline int was_held_up(struct short_delay *delay, double cycles)
{
    struct waiter *waiter = delay->waiter;
    double *between = &waiter->learnt.between_ticks[delay->measured];
    double wrong = read_taken(waiter) - *between - cycles * waiter->learnt.delay_cycle_ticks;
    follow(waiter, between, wrong, cycles);
    return !waiter->is_calibrating && is_contradicted(delay, wrong);
}

/* There is time between them for the loop, should it have to make up for the first. */
APPROACH_WAY static inline int by_two_runs(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    double last = LAST_NS / (waiter->learnt.period_ns * waiter->learnt.delay_cycle_ticks);
    double cycles = cycles_left(delay, learnt_of(delay, DELAY_BY_TWO_RUNS)->fixed_ticks);
    double first = (double)(int64_t)(cycles - last);
    if (first < 1)
        return by_run(delay);
    run(waiter, first);
    return was_held_up(delay, first) ? by_loop(delay) : end_run(delay, cycles - first);
}

APPROACH_WAY void delay_fetch_run(struct waiter *waiter, unsigned line)
{
    enum { LINE = 64, DATA = 4, OF_RUN = 2, MOST = 20 };
    const void *const data[DATA] = {&waiter->ways.run, &waiter->learnt.delay_cycle_ticks,
                                    &waiter->vernier, &waiter->contradicted_run};
    const char *run = (const char *)(uintptr_t)waiter->ways.run;
    const char *here = (const char *)(uintptr_t)delay_short;
    if (line < DATA)
        __builtin_prefetch(data[line], 1, 3);
    else if (line < DATA + OF_RUN)
        __builtin_prefetch(run + (line - DATA) * LINE, 0, 2);
    else if (line < MOST)
        __builtin_prefetch(here + (line - DATA) * LINE, 0, 2);
}

/* ---- all of them -------------------------------------------------------------------------- */

APPROACH_WAY static inline int way_of(const struct short_delay *delay, uint64_t delay_ns,
                                      unsigned flags)
{
    struct waiter *waiter = delay->waiter;
    if (waiter->is_calibrating)
        return waiter->calibrated_way;
    if (delay_ns < CHECKED_NS && !delay->measured)
        return DELAY_UNCHECKED;
    if (delay->is_cold || flags & TIMEBASE_WAIT_STEADY)
        return DELAY_BY_LOOP;
    if (!caution_allows(&waiter->contradicted_run)) {
        caution_pass(&waiter->contradicted_run);
        return DELAY_BY_LOOP;
    }
    return delay_has_two_runs(delay_ns) ? DELAY_BY_TWO_RUNS : DELAY_BY_RUN;
}

APPROACH_WAY static inline int pass(struct short_delay *delay)
{
    switch (delay->way) {
    case DELAY_UNCHECKED:
        return unchecked(delay);
    case DELAY_BY_RUN:
        return by_run(delay);
    case DELAY_BY_TWO_RUNS:
        return by_two_runs(delay);
    default:
        return by_loop(delay);
    }
}

/* The approach's stamp and marks are the event's. */
APPROACH_WAY static int tell(const struct short_delay *delay, int late, int is_shared,
                             struct timebase_wait_result *result)
{
    struct waiter *waiter = delay->waiter;
    struct timebase_wait_result done = {0};
    double period_ns = waiter->learnt.period_ns;
    int by_loop = delay->way == DELAY_BY_LOOP;
    evidence_mark(&waiter->approach);
    evidence_forget(&waiter->approach);
    done.event_ticks = waiter->delay_called_ticks + waiter->delay_taken_ticks;
    waiter->approach.event_ticks = done.event_ticks;
    done.target_ticks = waiter->delay_called_ticks + (uint64_t)(delay->ticks + 0.5);
    done.error_ticks = (int64_t)(done.event_ticks - done.target_ticks);
    done.error_ns = (double)done.error_ticks * period_ns;
    done.error_bound_ns = (waiter->vernier.span_ticks + 1) * period_ns;
    done.disturbance = evidence_judge(&waiter->evidence, &waiter->approach, UINT32_MAX);
    done.disturbance |= is_shared ? TIMEBASE_DISTURBED_SHARED : 0;
    done.mechanism = late ? TIMEBASE_MECHANISM_NONE
        : by_loop         ? TIMEBASE_MECHANISM_LOOP
                          : TIMEBASE_MECHANISM_RUN;
    done.late = late;
    *result = done;
    return late;
}

/* The wait before has no more to tell, but what it taught goes: there is no time to learn. */
APPROACH_WAY static void begin_measured(struct waiter *waiter)
{
    outcome_count_open(waiter);
    waiter->uses++;
    evidence_begin(&waiter->evidence, &waiter->approach);
}

APPROACH_WAY int delay_short(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                             struct timebase_wait_result *result, int is_cold)
{
    struct short_delay delay = {.waiter = waiter,
                                .ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns,
                                .measured = result != NULL,
                                .is_cold = is_cold};
    if (result == NULL) {
        delay.way = way_of(&delay, delay_ns, flags);
        return pass(&delay);
    }
    begin_measured(waiter);
    int is_shared = !is_cold && !caution_allows(&waiter->contradicted_run);
    delay.way = way_of(&delay, delay_ns, flags);
    int late = pass(&delay);
    return tell(&delay, late, is_shared || delay.was_contradicted, result);
}

/* What a rehearsal changes. */
struct delay_beliefs {
    struct waiter_delay one, two;
    double between_ticks;
    int64_t hot_ticks;
    uint64_t called_ticks;
    struct caution contradicted_run;
};

APPROACH_WAY static struct delay_beliefs beliefs_of(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    return (struct delay_beliefs){.one = learnt->delays[DELAY_BY_RUN][0],
                                  .two = learnt->delays[DELAY_BY_TWO_RUNS][0],
                                  .between_ticks = learnt->between_ticks[0],
                                  .hot_ticks = learnt->hot_ticks,
                                  .called_ticks = waiter->delay_called_ticks,
                                  .contradicted_run = waiter->contradicted_run};
}

APPROACH_WAY static void believe(struct waiter *waiter, const struct delay_beliefs *beliefs)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->delays[DELAY_BY_RUN][0] = beliefs->one;
    learnt->delays[DELAY_BY_TWO_RUNS][0] = beliefs->two;
    learnt->between_ticks[0] = beliefs->between_ticks;
    learnt->hot_ticks = beliefs->hot_ticks;
    waiter->delay_called_ticks = beliefs->called_ticks;
    waiter->contradicted_run = beliefs->contradicted_run;
}

/* Of a run the shortest that has all of its code in it; of two runs the last is always as long. */
APPROACH_WAY void delay_rehearse_run(struct waiter *waiter, enum delay_way way)
{
    enum { SHORTEST_CYCLES = 72 };
    struct delay_beliefs known = beliefs_of(waiter);
    double shortest_ticks = SHORTEST_CYCLES * waiter->learnt.delay_cycle_ticks;
    uint64_t ns = way == DELAY_BY_RUN ? CHECKED_NS : DELAY_TWO_RUNS_NS;
    double counted_ns = way == DELAY_BY_RUN ? 0 : LAST_NS;
    double *fixed_ticks = &waiter->learnt.delays[way][0].fixed_ticks;
    *fixed_ticks = ((double)ns - counted_ns) / waiter->learnt.period_ns - shortest_ticks;
    waiter->learnt.hot_ticks = INT64_MAX;
    waiter->calibrated_way = way;
    waiter->is_calibrating = 1;
    waiter->delay(waiter_public(waiter), ns, 0, NULL);
    waiter->is_calibrating = 0;
    believe(waiter, &known);
}
