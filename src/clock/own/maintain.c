/* SPDX-License-Identifier: MIT */
/*
 * maintain: the servo of a clock of one's own. It runs in the thread that came first to the slow
 * path, or in a housekeeping thread.
 */
#include "clock/cell.h"

#include <timebase/error.h>

static uint64_t ticks(void *context)
{
    (void)context;
    return timebase_ticks_ordered();
}

static int sample(void *context, struct discipline_sample *out)
{
    const struct clock_cell *cell = context;
    return cell->reference->sample(cell->reference_context, out);
}

int cell_maintain(struct clock_cell *cell)
{
    int maintenance = __atomic_load_n(&cell->maintenance, __ATOMIC_RELAXED);
    const struct servo_outside outside = {
        .context = cell,
        .ticks = ticks,
        .sample = sample,
        .page = cell_lines_page(cell),
        .cadence = cadence_own(maintenance == TIMEBASE_MAINTENANCE_MANUAL),
    };
    switch (servo_step(&cell->servo, &outside)) {
    case SERVO_TOO_EARLY:
        return TIMEBASE_E_BUSY;
    case SERVO_NO_REFERENCE:
        return TIMEBASE_E_REFERENCE;
    default:
        return TIMEBASE_OK;
    }
}
