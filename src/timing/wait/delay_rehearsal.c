/* SPDX-License-Identifier: MIT */
#include "delay_rehearsal.h"

#include <stddef.h>

#include "delay_lesson.h"

/* Of a run the shortest that has all of its code in it; of two runs the last is always as long. */
APPROACH_WAY static double fixed_for_shortest(const struct waiter *waiter, enum delay_way way,
                                              uint64_t ns)
{
    enum { SHORTEST_CYCLES = 72 };
    double counted_ns = way == DELAY_BY_RUN ? 0 : DELAY_LAST_NS;
    return ((double)ns - counted_ns) / waiter->learnt.period_ns -
        SHORTEST_CYCLES * waiter->learnt.delay_cycle_ticks;
}

/* As a calibration's it teaches nothing but the reading between two runs. */
APPROACH_WAY void delay_rehearse_run(struct waiter *waiter, enum delay_way way)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double *fixed_ticks = &learnt->delays[way][0].fixed_ticks;
    uint64_t ns = way == DELAY_BY_RUN ? DELAY_CHECKED_NS : DELAY_TWO_RUNS_NS;
    delay_learn(waiter);
    double known_ticks = *fixed_ticks, between_ticks = learnt->between[0].fixed_ticks;
    int64_t hot_ticks = learnt->hot_ticks;
    uint64_t called_ticks = waiter->delay_called_ticks;
    *fixed_ticks = fixed_for_shortest(waiter, way, ns);
    learnt->hot_ticks = INT64_MAX;
    waiter->calibrated_way = way;
    waiter->is_calibrating = 1;
    waiter->delay(waiter_public(waiter), ns, 0, NULL);
    waiter->is_calibrating = 0;
    *fixed_ticks = known_ticks;
    learnt->between[0].fixed_ticks = between_ticks;
    learnt->hot_ticks = hot_ticks;
    waiter->delay_called_ticks = called_ticks;
    waiter->lesson.of = NULL;
}
