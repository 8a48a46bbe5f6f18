/* SPDX-License-Identifier: MIT */
#include "cell.h"

#include <unistd.h>

/* An unknown time is known to within this: half a lifetime. */
#define UNKNOWN_ERROR_NS ((uint64_t)1 << 60)
/* Who has to be the only one waits for a maintenance to end, but not for ever. */
#define LOCK_ATTEMPTS 10000

struct timebase_page *cell_lines_page(struct clock_cell *cell)
{
    return timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER ? &cell->page : &cell->shadow;
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
    cell->kind->mend(cell);
    return true;
}

bool cell_lock(struct clock_cell *cell)
{
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (cell_try_lock(cell))
            return true;
        timebase_arch_relax();
    }
    return false;
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
    out->esterror_ns = UNKNOWN_ERROR_NS;
    out->flags = TIMEBASE_STATUS_UNKNOWN;
}
