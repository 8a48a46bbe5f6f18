/* SPDX-License-Identifier: MIT */
#include "delay_short.h"

#include <stddef.h>

#include "timing/approach/hide.h"

#include "delay_lesson.h"
#include "outcome.h"

/* One delay. */
struct short_delay {
    struct waiter *waiter;
    double ticks;
    int way; /* enum delay_way */
    int measured;
    enum delay_code code;
    int was_held_up; /* the first of two runs */
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

/* Before its end: behind that there is nothing but the last reading. It should take so long. */
APPROACH_WAY static inline void note_lesson(const struct short_delay *delay, double ticks,
                                            double cycles)
{
    int way = delay->code == DELAY_CODE_NEAR ? DELAY_AFTER_PAUSE : delay->way;
    delay->waiter->lesson = (struct delay_lesson){
        .of = learnt_of(delay, way),
        .expected_ticks = ticks - learnt_of(delay, delay->way)->after_ticks,
        .cycles = cycles,
        .code = delay->code};
}

/* The delay before may have something to teach that is worth the time. */
APPROACH_WAY static inline int is_soon_after(enum delay_code code)
{
    return code <= DELAY_CODE_FETCHED;
}

/* ---- by the loop -------------------------------------------------------------------------- */

APPROACH_WAY static inline int by_loop(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    delay->way = DELAY_BY_LOOP;
    double before = learnt_of(delay, DELAY_BY_LOOP)->fixed_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)(delay->ticks - before);
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    if (!late && is_soon_after(delay->code))
        note_lesson(delay, delay->ticks, 0);
    while ((int64_t)(timebase_ticks() - leave) < 0)
        continue;
    read_taken(waiter);
    return late;
}

/* ---- by runs ------------------------------------------------------------------------------ */

/* What a delay takes longer after a pause. */
APPROACH_WAY static inline double pause_ticks(const struct short_delay *delay)
{
    if (delay->code != DELAY_CODE_NEAR)
        return 0;
    return learnt_of(delay, DELAY_AFTER_PAUSE)->fixed_ticks -
        learnt_of(delay, DELAY_BY_RUN)->fixed_ticks;
}

/* Cycles that are left for instructions, to the nearest one. */
APPROACH_WAY static inline double cycles_left(const struct short_delay *delay, double fixed_ticks)
{
    double left_ticks = delay->ticks - fixed_ticks - pause_ticks(delay);
    return left_ticks / delay->waiter->learnt.delay_cycle_ticks + 0.5;
}

APPROACH_WAY static inline void run(const struct waiter *waiter, double cycles)
{
    waiter->ways.run((uint64_t)(int64_t)cycles);
}

APPROACH_WAY static inline int end_run(struct short_delay *delay, double cycles)
{
    note_lesson(delay, delay->ticks, cycles);
    delay->waiter->delay_fetched = DELAY_RAN;
    run(delay->waiter, cycles);
    read_taken(delay->waiter);
    return 0;
}

/* Too short for anything else than its instructions. */
APPROACH_WAY static inline int unchecked(const struct short_delay *delay)
{
    double cycles = cycles_left(delay, delay->waiter->learnt.delay_fixed_ticks);
    run(delay->waiter, cycles < 1 ? 0 : cycles);
    return cycles < 1;
}

/*
 * What there is beside a run takes longer than the delay, by what was learnt: beside a neighbour,
 * perhaps. It takes no more than it has just taken, to a step. If it does, the loop has turns.
 */
APPROACH_WAY static inline int without_run(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    struct waiter_delay *one = learnt_of(delay, DELAY_BY_RUN);
    double most = read_taken(waiter) + one->after_ticks + waiter->vernier.step_ticks;
    if (delay->code == DELAY_CODE_NEAR)
        delay_goes_wrong(&waiter->far_code);
    else if (most < one->fixed_ticks)
        one->fixed_ticks = most;
    else
        delay_goes_wrong(&waiter->contradicted_run);
    return by_loop(delay);
}

APPROACH_WAY static inline int by_run(struct short_delay *delay)
{
    double cycles = cycles_left(delay, learnt_of(delay, DELAY_BY_RUN)->fixed_ticks);
    return cycles >= 1 ? end_run(delay, cycles) : without_run(delay);
}

/* Was the first run of two, of so many cycles, held up? To find out is hidden. */
APPROACH_WAY static inline int was_held_up(struct short_delay *delay, double cycles)
{
    struct waiter *waiter = delay->waiter;
    struct waiter_delay *between = &waiter->learnt.between[delay->measured];
    double taken = read_taken(waiter);
    APPROACH_HIDE(10);
    double known = between->fixed_ticks + pause_ticks(delay);
    double wrong = taken - known - cycles * waiter->learnt.delay_cycle_ticks;
    delay->was_held_up = delay_follow(waiter, between, wrong, cycles, delay->code);
    return delay->was_held_up;
}

/* There is time between them for the loop, should it have to make up for the first. */
APPROACH_WAY static inline int by_two_runs(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    double last = DELAY_LAST_NS / (waiter->learnt.period_ns * waiter->learnt.delay_cycle_ticks);
    double cycles = cycles_left(delay, learnt_of(delay, DELAY_BY_TWO_RUNS)->fixed_ticks);
    double first = (double)(int64_t)(cycles - last);
    if (first < 1)
        return by_run(delay);
    run(waiter, first);
    return was_held_up(delay, first) ? by_loop(delay) : end_run(delay, cycles - first);
}

/* ---- all of them -------------------------------------------------------------------------- */

APPROACH_WAY static inline int way_of(const struct short_delay *delay, uint64_t delay_ns,
                                      unsigned flags)
{
    struct waiter *waiter = delay->waiter;
    if (waiter->is_calibrating)
        return waiter->calibrated_way == DELAY_AFTER_PAUSE ? DELAY_BY_RUN : waiter->calibrated_way;
    if (delay_ns < waiter->learnt.checked_ns && !delay->measured)
        return DELAY_UNCHECKED;
    if (delay->code == DELAY_CODE_COLD || flags & TIMEBASE_WAIT_STEADY)
        return DELAY_BY_LOOP;
    if (caution_takes_turn(&waiter->contradicted_run))
        return DELAY_BY_LOOP;
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
    uint64_t after_ticks = (uint64_t)(int64_t)(learnt_of(delay, delay->way)->after_ticks + 0.5);
    waiter->approach.event_ticks = waiter->delay_called_ticks + waiter->delay_taken_ticks;
    done.event_ticks = waiter->approach.event_ticks + after_ticks;
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
                             struct timebase_wait_result *result, enum delay_code code)
{
    struct short_delay delay = {.waiter = waiter,
                                .ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns,
                                .measured = result != NULL,
                                .code = code};
    if (result == NULL) {
        if (is_soon_after(code))
            delay_learn(waiter);
        delay.way = way_of(&delay, delay_ns, flags);
        return pass(&delay);
    }
    begin_measured(waiter);
    delay_learn(waiter);
    int is_shared = is_soon_after(code) && !caution_allows(&waiter->contradicted_run);
    delay.way = way_of(&delay, delay_ns, flags);
    int late = pass(&delay);
    is_shared |= delay_was_contradicted(waiter) | delay.was_held_up;
    return tell(&delay, late, is_shared, result);
}
