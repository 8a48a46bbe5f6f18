/* SPDX-License-Identifier: MIT */
#include "foresight.h"

#include <stddef.h>

#include "timing/waiter/asked.h"

#include "result.h"

APPROACH_WAY void foresight_event(const struct wait *wait)
{
    const struct approach_ways *ways = &wait->waiter->ways;
    if (ways->foresee == NULL)
        return;
    asked_foresee(ways, wait->function, wait->argument, wait->frame);
    if (wait_event_way(wait) == EVENT_TELLS)
        ways->foresee((const void *)(uintptr_t)result_tell, &wait->waiter->approach);
}

APPROACH_WAY static inline const void *const *runs_of(const struct waiter *waiter,
                                                      enum event_way way)
{
    return way == EVENT_CALLED ? waiter->ways.runs : waiter->ways.returning_runs;
}

APPROACH_WAY void foresight_runs(const struct waiter *waiter, enum event_way way)
{
    const struct approach_ways *ways = &waiter->ways;
    for (int i = 0; i < APPROACH_RUNS && ways->foresee != NULL; i++)
        ways->foresee(runs_of(waiter, way)[i], NULL);
}

APPROACH_WAY void foresight_fetch_runs(const struct waiter *waiter, enum event_way way)
{
    enum { LINES = 5 };
    for (int i = 0; i < APPROACH_RUNS; i++)
        approach_fetch_lines((const char *)runs_of(waiter, way)[i], LINES);
}
