/* SPDX-License-Identifier: MIT */
/*
 * delay_at_once: a short delay by the loop and nothing else, from the call to the return. Its code
 * and what it looks at are a few lines of memory, so it is late by little where others have driven
 * them out.
 *
 * It is for what a run is not: a delay after a pause, the turns that the loop has while something
 * else uses the core, and those with TIMEBASE_WAIT_STEADY or PLAIN. It leaves alone what the wait
 * before has to tell. While it polls it asks for what a run needs (delay_asks.h); when all of that
 * has been asked for a run is tried (delay_pass.h).
 */
#ifndef DELAY_DELAY_AT_ONCE_H
#define DELAY_DELAY_AT_ONCE_H

#include "counted_length.h"
#include "delay_lines.h"

/* Was no other delay so soon before that its code is still near? */
static inline int delay_is_cold(const struct waiter *waiter, uint64_t begin_ticks)
{
    return (int64_t)(begin_ticks - waiter->delay_called_ticks) > waiter->learnt.hot_ticks;
}

/* The shortest that has the time to ask, by code that is cold. */
enum { DELAY_ASKS_NS = 400 };

/*
 * From delay_called_ticks on, without a result; with `asks` it asks for what the next one needs.
 * Returns 0, or 1 if the call takes longer.
 */
int delay_at_once(struct waiter *waiter, uint64_t delay_ns, int asks);

/*
 * Is there the time to ask, and does the next one need it? Plain ones are by the loop for ever, and what
 * is counted loads its lines itself.
 */
static inline int delay_asks(const struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                             int is_cold)
{
    if (flags & TIMEBASE_WAIT_PLAIN || delay_has_length_of_counted(waiter, delay_ns))
        return 0;
    return !is_cold || delay_ns >= DELAY_ASKS_NS;
}

enum { DELAY_FLAGS_OF_LOOP = TIMEBASE_WAIT_STEADY | TIMEBASE_WAIT_PLAIN };

/* Others ask for what only a wait does. */
static inline int delay_has_flags_of_loop(unsigned flags)
{
    return !(flags & ~(unsigned)(TIMEBASE_WAIT_PREPARE | DELAY_FLAGS_OF_LOOP));
}

/*
 * The stages of a wait are cold as well: one in twenty of such delays was late by 2 us. Where no
 * loop was calibrated, short delays are waits.
 */
static inline int delay_may_be_at_once(const struct waiter *waiter, uint64_t delay_ns,
                                       unsigned flags, const void *result)
{
    return result == NULL && delay_ns < WAITER_COLD_NS && delay_has_flags_of_loop(flags) &&
        waiter->learnt.at_once_ticks != 0;
}

/*
 * After a pause: is it for this loop? Unless there is time to load what a run, or an exact wait at its
 * call, needs. Where that was found far away lately the loop has some turns.
 */
static inline int delay_is_far(struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    waiter->delay_fetched = 0;
    if (flags & DELAY_FLAGS_OF_LOOP ||
        (delay_ns >= DELAY_SHORT_NS && waiter->learnt.near_delay_ticks == 0))
        return 1;
    return delay_has_length_of_counted(waiter, delay_ns) ||
        caution_takes_turn(&waiter->far_code) || delay_ns < waiter->learnt.touch_least_ns;
}

/*
 * Soon after another one: while runs are contradicted; and until what they need has been asked
 * for, as that is as far away as the last run, not as the last delay. The shortest are runs all the
 * same, unless the loop is asked for.
 */
static inline int delay_has_turn_of_loop(struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    if (waiter->contradicted_run.left == 1)
        waiter->delay_fetched = 0;
    if (delay_ns < DELAY_SHORT_NS && flags & TIMEBASE_WAIT_PLAIN)
        return 1;
    int is_shortest = delay_ns < waiter->learnt.checked_ns;
    if (delay_has_length_of_counted(waiter, delay_ns) &&
        !(is_shortest && flags & TIMEBASE_WAIT_STEADY))
        return 1;
    if (is_shortest || delay_ns >= DELAY_SHORT_NS)
        return 0;
    return (flags & TIMEBASE_WAIT_STEADY) || caution_takes_turn(&waiter->contradicted_run) ||
        waiter->delay_fetched < DELAY_ASKED;
}

static inline int delay_is_by_loop(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                                   int is_cold)
{
    if (waiter->is_calibrating)
        return is_cold && waiter->calibrated_way != DELAY_AFTER_PAUSE;
    return is_cold ? delay_is_far(waiter, delay_ns, flags)
                   : delay_has_turn_of_loop(waiter, delay_ns, flags);
}

#endif
