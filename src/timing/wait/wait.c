/* SPDX-License-Identifier: MIT */
/*
 * wait: from a target to its event.
 *
 *     sleep      until a learnt margin before it (sleep.h), if asked for
 *     poll       with the processor's relaxing instruction; the target is converted again
 *     prepare    the last instructions and the event's function into the caches, if asked for
 *     approach   exact or plain (approach.h)
 *     settle     what happened
 */
#include <sched.h>
#include <stddef.h>

#include "prepare.h"
#include "relax.h"
#include "waiter.h"

enum {
    MAINTENANCE_NS = 200000, /* the slow path of a reading, with room */
    GAP_NS = 300,            /* between polls, more is a disturbance */
    THROTTLED_NS = 10000000,
    ALL_FLAGS = 63,
};
#define FARTHEST_NS (INT64_C(100) * 366 * 86400 * 1000000000)
#define FARTHEST_TICKS (0x1p63 - 0x1p34) /* room for what a delay adds */

/* ---- target ------------------------------------------------------------------------------- */

static void convert(struct wait *wait)
{
    if (wait->ticks_at != NULL)
        wait->ticks = wait->ticks_at(wait->waiter->clock, wait->ns);
}

static int64_t ticks_of_ns(const struct waiter *waiter, double ns)
{
    return (int64_t)(ns / waiter->learnt.period_ns);
}

static int64_t left_ticks(const struct wait *wait)
{
    return (int64_t)(wait->ticks - timebase_ticks());
}

/* More than a century is a mistake, and from 2^63 ticks on (as long at 2.9 GHz) it looks past. */
static int is_far(const struct waiter *waiter, double ticks)
{
    return ticks * waiter->learnt.period_ns > (double)FARTHEST_NS || ticks > FARTHEST_TICKS;
}

static int is_too_far(const struct wait *wait, int64_t now_ns)
{
    uint64_t now = timebase_ticks();
    if (wait->ticks_at != NULL)
        return wait->ns > now_ns && (uint64_t)wait->ns - (uint64_t)now_ns > FARTHEST_NS;
    return wait->ticks > now && is_far(wait->waiter, (double)(wait->ticks - now));
}

/* ---- stages ------------------------------------------------------------------------------- */

/* The approach may turn out exact or plain, and the return may come long after the event. */
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
        lead += ticks_of_ns(wait->waiter, PREPARE_NS);
    return lead;
}

static void sleep_for(struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    int64_t lead_ns = (int64_t)((double)lead_ticks(wait) * waiter->learnt.period_ns);
    int64_t target_ns;
    do {
        convert(wait);
        target_ns = timebase_mono_at_ns(waiter->clock, wait->ticks);
    } while (sleep_towards(&wait->sleep, &waiter->sleeper, target_ns, lead_ns) == SLEEP_AGAIN);
}

/* A reading now and then keeps the clock right, as nobody else may; never shortly before the end.
 */
static void keep_clock(const struct wait *wait, int64_t spare_ticks)
{
    if (wait->ticks_at != NULL && spare_ticks > ticks_of_ns(wait->waiter, MAINTENANCE_NS))
        timebase_mono_ns(wait->waiter->clock);
}

static void poll_for(struct wait *wait)
{
    enum relax_means means = RELAX_PAUSE;
    int64_t lead = lead_ticks(wait), left;
    if (wait->flags & TIMEBASE_WAIT_SAVE_POWER)
        means = relax_means();
    convert(wait);
    for (; (left = left_ticks(wait)) > lead; convert(wait)) {
        keep_clock(wait, left - lead);
        relax(means, wait->ticks - (uint64_t)lead, wait->waiter->learnt.period_ns);
    }
}

/* On another CPU the table is wrong; and noise may have hidden it. Calibration takes some 5 ms. */
static void follow_cpu(struct timebase_waiter *public, struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    int cpu = wait->cpu;
    int failed = waiter->best != NULL && !waiter->learnt.exact && waiter->calibrations < 8;
    if ((cpu != waiter->cpu || failed) && left_ticks(wait) > ticks_of_ns(waiter, 20e6))
        waiter_calibrate(public);
}

/* ---- approach ----------------------------------------------------------------------------- */

void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double lead_ticks, int exact)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    double before = exact ? learnt->coarse_ticks : learnt->plain_bias_ticks;
    double base = learnt->shortest_ticks + waiter->vernier.half_step_ticks - lead_ticks;
    a->target_ticks = target_ticks;
    a->leave_ticks = target_ticks - (uint64_t)(int64_t)(before - lead_ticks);
    a->base_256 = (int32_t)(base * 256);
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
    if (wait->exact && (double)left_ticks(wait) + wait->aim < waiter->learnt.coarse_ticks) {
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

/* The core was slower, but what the approach says of it is true. */
#define HARMLESS (uint32_t)(TIMEBASE_DISTURBED_UNEVEN | TIMEBASE_DISTURBED_SHARED)

/* ---- settle ------------------------------------------------------------------------------- */

/* A real-time thread that stood still for so long used up its share. */
static int was_throttled(const struct waiter *waiter, uint32_t found)
{
    int64_t limit = ticks_of_ns(waiter, THROTTLED_NS);
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
    uint32_t limit = (uint32_t)ticks_of_ns(waiter, GAP_NS);
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

/* Told from when the approach began, not from when the event took place. */
static int was_late(const struct wait *wait)
{
    const struct approach *a = &wait->waiter->approach;
    int64_t tolerance_256 = (int64_t)a->step_256 + 4 * 256;
    /* A thread held up for long finds the farthest middle there is: 32 bits are too few here. */
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

/* What happened in the last wait. Done at leisure if nobody asked for it. */
static void settle(struct waiter *waiter, struct timebase_wait_result *result)
{
    struct wait *wait = &waiter->last;
    int late = was_late(wait);
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

void waiter_settle(struct waiter *waiter)
{
    if (waiter->wait_is_open)
        settle(waiter, NULL);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static int run(struct timebase_waiter *public, const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    struct wait *wait = &waiter->last;
    waiter_settle(waiter);
    waiter_track(waiter);
    *wait = *asked;
    wait->cpu = waiter_current_cpu(waiter);
    follow_cpu(public, wait);
    uint64_t number = ++waiter->uses;
    *wait = *asked;
    wait->cpu = waiter_current_cpu(waiter);
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
        settle(waiter, wait->result);
    return was_late(wait);
}

static struct waiter *check(struct timebase_waiter *public, unsigned flags)
{
    struct waiter *waiter = public != NULL ? waiter_within(public) : NULL;
    if (waiter == NULL || waiter->magic != WAITER_MAGIC || (flags & ~(unsigned)ALL_FLAGS) != 0)
        return NULL;
    return waiter;
}

static int is_known(const timebase_clock *clock)
{
    struct timebase_interval interval;
    int status = timebase_utc_interval(clock, &interval);
    return status >= 0 && status != TIMEBASE_STATUS_UNKNOWN;
}

static int wait_for(struct timebase_waiter *public, struct wait wait, int64_t now_ns,
                    struct timebase_wait_result *result)
{
    wait.result = result;
    wait.waiter = check(public, wait.flags);
    if (wait.waiter == NULL || is_too_far(&wait, now_ns))
        return TIMEBASE_E_INVALID;
    if (wait.ticks_at != NULL && !is_known(wait.waiter->clock))
        return TIMEBASE_E_UNSUPPORTED;
    convert(&wait);
    return run(public, &wait);
}

/* Rounded up where it must not end early. */
int waiter_delay(struct timebase_waiter *public, double ticks, unsigned flags,
                 struct timebase_wait_result *result)
{
    struct wait wait = {.waiter = check(public, flags), .flags = flags, .result = result};
    struct timebase_fine_reading start;
    uint64_t base = timebase_ticks();
    if (wait.waiter == NULL || is_far(wait.waiter, ticks))
        return TIMEBASE_E_INVALID;
    waiter_read_fine(wait.waiter, base, &start);
    int exact = wait.waiter->learnt.exact && !(flags & TIMEBASE_WAIT_PLAIN);
    double bias = flags & TIMEBASE_WAIT_NEVER_EARLY
        ? 0
        : wait.waiter->learnt.delay_bias_ticks[exact][result != NULL];
    double end = start.ticks + ticks - bias;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait.fraction = end - (double)whole;
    wait.ticks = base + (uint64_t)whole + (flags & TIMEBASE_WAIT_NEVER_EARLY ? 1 : 0);
    return run(public, &wait);
}

static int64_t utc_now(struct timebase_waiter *public)
{
    struct waiter *waiter = check(public, 0);
    return waiter != NULL ? timebase_utc_ns(waiter->clock) : 0;
}

static int64_t mono_now(struct timebase_waiter *public)
{
    struct waiter *waiter = check(public, 0);
    return waiter != NULL ? timebase_mono_ns(waiter->clock) : 0;
}

TIMEBASE_API int timebase_wait_until_ticks(struct timebase_waiter *waiter, uint64_t target_ticks,
                                           unsigned flags, struct timebase_wait_result *result)
{
    return wait_for(waiter, (struct wait){.ticks = target_ticks, .flags = flags}, 0, result);
}

TIMEBASE_API int timebase_wait_until_mono(struct timebase_waiter *waiter, int64_t mono_ns,
                                          unsigned flags, struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_mono, .ns = mono_ns, .flags = flags};
    return wait_for(waiter, wait, mono_now(waiter), result);
}

TIMEBASE_API int timebase_wait_until_utc(struct timebase_waiter *waiter, int64_t utc_ns,
                                         unsigned flags, struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_utc, .ns = utc_ns, .flags = flags};
    return wait_for(waiter, wait, utc_now(waiter), result);
}

TIMEBASE_API int timebase_wait_call_ticks(struct timebase_waiter *waiter, uint64_t target_ticks,
                                          unsigned flags, void (*function)(void *), void *argument,
                                          struct timebase_wait_result *result)
{
    struct wait wait = {
        .ticks = target_ticks, .flags = flags, .function = function, .argument = argument};
    return function != NULL ? wait_for(waiter, wait, 0, result) : TIMEBASE_E_INVALID;
}

TIMEBASE_API int timebase_wait_call_mono(struct timebase_waiter *waiter, int64_t mono_ns,
                                         unsigned flags, void (*function)(void *), void *argument,
                                         struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_mono,
                        .ns = mono_ns,
                        .flags = flags,
                        .function = function,
                        .argument = argument};
    return function != NULL ? wait_for(waiter, wait, mono_now(waiter), result) : TIMEBASE_E_INVALID;
}

TIMEBASE_API int timebase_wait_call_utc(struct timebase_waiter *waiter, int64_t utc_ns,
                                        unsigned flags, void (*function)(void *), void *argument,
                                        struct timebase_wait_result *result)
{
    struct wait wait = {.ticks_at = timebase_ticks_at_utc,
                        .ns = utc_ns,
                        .flags = flags,
                        .function = function,
                        .argument = argument};
    return function != NULL ? wait_for(waiter, wait, utc_now(waiter), result) : TIMEBASE_E_INVALID;
}
