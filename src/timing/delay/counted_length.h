/* SPDX-License-Identifier: MIT */
/* counted_length: which delays may be counted (delay_counted.h). */
#ifndef DELAY_COUNTED_LENGTH_H
#define DELAY_COUNTED_LENGTH_H

#include "timing/waiter/waiter.h"

/* Soon after another, longer ones are exact waits at their call (delay_near.h), if there is time for that. */
enum { DELAY_COUNTED_AT_ONCE_NS = 800 };

static inline int delay_has_length_of_counted(const struct waiter *waiter, uint64_t delay_ns)
{
    return delay_ns - waiter->counted.least_ns < waiter->counted.span_ns;
}

static inline int delay_may_be_counted(const struct waiter *waiter, uint64_t delay_ns,
                                       unsigned flags, const struct timebase_wait_result *result)
{
    return delay_has_length_of_counted(waiter, delay_ns) && result == NULL &&
        !(flags & ~(unsigned)TIMEBASE_WAIT_PREPARE);
}

#endif
