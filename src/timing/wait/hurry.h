/* SPDX-License-Identifier: MIT */
/*
 * hurry: a wait by code that has gone cold, whose target is near.
 *
 * After a pause of a millisecond or more the code of the stages is in no cache, nor are the
 * translations of its pages. To fetch them and to rehearse takes 5 to 15 us. If the target is
 * nearer than that, the preparation would make the wait late. So such a wait does only what the
 * polling loop needs, by code and data that lie together. It is as good as the loop that its caller
 * would have written, and without that loop's bias. How long the stages take is learnt from those
 * waits after a pause that had the time.
 *
 * Others' code may do in less time what a pause does. Nobody tells a waiter of that: it hurries then
 * if such waits have been late.
 */
#ifndef WAIT_HURRY_H
#define WAIT_HURRY_H

#include "waiter.h"

/* At the end of a calibration. Begins with a guess of how long the stages take. */
void hurry_init(struct waiter *waiter);

/* Was the last event long ago? */
static inline int hurry_after_pause(const struct waiter *waiter, uint64_t now)
{
    return waiter->learnt.cold_ticks > 0 &&
        (int64_t)(now - waiter->approach.event_ticks) > waiter->learnt.pause_ticks;
}

static inline int hurry_is_due(const struct waiter *waiter, uint64_t now, uint64_t target)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    int64_t left = (int64_t)(target - now);
    if (waiter_is_hot(waiter, now) || left >= learnt->cold_ticks)
        return 0;
    return hurry_after_pause(waiter, now) ||
        (!caution_allows(&waiter->cold) && left < waiter_ticks_of_ns(waiter, WAITER_COLD_NS));
}

/* The wait. If the wait before is not settled yet, it is counted, but nothing is learnt from it. */
int hurry_run(const struct wait *asked);

/*
 * The same, as soon after the call as possible, for a wait without a result. Returns
 * APPROACH_ENDS_BEHIND. Or returns 0, and nothing has happened: no hurry is due, the wait must not
 * be early, or waits cannot leave on this machine.
 */
#ifdef __x86_64__
int hurry_at_once(struct timebase_waiter *waiter, uint64_t ticks, unsigned flags, void *frame);
#else
static inline int hurry_at_once(struct timebase_waiter *waiter, uint64_t ticks, unsigned flags,
                                void *frame)
{
    (void)waiter, (void)ticks, (void)flags, (void)frame;
    return 0;
}
#endif

/* A wait after a pause came to its polls after so many ticks. */
void hurry_learn(struct waiter *waiter, int64_t begin_ticks);

#endif
