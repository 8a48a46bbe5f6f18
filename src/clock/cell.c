/* SPDX-License-Identifier: MIT */
#include "cell.h"

#include <unistd.h>

#include "../publish/publish.h"

/* An unknown time is known to within this: half a lifetime. */
#define UNKNOWN_ERROR_NS ((uint64_t)1 << 60)

struct timebase_page *cell_lines_page(struct clock_cell *cell)
{
    return timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER ? &cell->page : &cell->shadow;
}

/*
 * The thread at work did not survive the fork, and left its records half-written perhaps; the
 * page is whole by its protocol. What is kept beside it is made anew from it.
 */
static void mend(struct clock_cell *cell)
{
    struct timebase_lines lines;
    struct discipline fresh = {0};
    if (publish_read_back(cell_lines_page(cell), &lines))
        discipline_adopt(&cell->discipline, &lines);
    else
        cell->discipline = fresh;
    cell->interval_ns = 0;
}

bool cell_try_lock(struct clock_cell *cell)
{
    int32_t me = (int32_t)getpid();
    int32_t owner = 0;
    if (__atomic_compare_exchange_n(&cell->owner_pid, &owner, me, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return true;
    if (owner == me)
        return false;
    if (!__atomic_compare_exchange_n(&cell->owner_pid, &owner, me, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    mend(cell);
    return true;
}

void cell_unlock(struct clock_cell *cell)
{
    __atomic_store_n(&cell->owner_pid, 0, __ATOMIC_RELEASE);
}

void cell_unknown(uint64_t ticks, struct timebase_instant *out)
{
    struct timebase_instant nothing = {0};
    *out = nothing;
    out->ticks = ticks;
    out->maxerror_ns = UNKNOWN_ERROR_NS;
    out->utc_maxerror_ns = UNKNOWN_ERROR_NS;
    out->flags = TIMEBASE_STATUS_UNKNOWN;
}
