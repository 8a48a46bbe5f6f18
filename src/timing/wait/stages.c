/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stages.h"

#include <sched.h>
#include <stddef.h>

#include "outcome.h"
#include "prepare.h"
#include "relax.h"
#include "track.h"

enum { MAINTENANCE_NS = 200000 }; /* the slow path of a reading, with room */

/* It is not known yet whether the approach will be exact or plain: the longer one counts. */
static int64_t lead_ticks(const struct wait *wait)
{
    const struct waiter_learnt *learnt = &wait->waiter->learnt;
    int measured = wait->result != NULL;
    double exact = learnt->coarse_ticks, plain = learnt->plain_bias_ticks;
    if (wait->function == NULL) {
        exact += learnt->exit_ticks[1][measured];
        plain += learnt->exit_ticks[0][measured];
    }
    int64_t lead = (int64_t)(exact > plain ? exact : plain) + 2;
    lead += (int64_t)learnt->lead_ticks;
    if (wait->flags & (TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE))
        lead += waiter_ticks_of_ns(wait->waiter, PREPARE_NS);
    return lead;
}

static void sleep_for(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    int64_t lead_ns = (int64_t)((double)lead_ticks(wait) * waiter->learnt.period_ns);
    int64_t target_ns;
    do {
        wait_convert(wait);
        target_ns = timebase_mono_at_ns(waiter->clock, wait->ticks);
    } while (sleep_towards(&wait->sleep, &waiter->sleeper, target_ns, lead_ns) == SLEEP_AGAIN);
}

/* Reading the clock maintains it, and there may be no other reader. Not shortly before the end. */
static void keep_clock(const struct wait *wait, int64_t spare_ticks)
{
    if (wait->ticks_at != NULL && spare_ticks > waiter_ticks_of_ns(wait->waiter, MAINTENANCE_NS))
        timebase_mono_ns(wait->waiter->clock);
}

static void poll_for(struct wait *wait)
{
    enum relax_means means = RELAX_PAUSE;
    int64_t lead = lead_ticks(wait), left;
    if (wait->flags & TIMEBASE_WAIT_SAVE_POWER)
        means = relax_means();
    wait_convert(wait);
    for (; (left = wait_left_ticks(wait)) > lead; wait_convert(wait)) {
        keep_clock(wait, left - lead);
        relax(means, wait->ticks - (uint64_t)lead, wait->waiter->learnt.period_ns);
    }
}

/*
 * Where to aim relative to the target. Never early means by the counter's own reading: the stamp
 * must read the target or more, so on a stepped counter the aim is the next step.
 */
static double aim_of(const struct wait *wait)
{
    const struct waiter_learnt *learnt = &wait->waiter->learnt;
    uint64_t step = (uint64_t)wait->waiter->vernier.step_ticks;
    if (!(wait->flags & TIMEBASE_WAIT_NEVER_EARLY))
        return wait->fraction -
            (wait->function == NULL ? learnt->exit_ticks[wait->exact][wait->result != NULL] : 0);
    uint64_t to_step = (learnt->phase_ticks + step - wait->ticks % step) % step;
    return (double)to_step + learnt->early_ticks + learnt->stamp_ticks[wait->exact];
}

static void set_up(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    struct approach *a = &waiter->approach;
    wait->exact = waiter->learnt.exact && !(wait->flags & TIMEBASE_WAIT_PLAIN);
    wait->is_unsteady = wait->exact && !waiter->is_calibrating && !steady_enough(&waiter->steady);
    wait->exact &= !wait->is_unsteady;
    wait->aim = aim_of(wait);
    if (wait->exact && (double)wait_left_ticks(wait) + wait->aim < waiter->learnt.coarse_ticks) {
        wait->exact = 0;
        wait->aim = aim_of(wait);
    }
    waiter_aim(waiter, wait->ticks, wait->aim, wait->exact);
    a->not_before_ticks = wait->flags & TIMEBASE_WAIT_NEVER_EARLY
        ? wait->ticks
        : timebase_ticks() - (UINT64_C(1) << 62);
    a->event = wait->function != NULL ? wait->function : approach_event_none;
    a->argument = wait->argument;
}

static void approach(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    struct approach *a = &waiter->approach;
    set_up(wait);
    evidence_begin(&waiter->evidence, a);
    if (wait->exact)
        waiter->best(a);
    else
        approach_poll(a);
    evidence_clear(&waiter->evidence, a);
}

/* What is open of the wait before this one is judged and learnt from first. */
static struct wait *begin(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    outcome_settle_open(waiter);
    waiter_track(waiter);
    waiter->last = *asked;
    waiter->last.cpu = sched_getcpu();
    waiter->uses++;
    return &waiter->last;
}

int stages_run(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    struct wait *wait = begin(asked);
    uint64_t number = waiter->uses;
    if (wait->flags & TIMEBASE_WAIT_SLEEP)
        sleep_for(wait);
    evidence_begin(&waiter->evidence, &waiter->approach);
    poll_for(wait);
    if (wait->flags & (TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE))
        wait->prepared = prepare(waiter, wait->ticks, wait->flags, wait->function, wait->argument);
    /* A function that waits by its own waiter has overwritten what was known of this wait. */
    if (waiter->uses != number)
        return TIMEBASE_E_INVALID;
    wait->disturbance = evidence_now(&waiter->evidence, &waiter->approach);
    waiter->wait_is_open = 1;
    approach(wait);
    if (waiter->uses != number)
        return TIMEBASE_E_INVALID;
    if (wait->result != NULL)
        outcome_settle(waiter, wait->result);
    return outcome_is_late(wait);
}
