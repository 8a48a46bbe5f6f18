/* SPDX-License-Identifier: MIT */
/* What tests of near waits that are exact at their call share. */
#ifndef TEST_NEAR_WAITS_H
#define TEST_NEAR_WAITS_H

#include <string.h>

#include "timing/stages/near_exact.h"
#include "waiting.h"

/*
 * What a rehearsal of a made-up waiter takes: NOW is none of the counter's, and where that has come half
 * around (s390x) there would be time for ever.
 */
#define NO_TIME 1e30

static inline struct waiter_need need(double ticks)
{
    return (struct waiter_need){.ticks = ticks, .step_ticks = 1, .fade_ticks = 0.5, .of = 16};
}

/* It was calibrated on this CPU, and that stays the one it is asked on. */
static inline void calibrated_here(struct waiter *waiter)
{
    stay_on_this_cpu();
    waiter->cpu = evidence_cpu(&waiter->evidence);
}

/*
 * The waiter, as if the counter's steps were fine, exact waits the better ones, and those of up to so
 * long exact at their call. Null: none is here, whatever the counter; unit/near_exact.c says when.
 */
static inline struct waiter *waiter_of_near_waits(double most_ns)
{
    stay_on_this_cpu();
    struct waiter *waiter = waiter_within(the_waiter());
    if (!waiter_ends_behind(waiter) || !waiter->learnt.exact)
        return NULL;
    waiter->vernier.readings = 1;
    near_exact_init(waiter);
    waiter->learnt.near_exact_ticks = waiter_ticks_of_ns(waiter, most_ns);
    waiter->learnt.near_delay_ticks = waiter->learnt.near_exact_ticks;
    waiter->learnt.hot_ticks = INT64_MAX / 2;
    waiter->uses = 1;
    choice_forget(&waiter->choice);
    choice_learn(&waiter->choice, CHOICE_LOOP, 1e6);
    memset(waiter->choice.error_ticks[CHOICE_EXACT], 0, sizeof(waiter->choice.error_ticks[0]));
    waiter->last.is_near_exact = 0;
    return waiter;
}

#endif
