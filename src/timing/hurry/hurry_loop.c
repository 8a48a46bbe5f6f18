/* SPDX-License-Identifier: MIT */
#include "hurry_loop.h"

#include "timing/learn/within.h"
#include "timing/waiter/asked.h"

/* Limited as in rehearsals; and each shows it as wide as the loop's period: see outcome.c. */
APPROACH_WAY void hurry_learn_bias(struct waiter *waiter)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    struct waiter_learnt *learnt = &waiter->learnt;
    const struct approach *a = &waiter->approach;
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    double event = (double)(int64_t)(a->hurry_event_ticks - a->hurry_ticks) +
        learnt->hurry_rest_ticks[a->hurry_way];
    double wrong = event - learnt->plain_bias_ticks - learnt->hurry_ticks[a->hurry_way];
    learnt->plain_bias_ticks += within(-most, wrong, most) / MEAN;
}

APPROACH_WAY void hurry_foresee(const struct hurried *asked, uint64_t until)
{
    enum { TIMES = 3 };
    const struct approach_ways *ways = &asked->waiter->ways;
    for (int i = 0; i < TIMES && (int64_t)(until - waiter_read_at_once(asked->waiter)) > 0; i++) {
        if (ways->foresee == NULL)
            return;
        asked_foresee(ways, asked->function, asked->argument, asked->frame);
    }
}

APPROACH_WAY void hurry_poll_apart(struct waiter *waiter)
{
    uint64_t leave = waiter->approach.hurry_ticks, now = timebase_ticks(), longest = 0;
    waiter->telling.late = (int64_t)(now - leave) >= 0;
    while ((int64_t)(now - leave) < 0) {
        uint64_t last = now;
        now = timebase_ticks();
        longest = now - last > longest ? now - last : longest;
    }
    waiter->telling.gap_ticks = longest < UINT32_MAX ? (uint32_t)longest : UINT32_MAX;
    waiter->approach.hurry_event_ticks = now;
    if (!waiter->telling.never_early)
        waiter->approach.hurry_event_ticks = timebase_ticks_ordered();
}
