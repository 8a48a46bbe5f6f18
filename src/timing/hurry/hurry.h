/* SPDX-License-Identifier: MIT */
/*
 * hurry: when there is no time for the stages of a wait, and it is a loop and nothing else
 * (hurry_loop.h).
 *
 * After a pause of a millisecond or more the code of the stages is in no cache, nor are the
 * translations of its pages. To fetch them and to rehearse takes 5 to 15 us. If the target is
 * nearer than that, the preparation would make the wait late. How long the stages take is learnt
 * from those waits after a pause that had the time. Where the counter steps, four milliseconds are a
 * pause: a series each so often, among other waits, finds its code in the second level, and as the first
 * of each it would be by the loop. What was late by cold code speaks against it there (outcome.c).
 *
 * Others' code may do in less time what a pause does. Nobody tells a waiter of that: it hurries
 * then if such waits have been late, or if the target is nearer than they usually need.
 *
 * And beside a busy neighbour the stages take 0.2 us or more where nothing is cold. A wait that is
 * nearer than they took lately, or that will be by the loop anyway, does without them.
 */
#ifndef HURRY_HURRY_H
#define HURRY_HURRY_H

#include "timing/waiter/waiter.h"

/* At the end of a calibration. Begins with a guess of how long the stages take. */
void hurry_init(struct waiter *waiter);

/* Was the last event long ago? */
static inline int hurry_after_pause(const struct waiter *waiter, uint64_t now)
{
    int64_t pause = waiter->learnt.pause_ticks;
    return (int64_t)(now - waiter->approach.event_ticks) > pause &&
        (int64_t)(now - waiter->hurried_ticks) > pause;
}

/* By code that has gone cold. */
static inline int hurry_by_cold_code(const struct waiter *waiter, uint64_t now, int64_t left)
{
    return hurry_after_pause(waiter, now) ||
        (!caution_allows(&waiter->far_stages) && left < waiter->learnt.cold_near_ticks);
}

/* Will the wait be by the loop, whatever the stages find? */
static inline int hurry_by_loop(const struct waiter *waiter, unsigned flags)
{
    return (flags & WAITER_LOOP_FLAGS) || !caution_allows(&waiter->uneven);
}

/* For the steadier tail as if what is optional were needed, too: then there is some to spare. */
static inline double hurry_needed(const struct waiter *waiter, uint64_t now, unsigned flags)
{
    double needed = waiter->learnt.near_needs[!waiter_is_hot(waiter, now)].ticks;
    double most = waiter->learnt.learning_need.ticks;
    return flags & TIMEBASE_WAIT_STEADY && needed < most ? most : needed;
}

/*
 * A target so near that nothing is rehearsed: the stages would make it late, or find what is known.
 * One in 64 that is by the loop takes them if there is the time, and teaches; but for one that must
 * not be early, as its stamp says nothing of others.
 */
static inline int hurry_is_near(const struct waiter *waiter, uint64_t now, int64_t left,
                                unsigned flags)
{
    enum { TEACHES = 64 };
    if (left >= waiter->learnt.no_rehearsal_ticks || flags & TIMEBASE_WAIT_REHEARSE)
        return 0;
    int teaches = waiter->uses % TEACHES == 0 && !(flags & TIMEBASE_WAIT_NEVER_EARLY);
    return (double)left < hurry_needed(waiter, now, flags) || (hurry_by_loop(waiter, flags) && !teaches);
}

static inline int hurry_is_due(const struct waiter *waiter, uint64_t now, uint64_t target,
                               unsigned flags)
{
    int64_t left = (int64_t)(target - now), most = waiter->learnt.cold_ticks;
    if (left >= most || most == 0)
        return 0;
    return hurry_is_near(waiter, now, left, flags) ||
        (!waiter_is_hot(waiter, now) && hurry_by_cold_code(waiter, now, left));
}

/* For one that hurries: so that the stages, and exact waits by cold code, are tried again. */
static inline void hurry_pass(struct waiter *waiter, uint64_t now, int64_t left)
{
    int is_cold = !waiter_is_hot(waiter, now);
    struct waiter_need *need = &waiter->learnt.near_needs[is_cold];
    if (left > 0 && (double)left < need->ticks)
        need->ticks -= need->fade_ticks;
    caution_pass(&waiter->uneven);
    if (is_cold) {
        caution_pass(&waiter->far_stages);
        caution_pass(&waiter->cold);
    }
}

/* A wait after a pause came to its polls after so many ticks. */
void hurry_learn(struct waiter *waiter, int64_t begin_ticks);

/* Begins with a guess; followed in such steps to what is enough for all but one of so many. */
void hurry_set_need(const struct waiter *waiter, struct waiter_need *need, double first_ns,
                    double step_ns, int of);

/* What has too little time lets the need fade, so that it is tried again. */
static inline int hurry_is_enough(struct waiter_need *need, double ticks)
{
    if (ticks >= need->ticks)
        return 1;
    need->ticks -= need->fade_ticks;
    return 0;
}

/*
 * A near wait would have been exact if it had been asked for so many ticks before its target. That is
 * enough for all but one of so many. In line, as else it lies on a page that is used for nothing else.
 */
static inline void hurry_learn_near(struct waiter_need *need, double needed_ticks)
{
    int is_longer = needed_ticks > need->ticks;
    need->ticks += is_longer ? (need->of - 1) * need->step_ticks : -need->step_ticks;
}

#endif
