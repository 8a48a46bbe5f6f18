/* SPDX-License-Identifier: MIT */
/* slower: by how much longer readings take than they did when the waiter was calibrated. */
#ifndef WAIT_SLOWER_H
#define WAIT_SLOWER_H

#include "waiter.h"

/*
 * As the last polls have seen: a neighbour that has come does that. The stamp is followed; what is read
 * behind it comes so much later.
 */
static inline double waiter_slower_ticks(const struct waiter *waiter)
{
    double usual = waiter->learnt.usual_period_ticks;
    return usual > 0 ? waiter->period.value - usual : 0;
}

/*
 * Of what a wait's last poll took longer than those before it, so much comes again in the readings
 * behind it. Where a neighbour comes and goes 1 would be best, beside one that stays 0.4. A poll's
 * distance is known to a step of the counter: nothing is seen where that is coarse.
 */
static inline double waiter_sooner_share(const struct waiter *waiter)
{
    return waiter->learnt.usual_period_ticks > 0 ? 0.5 : 0;
}

/* The last exact event was aimed so much sooner for that, by its own polls as well: approach.h. */
static inline double waiter_sooner_ticks(const struct waiter *waiter)
{
    double cycles = (double)waiter->approach.sooner_cycles / (1 << APPROACH_CYCLE_BITS);
    return cycles * waiter->tempo.cycle_ticks + waiter_slower_ticks(waiter);
}

#endif
