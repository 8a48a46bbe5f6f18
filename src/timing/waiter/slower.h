/* SPDX-License-Identifier: MIT */
/*
 * slower: by how much longer readings take than they did when the waiter was calibrated. A neighbour
 * that has come does that.
 */
#ifndef WAITER_SLOWER_H
#define WAITER_SLOWER_H

#include "waiter.h"

/*
 * From the stamp to such an event, as the last polls have seen. The stamp is followed, and what comes
 * behind it takes so much of what a poll takes longer. Where steps are far nothing is seen.
 */
static inline double waiter_slower_ticks(const struct waiter *waiter, enum event_way way)
{
    static const double share[EVENT_WAYS] = {
        [EVENT_CALLED] = 0.65, [EVENT_RETURNS] = 0.45, [EVENT_TELLS] = 1.2};
    double usual = waiter->learnt.usual_period_ticks;
    return usual > 0 ? (waiter->period.value - usual) * share[way] : 0;
}

/* From a call's event to that of a wait of this way, now. Loops have no poll that tells. */
static inline double waiter_exit_ticks(const struct waiter *waiter, int exact, enum event_way way)
{
    double usually = waiter->learnt.exit_ticks[exact][way];
    if (!exact)
        return usually;
    return usually + waiter_slower_ticks(waiter, way) - waiter_slower_ticks(waiter, EVENT_CALLED);
}

/*
 * A return that is predicted wrongly is found out behind the stamp, hidden (x86_64.S); but what
 * follows it begins no sooner than that has passed. An interrupt or the hypervisor leaves no return
 * predicted.
 */
static inline double wait_unpredicted_ticks(const struct wait *wait, enum event_way way)
{
    return wait->was_held_up ? wait->waiter->learnt.unpredicted_ticks[way] : 0;
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
static inline double waiter_sooner_ticks(const struct waiter *waiter, enum event_way way)
{
    double cycles = (double)waiter->approach.sooner_cycles / (1 << APPROACH_CYCLE_BITS);
    return cycles * waiter->tempo.cycle_ticks + waiter_slower_ticks(waiter, way);
}

#endif
