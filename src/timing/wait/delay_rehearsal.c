/* SPDX-License-Identifier: MIT */
#include "delay_rehearsal.h"

#include <stddef.h>

#include "delay_lesson.h"

/* What a rehearsal changes. */
struct delay_beliefs {
    double one_ticks, two_ticks, between_ticks;
    int64_t hot_ticks;
    uint64_t called_ticks;
    struct caution contradicted_run;
};

APPROACH_WAY static struct delay_beliefs beliefs_of(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    return (struct delay_beliefs){.one_ticks = learnt->delays[DELAY_BY_RUN][0].fixed_ticks,
                                  .two_ticks = learnt->delays[DELAY_BY_TWO_RUNS][0].fixed_ticks,
                                  .between_ticks = learnt->between_ticks[0],
                                  .hot_ticks = learnt->hot_ticks,
                                  .called_ticks = waiter->delay_called_ticks,
                                  .contradicted_run = waiter->contradicted_run};
}

APPROACH_WAY static void believe(struct waiter *waiter, const struct delay_beliefs *beliefs)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    learnt->delays[DELAY_BY_RUN][0].fixed_ticks = beliefs->one_ticks;
    learnt->delays[DELAY_BY_TWO_RUNS][0].fixed_ticks = beliefs->two_ticks;
    learnt->between_ticks[0] = beliefs->between_ticks;
    learnt->hot_ticks = beliefs->hot_ticks;
    waiter->delay_called_ticks = beliefs->called_ticks;
    waiter->contradicted_run = beliefs->contradicted_run;
    waiter->lesson.of = NULL;
}

/* Of a run the shortest that has all of its code in it; of two runs the last is always as long. */
APPROACH_WAY void delay_rehearse_run(struct waiter *waiter, enum delay_way way)
{
    enum { SHORTEST_CYCLES = 72 };
    delay_learn(waiter);
    struct delay_beliefs known = beliefs_of(waiter);
    double shortest_ticks = SHORTEST_CYCLES * waiter->learnt.delay_cycle_ticks;
    uint64_t ns = way == DELAY_BY_RUN ? DELAY_CHECKED_NS : DELAY_TWO_RUNS_NS;
    double counted_ns = way == DELAY_BY_RUN ? 0 : DELAY_LAST_NS;
    double *fixed_ticks = &waiter->learnt.delays[way][0].fixed_ticks;
    *fixed_ticks = ((double)ns - counted_ns) / waiter->learnt.period_ns - shortest_ticks;
    waiter->learnt.hot_ticks = INT64_MAX;
    waiter->calibrated_way = way;
    waiter->is_calibrating = 1;
    waiter->delay(waiter_public(waiter), ns, 0, NULL);
    waiter->is_calibrating = 0;
    believe(waiter, &known);
}
