/* SPDX-License-Identifier: MIT */
#include "delay_short.h"

#include <stddef.h>

#include "timing/stages/outcome.h"

#include "delay_lines.h"

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

/* Until one that was tried was right: then that counts. One with a result has asked for nothing. */
APPROACH_WAY static inline int takes_a_try(const struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    int is_run = (delay->way == DELAY_BY_RUN) | (delay->way == DELAY_BY_TWO_RUNS);
    if (delay->code != DELAY_CODE_FETCHED || !is_run || waiter->is_calibrating)
        return 0;
    unsigned fetched = waiter->delay_fetched;
    waiter->delay_fetched = (uint16_t)((fetched > DELAY_ASKED ? fetched : DELAY_ASKED) + 1);
    return 1;
}

APPROACH_WAY static inline enum delay_code code_of(const struct waiter *waiter,
                                                   enum delay_code code)
{
    return code == DELAY_CODE_HOT && waiter->delay_fetched < DELAY_RAN ? DELAY_CODE_FETCHED : code;
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
    uint64_t after_ticks =
        (uint64_t)(int64_t)(delay_learnt_of(delay, delay->way)->after_ticks + 0.5);
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

/* A run by code that is not known to be near says nothing of the core. */
APPROACH_WAY static int is_shared(const struct short_delay *delay, int was_allowed)
{
    if (delay->code == DELAY_CODE_FETCHED)
        return !was_allowed;
    int was_contradicted =
        delay->way != DELAY_BY_LOOP && delay_was_contradicted(delay->waiter);
    return (delay->code == DELAY_CODE_HOT && !was_allowed) | delay->was_held_up | was_contradicted;
}

APPROACH_WAY static inline int choose_and_pass(struct short_delay *delay, uint64_t delay_ns,
                                               unsigned flags)
{
    delay->code = code_of(delay->waiter, delay->code);
    delay->way = way_of(delay, delay_ns, flags);
    delay->is_tried = takes_a_try(delay);
    return delay_pass(delay);
}

APPROACH_WAY static __attribute__((noinline)) int
measured(struct short_delay *delay, uint64_t delay_ns, unsigned flags,
         struct timebase_wait_result *result)
{
    struct waiter *waiter = delay->waiter;
    begin_measured(waiter);
    delay_learn(waiter);
    int was_allowed = caution_allows(&waiter->contradicted_run);
    int late = choose_and_pass(delay, delay_ns, flags);
    return tell(delay, late, is_shared(delay, was_allowed), result);
}

APPROACH_WAY int delay_short(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                             struct timebase_wait_result *result, enum delay_code code)
{
    struct short_delay delay = {.waiter = waiter,
                                .ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns,
                                .measured = result != NULL,
                                .code = code};
    if (result != NULL)
        return measured(&delay, delay_ns, flags, result);
    if (delay_is_soon_after(code))
        delay_learn(waiter);
    return choose_and_pass(&delay, delay_ns, flags);
}
