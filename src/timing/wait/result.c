/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <stddef.h>

#include "outcome.h"

#define PREPARING (unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE)

/* All but the event's time. */
APPROACH_WAY static void fill(const struct wait *wait, uint32_t disturbance, int late)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_wait_result *result = wait->result;
    result->target_ticks = wait->ticks;
    result->error_bound_ns = (waiter->vernier.span_ticks + 1) / 2 * waiter->learnt.period_ns;
    result->wake_ns = wait->sleep.wake_ns;
    result->margin_ns = wait->sleep.margin_ns;
    result->mechanism = wait->exact ? waiter->ways.mechanism
        : late                      ? TIMEBASE_MECHANISM_NONE
                                    : TIMEBASE_MECHANISM_LOOP;
    result->late = late;
    result->disturbance = disturbance;
    result->prepared = wait->flags & PREPARING ? (uint32_t)wait->prepared : 0;
}

/* Relative to the target, as the approach saw it. */
APPROACH_WAY static double event_of(const struct wait *wait)
{
    const struct waiter *waiter = wait->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct approach *a = &waiter->approach;
    enum event_way way = wait_event_way(wait);
    if (wait->exact)
        return waiter_event(waiter) + learnt->exit_ticks[1][way];
    return waiter_middle(waiter, a->event_ticks, a->target_ticks) + waiter_loop_rest(waiter, way);
}

APPROACH_WAY static void fill_event(const struct wait *wait)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_wait_result *result = wait->result;
    double event = event_of(wait) - wait->fraction;
    result->event_ticks = waiter->approach.event_ticks;
    result->error_ticks = (int64_t)(event + __builtin_copysign(0.5, event));
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

/* Each && would be a branch. */
APPROACH_WAY static int is_as_expected(const struct waiter *waiter)
{
    const struct wait *wait = &waiter->last;
    int another_end = waiter_ended_by_loop(waiter) | outcome_is_uneven(waiter);
    return outcome_is_undisturbed(waiter) & !outcome_is_late(wait) & !(wait->exact & another_end);
}

APPROACH_WAY void result_tell(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    const struct wait *wait = &waiter->last;
    if (!is_written_before(wait) || !is_as_expected(waiter)) {
        outcome_count(waiter);
        fill(wait, waiter->disturbance, outcome_is_late(wait));
    }
    fill_event(wait);
}

APPROACH_WAY int result_fetch(struct waiter *waiter)
{
    fill_event(&waiter->last);
    return is_as_expected(waiter);
}

APPROACH_WAY int result_poll_and_tell(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    approach_poll_on(approach);
    result_tell(approach);
    return outcome_is_late(&waiter->last);
}
