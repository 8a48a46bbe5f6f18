/* SPDX-License-Identifier: MIT */
/* Short delays by runs that only count instructions: what is believed of them is made up. */
#ifndef TESTS_OUR_RUNS_H
#define TESTS_OUR_RUNS_H

#include <stddef.h>

#include "timing/delay/delay_lines.h"
#include "waiting.h"

#define DELAYS 200

static const double cycle_ticks = 0.5, step_ticks = 26;
static const double fixed_ticks[] = {109, 150, 200, 260, 50}; /* of each way */

static struct {
    uint64_t instructions;
    int calls;
} run;

static void count_instructions(uint64_t instructions)
{
    run.instructions += instructions;
    run.calls++;
}

static inline void believe(struct waiter *waiter, enum delay_way way, double after_ticks)
{
    for (int measured = 0; measured < 2; measured++)
        waiter->learnt.delays[way][measured] =
            (struct waiter_delay){.fixed_ticks = fixed_ticks[way] + 10 * measured,
                                  .after_ticks = after_ticks};
}

enum belief { RIGHT, WRONG_AT_THE_END, WRONG_ON_THE_WAY };

/* Whatever a run takes, its reading says what was believed; or contradicts it. Those before have
 * nothing to teach any more. */
static inline void believe_runs(struct waiter *waiter, enum belief belief)
{
    waiter->lesson.of = NULL;
    waiter->far_ends = waiter->far_firsts = (struct far_runs){0};
    waiter->vernier.step_ticks = belief == RIGHT ? 1e15 : belief == WRONG_AT_THE_END ? 1e9 : 26;
    waiter->learnt.delay_cycle_ticks = cycle_ticks;
    believe(waiter, DELAY_BY_RUN, belief == WRONG_ON_THE_WAY ? 1e12 : 0);
    believe(waiter, DELAY_BY_TWO_RUNS, belief == RIGHT ? 0 : 1e12);
    believe(waiter, DELAY_AFTER_PAUSE, 0);
    for (int measured = 0; measured < 2; measured++)
        waiter->learnt.between[measured] =
            (struct waiter_delay){.fixed_ticks = belief == WRONG_ON_THE_WAY ? -1e12 : 0};
}

/* However long the test is held up between two delays, the second is soon after the first; or its
 * code is far away. */
static inline void keep_hot(struct waiter *waiter, int is_hot)
{
    waiter->learnt.hot_ticks = is_hot ? INT64_MAX : INT64_MIN;
    waiter->delay_fetched = is_hot ? DELAY_RAN : 0;
    waiter->learnt.touch_ticks = INT64_MIN;
}

/* ... or not, after a pause. */
static inline void keep_near(struct waiter *waiter)
{
    keep_hot(waiter, 0);
    waiter->learnt.touch_ticks = INT64_MAX;
}

static inline struct timebase_waiter *waiter_with_our_runs(void)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->ways.run = count_instructions;
    waiter->ways.exact = approach_poll; /* no real one goes by what is made up here */
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = 0.4; /* not this machine's: every machine is to try the same */
    believe(waiter, DELAY_BY_LOOP, 0);
    waiter->learnt.at_once_ticks = fixed_ticks[DELAY_BY_LOOP];
    waiter->learnt.at_once_rest_ticks = fixed_ticks[DELAY_BY_LOOP];
    waiter->learnt.last_ticks = 0; /* with that rest no stamp says anything */
    waiter->learnt.delay_fixed_ticks = fixed_ticks[DELAY_UNCHECKED];
    waiter->learnt.checked_ns = 150;
    waiter->learnt.touch_least_ns =
        (uint64_t)(fixed_ticks[DELAY_AFTER_PAUSE] * waiter->learnt.period_ns) + DELAY_LEAST_RUN_NS;
    waiter->learnt.delay_call_ticks = 0;
    waiter->learnt.near_delay_ticks = 0; /* no delay is an exact wait: unit/delay_near.c */
    waiter->learnt.at_once_stamp_ticks = 0;
    waiter->counted = (struct waiter_counted){0}; /* nor is one only counted: unit/delay_counted.c */
    waiter->contradicted_run = waiter->far_code = (struct caution){0};
    waiter->tempo.cycle_ticks = cycle_ticks;
    waiter->delay_fetched = DELAY_RAN;
    keep_hot(waiter, 1);
    believe_runs(waiter, RIGHT);
    run.calls = 0;
    return &ours;
}

static inline double ticks_asked(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns / waiter->learnt.period_ns;
}

static inline int is_by_run(struct timebase_waiter *ours, uint64_t ns, unsigned flags)
{
    int before = run.calls;
    run.instructions = 0;
    assert_in_range(timebase_delay_ns(ours, ns, flags, NULL), 0, 1);
    return run.calls > before;
}

#endif
