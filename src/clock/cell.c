/* SPDX-License-Identifier: MIT */
#include "cell.h"

/* The error of an unknown time: 36 years. */
#define UNKNOWN_ERROR_NS ((uint64_t)1 << 60)
/* cell_lock() tries so often, and waits some 20 µs after each attempt. */
#define LOCK_ATTEMPTS 25
/* Roughly 20 µs. */
#define PATIENCE 400

struct timebase_page *cell_lines_page(struct clock_cell *cell)
{
    return timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER ? &cell->page : &cell->shadow;
}

bool cell_try_lock(struct clock_cell *cell, struct clock_hold *hold)
{
    enum guard_result result = guard_try(&cell->lock, hold);
    if (result == GUARD_RECOVERED)
        cell->kind->mend(cell);
    return result != GUARD_BUSY;
}

bool cell_lock(struct clock_cell *cell, struct clock_hold *hold)
{
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (cell_try_lock(cell, hold))
            return true;
        cell_await_unlock(cell);
    }
    return false;
}

void cell_unlock(struct clock_cell *cell, const struct clock_hold *hold)
{
    guard_release(&cell->lock, hold);
}

void cell_await_unlock(const struct clock_cell *cell)
{
    for (int i = 0; i < PATIENCE && guard_is_taken(&cell->lock); i++)
        timebase_arch_relax();
}

void cell_unknown(uint64_t ticks, struct timebase_instant *out)
{
    struct timebase_instant nothing = {0};
    *out = nothing;
    out->ticks = ticks;
    out->maxerror_ns = UNKNOWN_ERROR_NS;
    out->utc_maxerror_ns = UNKNOWN_ERROR_NS;
    out->esterror_ns = UNKNOWN_ERROR_NS;
    out->flags = TIMEBASE_STATUS_UNKNOWN;
}
