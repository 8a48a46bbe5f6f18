/* SPDX-License-Identifier: MIT */
#include "delay_at_once.h"

#include "within.h"

enum { OF_LOOP, OF_RUN }; /* of what was learnt */

/*
 * The reading is a part of the delay: it is taken when all before it is done. By it the delay
 * follows what it takes beside what it counts, which changes with the core's load and clock.
 * Returns by how much the reading contradicts what was believed.
 */
APPROACH_WAY static inline double end(struct waiter *waiter, int way, double ticks)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    struct waiter_at_once *learnt = &waiter->learnt.at_once[way];
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    uint64_t taken = timebase_ticks_ordered() - waiter->delay_called_ticks;
    double wrong = (double)(int64_t)taken + learnt->after_ticks - ticks;
    waiter->delay_taken_ticks = taken;
    learnt->fixed_ticks += within(-most, wrong, most) / MEAN;
    return wrong;
}

/* Asks memory for what a run needs and others have driven out: the next delay finds it. */
APPROACH_WAY static inline void fetch_run(struct waiter *waiter, unsigned line)
{
    enum { LINE = 64, DATA = 4, OF_RUN = 2, MOST = 16 };
    const void *const data[DATA] = {&waiter->ways.run, &waiter->tempo, &waiter->vernier,
                                    &waiter->run_at_once};
    const char *run = (const char *)(uintptr_t)waiter->ways.run;
    const char *here = (const char *)(uintptr_t)delay_at_once;
    if (line < DATA)
        __builtin_prefetch(data[line], 1, 3);
    else if (line < DATA + OF_RUN)
        __builtin_prefetch(run + (line - DATA) * LINE, 0, 2);
    else if (line < MOST)
        __builtin_prefetch(here + (line - DATA) * LINE, 0, 2);
}

/*
 * The loop leaves alone what the wait before has to tell. While it polls, it asks for what a run
 * needs; shortly before the end it does nothing else. To follow it by cold code would be a part of
 * the delay.
 */
APPROACH_WAY static inline int by_loop(struct waiter *waiter, double ticks, int is_cold)
{
    enum { LAST_TICKS = 120 };
    double before = waiter->learnt.at_once[OF_LOOP].fixed_ticks;
    uint64_t leave = waiter->delay_called_ticks + (uint64_t)(int64_t)(ticks - before), now;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    for (unsigned line = 0; (int64_t)((now = timebase_ticks()) - leave) < -LAST_TICKS; line++)
        fetch_run(waiter, line);
    while ((int64_t)(now - leave) < 0)
        now = timebase_ticks();
    if (late || is_cold)
        timebase_ticks_ordered();
    else
        end(waiter, OF_LOOP, ticks);
    return late;
}

/*
 * Two readings are less than a step from where they were taken, each. A run that took more or less
 * than that had not the whole of a core, or another clock: see caution.h.
 */
APPROACH_WAY static inline int by_run(struct waiter *waiter, double ticks)
{
    enum { TOLERATED_TICKS = 4, LEAST_TURNS = 1, MOST_TURNS = 64 };
    double left = ticks - waiter->learnt.at_once[OF_RUN].fixed_ticks;
    double count = left / waiter->tempo.cycle_ticks + 0.5, wrong;
    double most = waiter->vernier.step_ticks + TOLERATED_TICKS;
    if (count < 1)
        return 1;
    waiter->ways.run((uint64_t)(int64_t)count);
    wrong = end(waiter, OF_RUN, ticks);
    if (wrong > most || wrong < -most)
        caution_went_wrong(&waiter->run_at_once, LEAST_TURNS, MOST_TURNS);
    else
        caution_went_well(&waiter->run_at_once);
    return 0;
}

APPROACH_WAY static inline int is_run(const struct waiter *waiter, unsigned flags, int is_cold)
{
    if (waiter->is_calibrating)
        return waiter->calibrated_way == DELAY_AT_ONCE_BY_RUN;
    return !is_cold && !(flags & TIMEBASE_WAIT_STEADY) && waiter->learnt.exact &&
        waiter->ways.run != NULL && caution_allows(&waiter->run_at_once);
}

APPROACH_WAY int delay_at_once(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                               int is_cold)
{
    double ticks = (double)(int64_t)delay_ns / waiter->learnt.period_ns;
    if (is_run(waiter, flags, is_cold))
        return by_run(waiter, ticks);
    if (!is_cold)
        caution_pass(&waiter->run_at_once);
    return by_loop(waiter, ticks, is_cold);
}
