/* SPDX-License-Identifier: MIT */
/* What a waiter tells of itself. */
#include <stddef.h>
#include <string.h>

#include "timing/sleep/relax.h"
#include "timing/stages/outcome.h"

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
    out->late = waiter_late(waiter);
    out->disturbed = waiter->disturbed;
    return TIMEBASE_OK;
}
