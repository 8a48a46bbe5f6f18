/* SPDX-License-Identifier: MIT */
/* The public wait for a tick that returns. */
#include "wait_ticks.h"

#include "timing/hurry/hurry_tell.h"
#include "timing/hurry/hurry_ways.h"

APPROACH_WAY static int until(void *waiter, uint64_t target_ticks, uint64_t flags, void *result,
                              void *frame)
{
    struct hurried asked = {.ticks = target_ticks, .flags = (unsigned)flags, .frame = frame};
    (void)result;
    return wait_for_tick((struct timebase_waiter *)waiter, &asked, hurry_return);
}

APPROACH_WAY static int until_and_tell(void *waiter, uint64_t target_ticks, uint64_t flags,
                                       void *result, void *frame)
{
    struct hurried asked = {.ticks = target_ticks,
                            .flags = (unsigned)flags,
                            .frame = frame,
                            .result = (struct timebase_wait_result *)result};
    return wait_for_tick((struct timebase_waiter *)waiter, &asked, hurry_tell);
}

static inline __attribute__((always_inline)) void fetch_code_of_return(const void *result)
{
    if (result != NULL) {
        wait_fetch_code((const void *)(uintptr_t)until_and_tell, 0, 5);
        wait_fetch_code((const void *)(uintptr_t)hurry_tell, 13, 11);
        return;
    }
    wait_fetch_code((const void *)(uintptr_t)until, 0, 15);
#ifdef __x86_64__
    /* Or the next one, of what must not be early. */
    wait_fetch_code((const void *)(uintptr_t)approach_hurry, 0, 4);
#endif
}

TIMEBASE_API APPROACH_WAY int timebase_wait_until_ticks(struct timebase_waiter *waiter,
                                                        uint64_t target_ticks, unsigned flags,
                                                        struct timebase_wait_result *result)
{
    approach_within *within = result != NULL ? until_and_tell : until;
    approach_fetch_code(__builtin_return_address(0));
    if (__builtin_expect(wait_fetches_code(waiter), 1))
        fetch_code_of_return(result);
    return approach_from(waiter, target_ticks, flags, result, within);
}
