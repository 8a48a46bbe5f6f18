/* SPDX-License-Identifier: MIT */
/* A waiter's life, and what it tells of itself. */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "relax.h"
#include "waiter.h"

TIMEBASE_API int timebase_waiter_init(struct timebase_waiter *public, const timebase_clock *clock)
{
    if (public == NULL || clock == NULL)
        return TIMEBASE_E_INVALID;
    struct waiter *waiter = waiter_within(public);
    memset(public, 0, sizeof(*public));
    waiter->magic = WAITER_MAGIC;
    waiter->clock = clock;
    relax_means(); /* asks the processor once, while there is no hurry */
    evidence_init(&waiter->evidence, &waiter->approach);
    sleeper_init(&waiter->sleeper, &sleep_in_kernel, (void *)(uintptr_t)clock);
    waiter_calibrate(public);
    return TIMEBASE_OK;
}

static struct waiter *valid(const struct timebase_waiter *public)
{
    struct waiter *waiter = NULL;
    if (public != NULL)
        waiter = waiter_within((struct timebase_waiter *)(uintptr_t) public);
    return waiter != NULL && waiter->magic == WAITER_MAGIC ? waiter : NULL;
}

TIMEBASE_API int timebase_waiter_calibrate(struct timebase_waiter *public)
{
    struct waiter *waiter = valid(public);
    if (waiter == NULL)
        return TIMEBASE_E_INVALID;
    waiter_calibrate(public);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_waiter_set_margin(struct timebase_waiter *public, double quantile,
                                            double cpu_share)
{
    struct waiter *waiter = valid(public);
    if (waiter == NULL || !margin_set(&waiter->sleeper.margin, quantile, cpu_share))
        return TIMEBASE_E_INVALID;
    return TIMEBASE_OK;
}

int waiter_current_cpu(const struct waiter *waiter)
{
    (void)waiter;
    return sched_getcpu();
}

int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out)
{
    uint32_t readings[APPROACH_FINE];
    if (waiter->vernier.readings > 1)
        waiter->ways.read_fine(readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
    return vernier_intersect(&waiter->vernier, readings, (uint32_t)base_ticks, out);
}

TIMEBASE_API int timebase_wait_read_fine(const struct timebase_waiter *public, uint64_t base_ticks,
                                         struct timebase_fine_reading *out)
{
    struct waiter *waiter = valid(public);
    if (waiter == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    return waiter_read_fine(waiter, base_ticks, out);
}

TIMEBASE_API int timebase_waiter_describe(const struct timebase_waiter *public,
                                          struct timebase_waiter_description *out)
{
    struct waiter *waiter = valid(public);
    if (waiter == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    waiter_settle(waiter);
    const struct waiter_learnt *learnt = &waiter->learnt;
    double period_ns = learnt->period_ns;
    memset(out, 0, sizeof(*out));
    out->mechanism = learnt->exact ? waiter->ways.mechanism : TIMEBASE_MECHANISM_LOOP;
    out->readings = learnt->exact && waiter->vernier.readings > 1 ? APPROACH_VERNIER : 1;
    out->power_hint = relax_means() != RELAX_PAUSE;
    out->cpu = waiter->cpu;
    out->evidence = waiter->evidence.noticed;
    out->calibrations = waiter->calibrations;
    out->calibration_ns = waiter->calibration_ns;
    out->instruction_ns = learnt->instruction_ticks * period_ns;
    out->quantum_ns = waiter->vernier.step_ticks * period_ns;
    out->sample_ns = learnt->sample_width_ticks * period_ns;
    out->exact_spread_ns = learnt->exact_spread_ticks * period_ns;
    out->plain_spread_ns = learnt->plain_spread_ticks * period_ns;
    out->plain_bias_ns = learnt->plain_bias_ticks * period_ns;
    out->least_ns = learnt->coarse_ticks * period_ns;
    out->margin_ns =
        (double)margin_ns(&waiter->sleeper.margin, (int64_t)(learnt->coarse_ticks * period_ns));
    out->waits = waiter->waits;
    out->late = waiter->late;
    out->disturbed = waiter->disturbed;
    return TIMEBASE_OK;
}

TIMEBASE_API const char *timebase_wait_mechanism_name(int mechanism)
{
    switch (mechanism) {
    case TIMEBASE_MECHANISM_NONE:
        return "none, the target had passed";
    case TIMEBASE_MECHANISM_LOOP:
        return "polling loop";
    case TIMEBASE_MECHANISM_JUMP:
        return "jump into a run of instructions";
    case TIMEBASE_MECHANISM_RETURN:
        return "return into a run of instructions";
    case TIMEBASE_MECHANISM_RUN:
        return "run of instructions alone";
    default:
        return "unknown mechanism";
    }
}

TIMEBASE_API const char *timebase_wait_disturbance_name(int disturbance_bit)
{
    switch (disturbance_bit) {
    case TIMEBASE_DISTURBED_INTERRUPT:
        return "interrupt";
    case TIMEBASE_DISTURBED_PREEMPTED:
        return "preempted";
    case TIMEBASE_DISTURBED_MIGRATED:
        return "migrated to another CPU";
    case TIMEBASE_DISTURBED_GAP:
        return "gap: hypervisor or firmware";
    case TIMEBASE_DISTURBED_THROTTLED:
        return "throttled real-time thread";
    case TIMEBASE_DISTURBED_UNEVEN:
        return "uneven readings";
    case TIMEBASE_DISTURBED_SHARED:
        return "shared core";
    default:
        return "unknown disturbance";
    }
}
