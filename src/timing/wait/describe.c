/* SPDX-License-Identifier: MIT */
/* What a waiter tells of itself. */
#include <stddef.h>
#include <string.h>

#include "timing/sleep/relax.h"

#include "outcome.h"

/* Most agree, and they leave little open. */
static int is_good(const struct waiter *waiter, int agree, double bound_ticks)
{
    const struct vernier *vernier = &waiter->vernier;
    return agree * 2 > vernier->readings && bound_ticks * 4 <= vernier->step_ticks;
}

/* The 4th in a row, the 8th, the 16th, ... and each 256th. */
static int is_due(unsigned bad)
{
    enum { LEAST = 4, OFTEN = 256 };
    return bad >= LEAST && ((bad & (bad - 1)) == 0 || bad % OFTEN == 0);
}

/*
 * One that only reads has no rehearsals to follow how far apart readings are. But to learn takes
 * 50 ns, which lie between this reading and the next one: so only what stays bad teaches, and the
 * less often the longer it does.
 */
static __attribute__((noinline)) void follow(struct waiter *waiter,
                                             const struct waiter_readings *readings, int good)
{
    waiter->bad_readings = good ? 0 : waiter->bad_readings + 1;
    if (good)
        estimate_confirm(&waiter->spacing);
    if (!is_due(waiter->bad_readings))
        return;
    estimate_doubt(&waiter->spacing);
    waiter_learn_spacing(waiter, readings->ticks);
    waiter_publish_tempo(waiter);
}

TIMEBASE_API int timebase_wait_read_fine(const struct timebase_waiter *public, uint64_t base_ticks,
                                         struct timebase_fine_reading *out)
{
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    struct waiter_readings readings;
    waiter_read(waiter, &readings);
    int agree = waiter_intersect(waiter, &readings, base_ticks, out);
    follow(waiter, &readings, is_good(waiter, agree, out->bound_ticks));
    out->ticks -= waiter->learnt.reading_ticks;
    return agree == 1 && waiter_has_vernier(waiter);
}

TIMEBASE_API int timebase_waiter_describe(const struct timebase_waiter *public,
                                          struct timebase_waiter_description *out)
{
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    outcome_settle_open(waiter);
    const struct waiter_learnt *learnt = &waiter->learnt;
    double period_ns = learnt->period_ns;
    memset(out, 0, sizeof(*out));
    out->mechanism = learnt->exact ? waiter->ways.mechanism : TIMEBASE_MECHANISM_LOOP;
    out->readings = learnt->exact && waiter_has_vernier(waiter) ? APPROACH_VERNIER : 1;
    out->power_hint = relax_means() != RELAX_PAUSE;
    out->cpu = waiter->cpu;
    out->evidence = waiter->evidence.noticed;
    out->calibrations = waiter->calibrations;
    out->calibration_ns = waiter->calibration_ns;
    out->instruction_ns = waiter->tempo.cycle_ticks * period_ns;
    out->quantum_ns = waiter->vernier.step_ticks * period_ns;
    out->sample_ns =
        (waiter_has_vernier(waiter) ? waiter->vernier.slack_ticks : waiter->vernier.step_ticks) *
        period_ns;
    out->exact_spread_ns = learnt->exact_spread_ticks * period_ns;
    out->plain_spread_ns = learnt->plain_spread_ticks * period_ns;
    out->plain_bias_ns = learnt->plain_bias_ticks * period_ns;
    out->least_ns = learnt->exact ? waiter_coarse_ticks(waiter) * period_ns : 0;
    out->margin_ns = (double)margin_ns(&waiter->sleeper.margin, (int64_t)out->least_ns);
    out->waits = waiter->waits;
    out->late = waiter->late;
    out->disturbed = waiter->disturbed;
    return TIMEBASE_OK;
}
