/* SPDX-License-Identifier: MIT */
#include "foresight.h"

#include <stddef.h>

APPROACH_WAY void foresight_event(const struct wait *wait)
{
    approach_foresight *foresee = wait->waiter->ways.foresee;
    if (foresee != NULL && wait->function != NULL)
        foresee((const void *)(uintptr_t)wait->function, wait->argument);
}

APPROACH_WAY void foresight_runs(const struct waiter *waiter, enum event_way way)
{
    const struct approach_ways *ways = &waiter->ways;
    const void *const *runs = way == EVENT_RETURNS ? ways->leaving_runs : ways->runs;
    for (int i = 0; i < APPROACH_RUNS && ways->foresee != NULL; i++)
        ways->foresee(runs[i], NULL);
}
