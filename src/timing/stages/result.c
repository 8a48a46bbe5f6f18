/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/learn/within.h"
#include "timing/waiter/asked.h"
#include "timing/waiter/slower.h"

#include "outcome.h"

#define PREPARING (unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE)

/* Of an exact wait that ended by the loop this is known sooner than it is counted. */
static inline int is_by_run(const struct wait *wait)
{
    return wait->exact & !wait->ended_by_loop;
}

/* All but the event's time. */
APPROACH_WAY static void fill(const struct wait *wait, uint32_t disturbance, int late)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_wait_result *result = wait->result;
    result->target_ticks = wait->ticks;
    result->error_bound_ns = (waiter->vernier.span_ticks + 1) / 2 * waiter->learnt.period_ns;
    result->wake_ns = wait->sleep.wake_ns;
    result->margin_ns = wait->sleep.margin_ns;
    result->mechanism = is_by_run(wait) ? waiter->ways.mechanism
        : late                          ? TIMEBASE_MECHANISM_NONE
                                        : TIMEBASE_MECHANISM_LOOP;
    result->late = late;
    result->disturbance = disturbance;
    result->prepared = wait->flags & PREPARING ? (uint32_t)wait->prepared : 0;
}

/* Of an exact approach, if it was a call. */
static inline double event_of_run(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    double half = waiter->vernier.span_ticks / 2;
    double stamp = waiter_middle(waiter, a->event_ticks, a->target_ticks);
    double middle = stamp + waiter->learnt.stamp_ticks;
    double predicted =
        waiter_sample_ticks(waiter) + waiter_cycles(waiter) * waiter->tempo.cycle_ticks;
    return within(middle - half, predicted, middle + half);
}

/* Relative to the target, as the approach saw it. */
APPROACH_WAY static double event_of(const struct wait *wait)
{
    const struct waiter *waiter = wait->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct approach *a = &waiter->approach;
    enum event_way way = wait_event_way(wait);
    if (is_by_run(wait))
        return event_of_run(waiter) + learnt->exit_ticks[1][way] +
            waiter_sooner_ticks(waiter, way) + wait_unpredicted_ticks(wait, way);
    return waiter_middle(waiter, a->event_ticks, a->target_ticks) + result_rest_of_loop(waiter, way);
}

APPROACH_WAY static void fill_event(const struct wait *wait)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_wait_result *result = wait->result;
    double event = event_of(wait) - wait->fraction;
    result->event_ticks = waiter->approach.event_ticks;
    result->error_ticks = waiter_rounded(event);
    result->error_ns = event * waiter->learnt.period_ns;
}

/* A function may use the waiter, and then there is no result: nothing is written before that. */
APPROACH_WAY static int is_written_before(const struct wait *wait)
{
    return wait_event_way(wait) == EVENT_TELLS;
}

APPROACH_WAY void result_expect(const struct wait *wait)
{
    if (is_written_before(wait))
        fill(wait, wait->is_unsteady ? TIMEBASE_DISTURBED_SHARED : 0, 0);
}

APPROACH_WAY void result_tell(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    const struct wait *wait = &waiter->last;
    if (!is_written_before(wait) || !outcome_is_as_expected(waiter)) {
        outcome_count(waiter);
        fill(wait, waiter->disturbance, outcome_is_late(wait));
    }
    fill_event(wait);
}

APPROACH_WAY int result_fetch(struct waiter *waiter)
{
    fill_event(&waiter->last);
    return outcome_is_as_expected(waiter);
}

/* What tells, and then what the wait returns to. */
APPROACH_WAY static void foresee_rest(struct approach *approach)
{
    if (approach->foresee == NULL)
        return;
    approach->foresee((const void *)(uintptr_t)result_tell, approach);
    approach->foresee(approach->returns_to, NULL);
}

/* An exact wait has come to its loop: that was not expected when it was written. */
APPROACH_WAY static void expect_loop(struct waiter *waiter)
{
    struct wait *wait = &waiter->last;
    wait->ended_by_loop = wait->exact & waiter_ended_by_loop(waiter);
    if (wait->ended_by_loop && is_written_before(wait))
        fill(wait, TIMEBASE_DISTURBED_SHARED, 0);
}

APPROACH_WAY int result_poll(struct approach *approach)
{
    expect_loop((struct waiter *)(void *)approach);
    approach_poll_on(approach, foresee_rest);
    return 0;
}

/*
 * How long the telling takes depends on what is predicted wrongly and what must be fetched, 5 ns
 * each. So it is hidden behind roots that take some 100 cycles: but not of what must not be early,
 * as that is the later by each. By five roots two in five came 4 ns later than the others where a root
 * takes 13 cycles (Granite Rapids); with eight p99 is three times as wide as with six. The return is
 * hidden as well, so no fence stands before it: x86_64.S, hide_return.
 */
static inline __attribute__((always_inline)) int end(struct approach *approach, int is_hidden)
{
    approach->returns_to = __builtin_return_address(0);
    approach->way(approach);
    if (is_hidden)
        APPROACH_HIDE(6);
    result_tell(approach);
    return outcome_is_late(&((struct waiter *)(void *)approach)->last);
}

APPROACH_WAY int result_end(struct approach *approach)
{
    return end(approach, 1);
}

APPROACH_WAY int result_end_never_early(struct approach *approach)
{
    return end(approach, 0);
}
