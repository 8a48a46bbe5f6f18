/* SPDX-License-Identifier: MIT */
#include "delay_short.h"

#include <stddef.h>

#include "timing/learn/within.h"

#include "outcome.h"

enum { CHECKED_NS = 150 }; /* the shortest that the counter checks */

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
APPROACH_WAY static inline void follow(const struct waiter *waiter, double *known, double wrong)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    *known += within(-most, wrong, most) / MEAN;
}

/*
 * The reading is a part of the delay: it is taken when all before it is done. By it the delay
 * follows what it takes beside what it counts, which changes with the core's load and clock.
 * Returns by how much the reading contradicts what was believed.
 */
APPROACH_WAY static inline double end(const struct short_delay *delay)
{
    struct waiter_delay *learnt = learnt_of(delay, delay->way);
    double wrong = read_taken(delay->waiter) + learnt->after_ticks - delay->ticks;
    follow(delay->waiter, &learnt->fixed_ticks, wrong);
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
        end(delay);
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
    return (delay->ticks - fixed_ticks) / delay->waiter->tempo.cycle_ticks + 0.5;
}

APPROACH_WAY static inline void run(const struct waiter *waiter, double cycles)
{
    waiter->ways.run((uint64_t)(int64_t)cycles);
}

APPROACH_WAY static inline int end_run(struct short_delay *delay, double cycles)
{
    struct waiter *waiter = delay->waiter;
    run(waiter, cycles);
    if (!is_contradicted(delay, end(delay)))
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
    double wrong = read_taken(waiter) - *between - cycles * waiter->tempo.cycle_ticks;
    follow(waiter, between, wrong);
    return !waiter->is_calibrating && is_contradicted(delay, wrong);
}

/* There is time between them for the loop, should it have to make up for the first. */
APPROACH_WAY static inline int by_two_runs(struct short_delay *delay)
{
    enum { LAST_NS = 250 };
    struct waiter *waiter = delay->waiter;
    double last = LAST_NS / (waiter->learnt.period_ns * waiter->tempo.cycle_ticks);
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
    const void *const data[DATA] = {&waiter->ways.run, &waiter->tempo, &waiter->vernier,
                                    &waiter->contradicted_run};
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
    enum { ONE_NS = 600 };
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
    return delay_ns < ONE_NS ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS;
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
    done.error_bound_ns = waiter->vernier.step_ticks * period_ns;
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

/* What it takes beside a run is believed to be all of it, so the run is one instruction. */
APPROACH_WAY void delay_rehearse_run(struct waiter *waiter)
{
    struct waiter_delay *learnt = &waiter->learnt.delays[DELAY_BY_RUN][0];
    struct waiter_delay known = *learnt;
    uint64_t called = waiter->delay_called_ticks;
    struct caution contradicted = waiter->contradicted_run;
    waiter->contradicted_run = (struct caution){0};
    learnt->fixed_ticks = CHECKED_NS / waiter->learnt.period_ns - waiter->tempo.cycle_ticks;
    waiter->delay_called_ticks = timebase_ticks();
    delay_short(waiter, CHECKED_NS, 0, NULL, 0);
    waiter->delay_called_ticks = called;
    waiter->contradicted_run = contradicted;
    *learnt = known;
}
