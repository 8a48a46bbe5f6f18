/* SPDX-License-Identifier: MIT */
#include "delay.h"

#include <stddef.h>

#include "outcome.h"
#include "within.h"

/* In a longer delay an exact wait has the time for its fine reading, and for rehearsals. */
enum { SHORT_DELAY_NS = 1600 };

/* The approach's stamp and marks are the event's. */
APPROACH_WAY static void tell(struct waiter *waiter, const struct delay *delay, int mechanism,
                              int late)
{
    struct timebase_wait_result done = {0};
    double period_ns = waiter->learnt.period_ns;
    done.event_ticks = waiter->approach.event_ticks;
    done.target_ticks = delay->start_ticks + (uint64_t)(delay->ticks + 0.5);
    done.error_ticks = (int64_t)(done.event_ticks - done.target_ticks);
    done.error_ns = (double)done.error_ticks * period_ns;
    done.error_bound_ns = waiter->vernier.step_ticks * period_ns;
    done.disturbance = evidence_judge(&waiter->evidence, &waiter->approach, UINT32_MAX);
    if (mechanism == TIMEBASE_MECHANISM_LOOP) /* only because that is better now: see choice.h */
        done.disturbance |= TIMEBASE_DISTURBED_SHARED;
    done.mechanism = late ? TIMEBASE_MECHANISM_NONE : mechanism;
    done.late = late;
    *delay->result = done;
}

/* ---- by polls ----------------------------------------------------------------------------- */

/* The delay before is learnt from first: a part of the way in, which is another then. */
APPROACH_WAY static struct wait *begin(struct waiter *waiter, const struct delay *delay)
{
    int has_learnt = outcome_settle_some(waiter);
    waiter->last = (struct wait){.waiter = waiter,
                                 .ticks = delay->start_ticks + (uint64_t)delay->ticks,
                                 .flags = delay->flags,
                                 .is_delay = 1,
                                 .has_learnt = has_learnt,
                                 .frame = delay->frame,
                                 .result = delay->result,
                                 .entered_ticks = delay->start_ticks,
                                 .cpu = evidence_cpu(&waiter->evidence)};
    waiter->uses++;
    return &waiter->last;
}

APPROACH_WAY static void aim(struct wait *wait, double ticks)
{
    struct waiter *waiter = wait->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    double end = ticks - learnt->exit_ticks[wait->exact][wait->result != NULL];
    if (wait->exact)
        waiter_aim_from(waiter, wait->entered_ticks, end, waiter->way_in[wait->has_learnt].value);
    else
        waiter_aim(waiter, wait->entered_ticks, end, 0);
    waiter->approach.not_before_ticks = waiter_long_before(wait->entered_ticks);
}

/* A delay without a result may leave from within. */
APPROACH_WAY static int by_polls(struct waiter *waiter, const struct delay *delay, int exact)
{
    struct wait *wait = begin(waiter, delay);
    wait->exact = exact;
    wait->is_unsteady = !exact;
    wait->is_cold = exact && !waiter_is_exact_hot(waiter, delay->start_ticks);
    aim(wait, delay->ticks);
    wait_set_event(wait);
    if (exact)
        wait_aim_loop(wait, wait->entered_ticks, delay->ticks);
    waiter_mark(waiter, exact);
    waiter->wait_is_open = 1;
    if (waiter_approach(waiter, exact) == APPROACH_POLLS)
        return APPROACH_POLLS;
    int late = outcome_is_late(wait);
    if (delay->result != NULL)
        tell(waiter, delay, exact ? waiter->ways.mechanism : TIMEBASE_MECHANISM_LOOP, late);
    return late;
}

/* ---- by instructions ---------------------------------------------------------------------- */

APPROACH_WAY static uint64_t instructions(const struct waiter *waiter, const struct delay *delay)
{
    double fixed = waiter->learnt.delay_fixed_ticks[delay->result != NULL];
    double count = (delay->ticks - fixed) / waiter->tempo.cycle_ticks + 0.5;
    return count > 0 ? (uint64_t)count : 0;
}

APPROACH_WAY static int by_instructions(struct waiter *waiter, const struct delay *delay)
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

/* ---- its code ----------------------------------------------------------------------------- */

/*
 * What other code has driven out comes back line by line, each as it is needed. Asked for at once
 * it takes as long as the furthest line. The pieces lie on pages of their own, and what a delay
 * needs begins there on x86-64: to ask for too much or too little changes nothing but the time.
 */
APPROACH_WAY static inline void fetch_line(const struct waiter *waiter, int line)
{
    enum { LINE = 64, PIECES = 5 };
    const uintptr_t pieces[PIECES] = {
        (uintptr_t)waiter,     (uintptr_t)waiter->ways.exact, (uintptr_t)delay_short,
        (uintptr_t)waiter_aim, (uintptr_t)wait_set_event,
    };
    uintptr_t piece = pieces[line % PIECES];
    __builtin_prefetch((const char *)piece + line / PIECES * LINE, 0, 2);
}

APPROACH_WAY void delay_fetch(const struct waiter *waiter)
{
    enum { LINES = 100 };
    for (int line = 0; line < LINES; line++)
        fetch_line(waiter, line);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* From the call to the return at least: what comes before the first poll, and that this is the
 * last. */
APPROACH_WAY static double least_by_polls(const struct waiter *waiter, int exact, int measured)
{
    enum { MORE_NS = 10 };
    const struct waiter_learnt *learnt = &waiter->learnt;
    double before = waiter->way_in[0].value;
    double after = exact ? waiter_coarse_ticks(waiter) : learnt->plain_bias_ticks;
    return before + after + learnt->exit_ticks[exact][measured] + MORE_NS / learnt->period_ns;
}

/* In a wait's function the approach, and what it has found, belong to the wait. */
APPROACH_WAY static enum delay_way way_of(const struct waiter *waiter, const struct delay *delay)
{
    int measured = delay->result != NULL;
    if (waiter->is_calibrating)
        return waiter->calibrated_way;
    if (waiter->is_in_event && !measured)
        return DELAY_BY_INSTRUCTIONS;
    int exact = waiter_is_exact_better(waiter, delay->start_ticks, delay->flags);
    if (delay->ticks <= least_by_polls(waiter, exact, measured))
        return DELAY_BY_INSTRUCTIONS;
    return exact ? DELAY_BY_EXACT_POLLS : DELAY_BY_LOOP;
}

APPROACH_WAY int delay_is_short(const struct waiter *waiter, const struct delay *delay)
{
    return waiter->ways.run != NULL && waiter->learnt.exact &&
        delay->ticks * waiter->learnt.period_ns < SHORT_DELAY_NS && !(delay->flags & ~DELAY_FLAGS);
}

APPROACH_WAY int delay_short(struct waiter *waiter, const struct delay *delay)
{
    enum delay_way way = way_of(waiter, delay);
    if (way == DELAY_BY_INSTRUCTIONS)
        return by_instructions(waiter, delay);
    return by_polls(waiter, delay, way == DELAY_BY_EXACT_POLLS);
}

/*
 * When the delay was called, relative to its reading: less than a step after it. The fine reading
 * says more, if the way there took as long as it usually does; cold code makes it longer by 0.1 us.
 */
static double called_at(const struct waiter *waiter, double read_ticks)
{
    double most = waiter->vernier.step_ticks - 1;
    return within(0, read_ticks - waiter->learnt.delay_read_ticks, most);
}

/* One that must not end early counts from the later reading, and is rounded up. */
struct wait delay_as_wait(struct waiter *waiter, const struct delay *delay)
{
    struct wait wait = {.waiter = waiter,
                        .flags = delay->flags,
                        .frame = delay->frame,
                        .result = delay->result,
                        .entered_ticks = delay->start_ticks};
    struct timebase_fine_reading read;
    waiter_read_fine(waiter, delay->start_ticks, &read);
    wait.read_ticks = read.ticks;
    int never_early = (delay->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double end = delay->ticks + (never_early ? read.ticks : called_at(waiter, read.ticks));
    if (delay->result != NULL && !never_early)
        end -= waiter->learnt.reading_ticks;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait.fraction = end - (double)whole;
    wait.ticks = delay->start_ticks + (uint64_t)whole + (uint64_t)never_early;
    return wait;
}
