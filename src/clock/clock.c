/* SPDX-License-Identifier: MIT */
/* clock: what any clock can do, whatever its kind. */
#include <stddef.h>

#include "clock/page/publish.h"
#include "cell.h"

#include <timebase/error.h>

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
    struct clock_hold hold;
    if (!cell_try_lock(cell, &hold))
        return TIMEBASE_E_BUSY;
    int error = cell->kind->maintain(cell);
    cell_unlock(cell, &hold);
    return error;
}

TIMEBASE_API int timebase_clock_restart(const timebase_clock *clock)
{
    if (clock == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    struct clock_hold hold;
    if (!cell_try_lock(cell, &hold))
        return TIMEBASE_E_BUSY;
    publish_clear(&cell->page);
    publish_clear(&cell->shadow);
    cell->kind->restart(cell);
    cell_unlock(cell, &hold);
    return TIMEBASE_OK;
}

/*
 * The status of a reading at this moment: lines that want renewal are renewed, as by a reader. A
 * clock without lines is not begun. Locked.
 */
static uint32_t status_now(struct clock_cell *cell)
{
    const struct timebase_page *page = cell_lines_page(cell);
    struct timebase_instant now;
    if (timebase_page_seq(page, __ATOMIC_RELAXED) == 0)
        return TIMEBASE_STATUS_UNKNOWN;
    if (!cell_read_current(cell, &now))
        cell->kind->maintain(cell);
    if (!timebase_page_convert(page, timebase_ticks_ordered(), &now))
        return TIMEBASE_STATUS_UNKNOWN;
    return now.flags & TIMEBASE_LINE_STATUS_MASK;
}

TIMEBASE_API int timebase_clock_statistics(const timebase_clock *clock,
                                           struct timebase_statistics *out)
{
    if (clock == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    struct clock_cell *cell = cell_of(clock);
    struct clock_hold hold;
    if (!cell_lock(cell, &hold))
        return TIMEBASE_E_BUSY;
    uint32_t status = status_now(cell);
    *out = cell->statistics;
    out->counter_id = timebase_counter_id();
    out->status = (int32_t)status;
    cell->kind->describe(cell, out);
    cell_unlock(cell, &hold);
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
