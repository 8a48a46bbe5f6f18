/* SPDX-License-Identifier: MIT */
/* default: the process' own clock, what is special about its kind, and what any clock can do. */
#include <stddef.h>

#include "clock/page/publish.h"
#include "clock/cell.h"

#include <timebase/error.h>

static struct reference_kernel kernel;
static struct clock_cell default_cell = CLOCK_CELL_INITIALIZER(&reference_kernel, &kernel);

TIMEBASE_API const timebase_clock *timebase_clock_default(void)
{
    return cell_handle(&default_cell);
}

/*
 * The thread at work did not survive the fork, and left its records half-written perhaps; the
 * page is whole by its protocol. What is kept beside it is made anew from it.
 */
static void mend(struct clock_cell *cell)
{
    servo_mend(&cell->servo, cell_lines_page(cell));
}

static void restart(struct clock_cell *cell)
{
    servo_reset(&cell->servo);
}

static void describe(struct clock_cell *cell, struct timebase_statistics *out)
{
    const struct servo_counts *counts = &cell->servo.counts;
    const struct estimator *estimator = &cell->servo.discipline.estimator;
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
    out->last_offset_ns = cell->servo.offset_ns;
    out->bracket_ns = estimator->newest.width_ns;
    out->status = (int32_t)discipline_status(&cell->servo.discipline);
    if (estimator->ready) {
        struct fixed error = {0, estimator->period_error_frac};
        out->frequency_hz = cell_frequency_hz(estimator->period);
        out->frequency_error_ppb = (uint64_t)fixed_times(error, out->frequency_hz).ns + 1;
    }
}

const struct clock_kind clock_own = {
    .read = cell_read_own,
    .lines = cell_own_lines,
    .maintain = cell_maintain,
    .mend = mend,
    .restart = restart,
    .describe = describe,
};

TIMEBASE_API int timebase_clock_set_maintenance(const timebase_clock *clock, int maintenance)
{
    if (clock == NULL ||
        (maintenance != TIMEBASE_MAINTENANCE_AUTOMATIC &&
         maintenance != TIMEBASE_MAINTENANCE_MANUAL))
        return TIMEBASE_E_INVALID;
    __atomic_store_n(&cell_of(clock)->maintenance, maintenance, __ATOMIC_RELAXED);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_clock_maintain(const timebase_clock *clock)
{
    if (clock == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    if (!cell_try_lock(cell))
        return TIMEBASE_E_BUSY;
    int error = cell->kind->maintain(cell);
    cell_unlock(cell);
    return error;
}

TIMEBASE_API int timebase_clock_restart(const timebase_clock *clock)
{
    if (clock == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    if (!cell_try_lock(cell))
        return TIMEBASE_E_BUSY;
    publish_clear(&cell->page);
    publish_clear(&cell->shadow);
    cell->kind->restart(cell);
    cell_unlock(cell);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_clock_statistics(const timebase_clock *clock,
                                           struct timebase_statistics *out)
{
    if (clock == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    if (!cell_lock(cell))
        return TIMEBASE_E_BUSY;
    *out = cell->statistics;
    out->counter_id = timebase_counter_id();
    cell->kind->describe(cell, out);
    cell_unlock(cell);
    return TIMEBASE_OK;
}

TIMEBASE_API const char *timebase_status_name(int status)
{
    static const char *const names[] = {"UNKNOWN", "INITIALIZING", "SYNCHRONIZED", "FREERUNNING",
                                        "UNRELIABLE"};
    if (status < 0 || status > TIMEBASE_STATUS_UNRELIABLE)
        return "?";
    return names[status];
}
