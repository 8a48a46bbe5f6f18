/* SPDX-License-Identifier: MIT */
/*
 * hurry: a wait for whose stages there is no time.
 *
 * After a pause of a millisecond or more the code of the stages is in no cache, nor are the
 * translations of its pages. To fetch them and to rehearse takes 5 to 15 us. If the target is
 * nearer than that, the preparation would make the wait late. So such a wait does only what the
 * polling loop needs, by code and data that lie together. It is as good as the loop that its caller
 * would have written, and without that loop's bias. How long the stages take is learnt from those
 * waits after a pause that had the time.
 *
 * Others' code may do in less time what a pause does. Nobody tells a waiter of that: it hurries
 * then if such waits have been late.
 *
 * Where even that takes longer than the target is ahead, a wait that only returns is a loop in the
 * function at its call, which is as late as the caller's own would be. How long the way to the polls
 * takes is learnt from those that go it.
 *
 * And beside a busy neighbour the stages take 0.2 us or more where nothing is cold. A wait that is
 * nearer than they took lately, or that will be by the loop anyway, does without them.
 */
#ifndef WAIT_HURRY_H
#define WAIT_HURRY_H

#include "waiter.h"

/* At the end of a calibration. Begins with a guess of how long the stages take. */
void hurry_init(struct waiter *waiter);

/* Was the last event long ago? */
static inline int hurry_after_pause(const struct waiter *waiter, uint64_t now)
{
    int64_t pause = waiter->learnt.pause_ticks;
    return (int64_t)(now - waiter->approach.event_ticks) > pause &&
        (int64_t)(now - waiter->polled_ticks) > pause;
}

/* By code that has gone cold. */
static inline int hurry_by_cold_code(const struct waiter *waiter, uint64_t now, int64_t left)
{
    return hurry_after_pause(waiter, now) ||
        (!caution_allows(&waiter->far_stages) && left < waiter_ticks_of_ns(waiter, WAITER_COLD_NS));
}

/* Will the wait be by the loop, whatever the stages find? */
static inline int hurry_by_loop(const struct waiter *waiter, unsigned flags)
{
    return (flags & TIMEBASE_WAIT_PLAIN) || !caution_allows(&waiter->uneven);
}

/*
 * A target so near that nothing is rehearsed: the stages would make it late, or find what is known.
 * One in 64 that is by the loop takes them if there is the time, and teaches.
 */
static inline int hurry_is_near(const struct waiter *waiter, int64_t left, unsigned flags)
{
    enum { TEACHES = 64 };
    if (left >= waiter->learnt.no_rehearsal_ticks || flags & TIMEBASE_WAIT_REHEARSE)
        return 0;
    int teaches = waiter->uses % TEACHES == 0;
    return (double)left < waiter->learnt.near_needs_ticks ||
        (hurry_by_loop(waiter, flags) && !teaches);
}

static inline int hurry_is_due(const struct waiter *waiter, uint64_t now, uint64_t target,
                               unsigned flags)
{
    int64_t left = (int64_t)(target - now), most = waiter->learnt.cold_ticks;
    if (left >= most || most == 0)
        return 0;
    return hurry_is_near(waiter, left, flags) ||
        (!waiter_is_hot(waiter, now) && hurry_by_cold_code(waiter, now, left));
}

/* The wait. If the wait before is not settled yet, it is counted, but nothing is learnt from it. */
int hurry_run(const struct wait *asked);

/*
 * The same, as soon after the call as possible, for a wait of which all is set but its waiter and when it
 * was entered. Or returns HURRY_NOT_DUE, and nothing has happened: no hurry is due, the wait must not
 * be early, or waits end within on this machine.
 */
enum { HURRY_NOT_DUE = -1000 };
#ifdef __x86_64__
int hurry_at_once(struct timebase_waiter *waiter, struct wait *asked);

/*
 * At the call: asks memory for the function above and for what it looks at, all lines at once. After a
 * pause each takes 0.2 us; else this takes 3 ns.
 */
static inline void hurry_fetch(struct timebase_waiter *waiter)
{
    enum { CODE_LINES = 5, DATA_LINES = 10 };
    approach_fetch_lines((const char *)(uintptr_t)hurry_at_once, CODE_LINES);
    if (waiter == NULL)
        return;
    const char *data = (const char *)waiter_within(waiter);
    for (int line = 0; line < DATA_LINES; line++)
        approach_fetch(data + line * APPROACH_LINE);
}
#else
static inline void hurry_fetch(struct timebase_waiter *waiter)
{
    (void)waiter;
}

static inline int hurry_at_once(struct timebase_waiter *waiter, struct wait *asked)
{
    (void)waiter, (void)asked;
    return HURRY_NOT_DUE;
}
#endif

/* A wait after a pause came to its polls after so many ticks. */
void hurry_learn(struct waiter *waiter, int64_t begin_ticks);

/* A near wait would have been exact if it had been asked for so many ticks before its target. */
void hurry_learn_near(struct waiter *waiter, double needed_ticks);

#endif
