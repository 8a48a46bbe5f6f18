/* SPDX-License-Identifier: MIT */
/* The public wait for a tick that calls. */
#include "timing/hurry/hurry_ways.h"

#include "wait_ticks.h"

TIMEBASE_API APPROACH_WAY APPROACH_PAGE int
timebase_wait_call_ticks(struct timebase_waiter *waiter, uint64_t target_ticks, unsigned flags,
                         void (*function)(void *), void *argument,
                         struct timebase_wait_result *result)
{
    approach_fetch_lines((const char *)(uintptr_t)function, 2);
    if (__builtin_expect(wait_fetches_code(waiter), 1))
        wait_fetch_code((const void *)(uintptr_t)hurry_call, 8, 9);
    struct hurried asked = {.ticks = target_ticks,
                            .flags = flags,
                            .function = function,
                            .argument = argument,
                            .result = result};
    if (function == NULL)
        return TIMEBASE_E_INVALID;
    return wait_for_tick(waiter, &asked, hurry_call);
}
