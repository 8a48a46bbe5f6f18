/* SPDX-License-Identifier: MIT */
/*
 * delay_at_once: delays of less than half a microsecond without a result.
 *
 * There is no time for code that has gone cold, and hardly for polls that agree. So on a core that
 * nobody else uses such a delay is a run of instructions; and the loop where a run just took
 * another time than its instructions should have, where its code has gone cold, and with
 * TIMEBASE_WAIT_STEADY. Each ends with a reading, by which it follows what else it takes.
 */
#ifndef WAIT_DELAY_AT_ONCE_H
#define WAIT_DELAY_AT_ONCE_H

#include "delay.h"

/* Is it to be here? What is shorter is a run without a reading. */
static inline int delay_is_at_once(const struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                                   const void *result)
{
    enum { LEAST_NS = 150, MOST_NS = 500 };
    int is_asked = !waiter->is_calibrating || waiter->calibrated_way >= DELAY_AT_ONCE_BY_LOOP;
    return delay_ns >= LEAST_NS && delay_ns < MOST_NS && result == NULL &&
        !(flags & ~DELAY_FLAGS) && is_asked;
}

/* From delay_called_ticks on. Returns 0, or 1 if it took longer. */
int delay_at_once(struct waiter *waiter, uint64_t delay_ns, unsigned flags, int is_cold);

#endif
