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

APPROACH_WAY void foresight_far_event(const struct wait *wait)
{
    enum { LINES = 4 };
    const char *code = (const char *)(uintptr_t)wait->function;
    approach_fetch_lines(code != NULL ? code : approach_returns_to(wait->frame), LINES);
    foresight_event(wait);
}

APPROACH_WAY void foresight_runs(const struct waiter *waiter, enum event_way way)
{
    const struct approach_ways *ways = &waiter->ways;
    for (int i = 0; i < APPROACH_RUNS && ways->foresee != NULL; i++)
        ways->foresee(foresight_runs_of(waiter, way)[i], NULL);
}

APPROACH_WAY void foresight_loop(struct waiter *waiter)
{
    const struct approach_ways *ways = &waiter->ways;
    if (ways->foresee == NULL || ways->poll_bare == NULL)
        return;
    waiter->approach.leave_ticks = waiter_long_before(timebase_arch_ticks());
    ways->foresee((const void *)(uintptr_t)ways->poll_bare, &waiter->approach);
}
