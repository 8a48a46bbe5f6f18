/* SPDX-License-Identifier: MIT */
/* default: the process' own clock, and what may be asked of any clock. */
#include <stddef.h>

#include "../publish/publish.h"
#include "cell.h"

#include <timebase/error.h>

/* A reader that wants the statistics waits for a maintenance to end, but not for ever. */
#define LOCK_ATTEMPTS 10000

static struct reference_kernel kernel;
static struct clock_cell default_cell = CLOCK_CELL_INITIALIZER(&reference_kernel, &kernel);

TIMEBASE_API const timebase_clock *timebase_clock_default(void)
{
    return cell_handle(&default_cell);
}

static bool lock(struct clock_cell *cell)
{
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (cell_try_lock(cell))
            return true;
        timebase_arch_relax();
    }
    return false;
}

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
    int error = cell_maintain(cell);
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
    discipline_reset(&cell->discipline);
    cell->interval_ns = 0;
    cell_unlock(cell);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_clock_statistics(const timebase_clock *clock,
                                           struct timebase_statistics *out)
{
    if (clock == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    if (!lock(cell))
        return TIMEBASE_E_BUSY;
    const struct estimator *estimator = &cell->discipline.estimator;
    *out = cell->statistics;
    out->bracket_ns = estimator->newest.width_ns;
    out->counter_id = timebase_counter_id();
    out->status = (int32_t)discipline_status(&cell->discipline);
    if (estimator->ready) {
        uint64_t length = ((uint64_t)estimator->period.ns << 32) | (estimator->period.frac >> 32);
        struct fixed error = {0, estimator->period_error_frac};
        out->frequency_hz = ((uint64_t)1000000000 << 32) / length;
        out->frequency_error_ppb = (uint64_t)fixed_times(error, out->frequency_hz).ns + 1;
    }
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
