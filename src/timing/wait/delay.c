/* SPDX-License-Identifier: MIT */
#include "delay.h"

#include <stddef.h>

#include "outcome.h"

/* In a longer delay an exact wait has the time for its fine reading, and for rehearsals. */
enum { SHORT_DELAY_NS = 1600 };

/* The approach's stamp and marks are the event's. */
static void tell(struct waiter *waiter, const struct delay *delay, int mechanism, int late)
{
    struct timebase_wait_result done = {0};
    double period_ns = waiter->learnt.period_ns;
    done.event_ticks = waiter->approach.event_ticks;
    done.target_ticks = delay->start_ticks + (uint64_t)(delay->ticks + 0.5);
    done.error_ticks = (int64_t)(done.event_ticks - done.target_ticks);
    done.error_ns = (double)done.error_ticks * period_ns;
    done.error_bound_ns = waiter->vernier.step_ticks * period_ns;
    done.disturbance = evidence_judge(&waiter->evidence, &waiter->approach, UINT32_MAX);
    done.mechanism = late ? TIMEBASE_MECHANISM_NONE : mechanism;
    done.late = late;
    *delay->result = done;
}

/* ---- by polls ----------------------------------------------------------------------------- */

/* Two readings stand for two instants whose distance is known to less than this, either way. */
static double less_than_step(const struct waiter *waiter)
{
    return waiter->vernier.step_ticks - 1;
}

/*
 * From the delay's reading to its first poll, as its last poll shows it: so that what is wrong with
 * the distance of polls is made up for at the end.
 */
double delay_way_in(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    double last = a->poll_ticks[(a->polls - 1) % APPROACH_VERNIER];
    double since = (double)(int64_t)(a->target_ticks - waiter->delay_start_ticks);
    return since + last - (a->polls - 1) * waiter->period.value;
}

static void learn_tempo(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    double less = less_than_step(waiter);
    double event =
        (double)(int64_t)(a->event_ticks - a->target_ticks) + less + waiter->learnt.stamp_ticks[1];
    tempo_learn(&waiter->tempo, event - waiter_sample_ticks(waiter), waiter_cycles(waiter), less);
}

/* At the next delay, because at its own end there is no time. */
static void learn_open(struct waiter *waiter)
{
    enum { MORE_TICKS = 8 }; /* than the counter's step */
    if (!waiter->delay_is_open)
        return;
    waiter->delay_is_open = 0;
    estimate_learn(&waiter->way_in, delay_way_in(waiter), 1,
                   waiter->vernier.step_ticks + MORE_TICKS);
    learn_tempo(waiter);
    waiter_learn_period(waiter);
    waiter_publish_tempo(waiter);
}

static void set_up(struct waiter *waiter, const struct delay *delay)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct wait wait = {.waiter = waiter, .frame = delay->frame};
    double exit = learnt->exit_ticks[1][delay->result != NULL];
    outcome_settle_some(waiter);
    learn_open(waiter);
    waiter_aim_from(waiter, delay->start_ticks, delay->ticks - learnt->delay_call_ticks - exit,
                    waiter->way_in.value);
    waiter->approach.not_before_ticks = delay->start_ticks - (UINT64_C(1) << 62);
    waiter->delay_start_ticks = delay->start_ticks;
    waiter->delay_is_open = 1;
    waiter->uses++;
    wait_set_event(&wait);
    evidence_begin(&waiter->evidence, &waiter->approach);
}

/* A delay without a result may leave from within. */
static int by_polls(struct waiter *waiter, const struct delay *delay)
{
    struct approach *a = &waiter->approach;
    set_up(waiter, delay);
    waiter_approach(waiter, 1);
    int late = a->overdue_cycles > a->late_cycles;
    if (delay->result != NULL)
        tell(waiter, delay, waiter->ways.mechanism, late);
    return late;
}

/* ---- by instructions ---------------------------------------------------------------------- */

static uint64_t instructions(const struct waiter *waiter, const struct delay *delay)
{
    double fixed = waiter->learnt.delay_fixed_ticks[delay->result != NULL];
    double count = (delay->ticks - fixed) / waiter->tempo.cycle_ticks + 0.5;
    return count > 0 ? (uint64_t)count : 0;
}

static int by_instructions(struct waiter *waiter, const struct delay *delay)
{
    uint64_t count = instructions(waiter, delay);
    if (delay->result != NULL)
        evidence_begin(&waiter->evidence, &waiter->approach);
    waiter->ways.run(count);
    if (delay->result == NULL)
        return count == 0;
    waiter->uses++;
    waiter->approach.event_ticks = timebase_ticks();
    evidence_mark(&waiter->approach);
    evidence_forget(&waiter->approach);
    tell(waiter, delay, TIMEBASE_MECHANISM_RUN, count == 0);
    return count == 0;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* From the call to the return at least: what comes before the first poll, and that this is the
 * last. */
static double least_by_polls(const struct waiter *waiter, int measured)
{
    enum { MORE_NS = 10 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    return learnt->delay_call_ticks + waiter->way_in.value + waiter_coarse_ticks(waiter) +
        learnt->exit_ticks[1][measured] + MORE_NS / learnt->period_ns;
}

/* In a wait's function the approach, and what it has found, belong to the wait. */
static enum delay_way way_of(const struct waiter *waiter, const struct delay *delay)
{
    int measured = delay->result != NULL;
    if (waiter->is_calibrating)
        return waiter->calibrated_way;
    if (waiter->is_in_event && !measured)
        return DELAY_BY_INSTRUCTIONS;
    return delay->ticks > least_by_polls(waiter, measured) ? DELAY_BY_POLLS : DELAY_BY_INSTRUCTIONS;
}

int delay_is_short(const struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    return waiter->ways.run != NULL && waiter->learnt.exact && delay_ns < SHORT_DELAY_NS &&
        !(flags & ~(unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_STEADY));
}

int delay_short(struct waiter *waiter, const struct delay *delay)
{
    return way_of(waiter, delay) == DELAY_BY_POLLS ? by_polls(waiter, delay)
                                                   : by_instructions(waiter, delay);
}

/* Rounded up where it must not end early. */
struct wait delay_as_wait(struct waiter *waiter, double ticks, unsigned flags,
                          struct timebase_wait_result *result)
{
    struct wait wait = {.waiter = waiter, .flags = flags, .result = result};
    struct timebase_fine_reading start;
    uint64_t base = timebase_ticks();
    wait.entered_ticks = base;
    waiter_read_fine(waiter, base, &start);
    double bias =
        flags & TIMEBASE_WAIT_NEVER_EARLY ? 0 : waiter->learnt.delay_bias_ticks[result != NULL];
    double end = start.ticks + ticks - bias;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait.fraction = end - (double)whole;
    wait.ticks = base + (uint64_t)whole + (flags & TIMEBASE_WAIT_NEVER_EARLY ? 1 : 0);
    return wait;
}
