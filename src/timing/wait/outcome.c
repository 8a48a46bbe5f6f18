/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <sched.h>
#include <stddef.h>

#include "track.h"

enum {
    GAP_NS = 300, /* between polls, more is a disturbance */
    THROTTLED_NS = 10000000,
};

/* The core was slower, but the readings of the approach are right. */
#define HARMLESS (uint32_t)(TIMEBASE_DISTURBED_UNEVEN | TIMEBASE_DISTURBED_SHARED)

/* A real-time thread that stood still for so long had used up its share of the CPU. */
static int was_throttled(const struct waiter *waiter, uint32_t found)
{
    int64_t limit = waiter_ticks_of_ns(waiter, THROTTLED_NS);
    int policy;
    if (!(found & TIMEBASE_DISTURBED_PREEMPTED) || waiter->approach.gap_ticks < limit)
        return 0;
    policy = sched_getscheduler(0);
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

static uint32_t judge(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    const struct approach *a = &waiter->approach;
    uint32_t limit = (uint32_t)waiter_ticks_of_ns(waiter, GAP_NS);
    uint32_t found = evidence_judge(&waiter->evidence, a, limit);
    if (waiter->evidence.rseq_mark != 0 && (int)a->rseq_cpu != wait->cpu)
        found |= TIMEBASE_DISTURBED_MIGRATED;
    if (wait->exact && a->allowed_256 < 0)
        found |= TIMEBASE_DISTURBED_UNEVEN;
    if (wait->is_unsteady || (wait->exact && waiter_shares_core(waiter)))
        found |= TIMEBASE_DISTURBED_SHARED;
    if (was_throttled(waiter, found))
        found |= TIMEBASE_DISTURBED_THROTTLED;
    return found;
}

int outcome_is_late(const struct wait *wait)
{
    const struct approach *a = &wait->waiter->approach;
    int64_t tolerance_256 = (int64_t)a->step_256 + 4 * 256;
    /*
     * For a thread that was held up long the middle is at its limit, and the sum exceeds 32 bits.
     */
    int64_t left_256 = -(int64_t)a->middle_256 - a->base_256;
    return wait->exact ? left_256 < -tolerance_256 : a->run == 0;
}

static void fill(const struct wait *wait, uint32_t disturbance, int late,
                 struct timebase_wait_result *result)
{
    const struct waiter *waiter = wait->waiter;
    double period_ns = waiter->learnt.period_ns;
    double event = waiter_event(waiter, wait->exact) - wait->fraction;
    event +=
        wait->function == NULL ? waiter->learnt.exit_ticks[wait->exact][wait->result != NULL] : 0;
    result->target_ticks = wait->ticks;
    result->event_ticks = waiter->approach.event_ticks;
    result->error_ticks = (int64_t)(event + (event < 0 ? -0.5 : 0.5));
    result->error_ns = event * period_ns;
    result->error_bound_ns = waiter->vernier.step_ticks / 2 * period_ns;
    result->wake_ns = wait->sleep.wake_ns;
    result->margin_ns = wait->sleep.margin_ns;
    result->mechanism = wait->exact ? waiter->ways.mechanism
        : late                      ? TIMEBASE_MECHANISM_NONE
                                    : TIMEBASE_MECHANISM_LOOP;
    result->late = late;
    result->disturbance = disturbance;
    result->prepared = (uint32_t)wait->prepared;
}

void outcome_settle(struct waiter *waiter, struct timebase_wait_result *result)
{
    struct wait *wait = &waiter->last;
    int late = outcome_is_late(wait);
    uint32_t found = judge(wait) | (late ? wait->disturbance : 0);
    /* A wait that must not be early reads the counter until it may: its stamp is no prediction. */
    waiter->can_track =
        wait->exact && !(wait->flags & TIMEBASE_WAIT_NEVER_EARLY) && (found & ~HARMLESS) == 0;
    if (wait->exact)
        steady_learn(&waiter->steady, late || (found & HARMLESS) != 0);
    waiter->evidence.noticed |= found;
    waiter->wait_is_open = 0;
    waiter->waits++;
    waiter->late += (uint64_t)late;
    waiter->disturbed += found != 0;
    if (result != NULL)
        fill(wait, found, late, result);
}

void outcome_settle_open(struct waiter *waiter)
{
    if (waiter->wait_is_open)
        outcome_settle(waiter, NULL);
}
