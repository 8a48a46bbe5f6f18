/* SPDX-License-Identifier: MIT */
/*
 * delay_short: delays of less than 1.6 us, from the call to the return.
 *
 * A counter that steps says little in so short a time, and what comes before a first poll takes as
 * long as what is in the caches. A run of instructions needs neither. What it relies on is a core
 * of its own, and readings tell whether it had that: one at the end, and in the longer ones another
 * 0.25 us before, from which on there is still time for the loop. The loop has the next turns then;
 * so it has where the code has gone cold, and with TIMEBASE_WAIT_STEADY.
 */
#ifndef DELAY_DELAY_SHORT_H
#define DELAY_DELAY_SHORT_H

#include "timing/waiter/waiter.h"

enum { DELAY_SHORT_NS = 1600 };

/* Others ask for what only a wait does. */
static inline int delay_has_flags_of_short(unsigned flags)
{
    return !(flags & ~(unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_STEADY));
}

static inline int delay_may_be_short(uint64_t delay_ns, unsigned flags)
{
    return delay_ns < DELAY_SHORT_NS && delay_has_flags_of_short(flags);
}

/* Is it short, and can the processor count instructions? */
static inline int delay_is_short(const struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    return delay_may_be_short(delay_ns, flags) && waiter->ways.run != NULL && waiter->learnt.exact;
}

enum {
    DELAY_CHECKED_NS = 150, /* the shortest that the counter checks, where there is time for it */
    DELAY_TWO_RUNS_NS = 600,
    DELAY_LAST_NS = 250,     /* of two runs, the last */
    DELAY_LEAST_RUN_NS = 20, /* with less left for it there is no time for a run */
};

/* From so long on there is the time for a reading between two of them. */
static inline int delay_has_two_runs(uint64_t delay_ns)
{
    return delay_ns >= DELAY_TWO_RUNS_NS;
}

/* From delay_called_ticks on. Returns 0, or 1 if the call takes longer. */
int delay_short(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                struct timebase_wait_result *result, enum delay_code code);

#endif
