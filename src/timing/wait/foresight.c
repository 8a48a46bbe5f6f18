/* SPDX-License-Identifier: MIT */
#include "foresight.h"

#include <stddef.h>

#include "asked.h"
#include "result.h"

APPROACH_WAY void foresight_event(const struct wait *wait)
{
    const struct approach_ways *ways = &wait->waiter->ways;
    if (ways->foresee == NULL)
        return;
    if (wait->function != NULL)
        ways->foresee((const void *)(uintptr_t)wait->function, wait->argument);
    else if (wait->frame != NULL)
        ways->foresee_return(wait->frame);
    if (wait_event_way(wait) == EVENT_TELLS)
        ways->foresee((const void *)(uintptr_t)result_tell, &wait->waiter->approach);
}

APPROACH_WAY void foresight_runs(const struct waiter *waiter, enum event_way way)
{
    const struct approach_ways *ways = &waiter->ways;
    const void *const *runs = way == EVENT_CALLED ? ways->runs : ways->returning_runs;
    for (int i = 0; i < APPROACH_RUNS && ways->foresee != NULL; i++)
        ways->foresee(runs[i], NULL);
}
