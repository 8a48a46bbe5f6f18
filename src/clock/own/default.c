/* SPDX-License-Identifier: MIT */
/* default: the process' own clock, and what is special about its kind. */
#include "own.h"

#define NS_PER_SEC 1000000000

static struct reference_kernel kernel;
static struct own_clock default_clock = OWN_CLOCK_INITIALIZER(&reference_kernel, &kernel);

TIMEBASE_API const timebase_clock *timebase_clock_default(void)
{
    return own_handle(&default_clock);
}

/*
 * The thread that was at work is gone, and may have left the servo half-written. The page is whole
 * by its protocol, so the servo is made anew from the page.
 */
static void mend(struct clock_cell *cell)
{
    servo_mend(&own_of(cell)->servo, cell_lines_page(cell));
}

static void restart(struct clock_cell *cell)
{
    struct own_clock *own = own_of(cell);
    servo_reset(&own->servo);
    if (own->reference == &reference_kernel)
        reference_restart(own->reference_context);
}

static void describe(struct clock_cell *cell, struct timebase_statistics *out)
{
    const struct servo *servo = &own_of(cell)->servo;
    const struct servo_counts *counts = &servo->counts;
    const struct estimator *estimator = &servo->discipline.estimator;
    out->samples = counts->samples;
    out->publications = counts->publications;
    out->late_publications = counts->late_publications;
    out->utc_steps = counts->utc_steps;
    out->last_utc_step_ns = counts->last_utc_step_ns;
    out->suspends = counts->suspends;
    out->counter_jumps = counts->jumps;
    out->counter_backwards = counts->backwards;
    out->rate_changes = counts->rate_changes;
    out->reference_failures = counts->reference_failures;
    out->last_offset_ns = servo->offset_ns;
    out->bracket_ns = estimator->newest.width_ns;
    if (estimator->ready) {
        struct fixed error = {0, estimator->period_error_frac};
        out->frequency_hz = fixed_ticks(estimator->period, NS_PER_SEC);
        out->frequency_error_ppb = (uint64_t)fixed_times(error, out->frequency_hz).ns + 1;
    }
}

const struct clock_kind clock_own = {
    .read = own_read,
    .lines = own_lines,
    .draw = own_draw,
    .maintain = own_maintain,
    .mend = mend,
    .restart = restart,
    .describe = describe,
};
