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
#ifndef WAIT_DELAY_SHORT_H
#define WAIT_DELAY_SHORT_H

#include "waiter.h"

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

enum { DELAY_TWO_RUNS_NS = 600 };

/* From so long on there is the time for a reading between two of them. */
static inline int delay_has_two_runs(uint64_t delay_ns)
{
    return delay_ns >= DELAY_TWO_RUNS_NS;
}

/* Asks memory for one line of what a run needs and others have driven out. */
void delay_fetch_run(struct waiter *waiter, unsigned line);

/*
 * So that the code of the next one has been executed: called as everybody calls it, for code on the
 * way is cold as well; and as by a calibration, as what cold code takes contradicts no run. By one
 * run it takes some 0.1 us, by two 0.4. What it would teach is forgotten.
 */
void delay_rehearse_run(struct waiter *waiter, enum delay_way way);

/* From delay_called_ticks on. Returns 0, or 1 if the call takes longer. */
int delay_short(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                struct timebase_wait_result *result, int is_cold);

#endif
