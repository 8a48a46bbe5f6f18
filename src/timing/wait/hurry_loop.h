/* SPDX-License-Identifier: MIT */
/*
 * hurry_loop: the wait in a hurry (hurry.h). A loop until the target, as its caller would have
 * written it, and what it needs to be less late than that. It begins nothing, so the wait before it
 * keeps all that it has to tell.
 *
 * All of it lies in one page and is straight: after a pause each line of its code and data comes
 * from memory, 0.2 us each, and so does each translation of a page.
 */
#ifndef WAIT_HURRY_LOOP_H
#define WAIT_HURRY_LOOP_H

#include <stddef.h>

#include "hurry.h"

/* What it was asked for: of a struct wait what there is time for. */
struct hurried {
    struct waiter *waiter;
    uint64_t ticks;
    double fraction; /* of a tick, added to ticks */
    unsigned flags;
    int is_hot; /* what follows: another wait ended just now */
    void (*function)(void *); /* null: return */
    void *argument;
    void *frame; /* not null: of approach_from() */
    struct timebase_wait_result *result;
    uint64_t entered_ticks; /* the counter at the call */
};

static inline int hurry_is_hot(const struct waiter *waiter, uint64_t now)
{
    return waiter_is_hot(waiter, now) ||
        (int64_t)(now - waiter->hurried_ticks) <= waiter->learnt.hot_ticks;
}

/* The last one's stamp shows by how much its bias was wrong. */
void hurry_learn_bias(struct waiter *waiter);

/* Counts it as a turn of all that is to be tried again. Returns until when it polls. */
static inline uint64_t hurry_begin(struct hurried *asked, enum event_way way)
{
    enum { TEACHES = 8 };
    struct waiter *waiter = asked->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    int64_t left = (int64_t)(asked->ticks - asked->entered_ticks);
    asked->is_hot = hurry_is_hot(waiter, asked->entered_ticks);
    if (asked->is_hot && waiter->uses % TEACHES == 0 && left > learnt->no_rehearsal_ticks / 2)
        hurry_learn_bias(waiter);
    hurry_pass(waiter, asked->entered_ticks, left);
    waiter->hurried_ticks = asked->ticks;
    waiter->waits++;
    waiter->uses++;
    double bias = learnt->plain_bias_ticks + learnt->hurry_ticks[way] - asked->fraction;
    int never_early = (asked->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    a->hurry_way = way;
    a->hurry_ticks = asked->ticks - (uint64_t)(never_early ? 0 : (int64_t)bias);
    return a->hurry_ticks;
}

/*
 * What comes behind the loop is far, if no wait was just now. The core goes no further than to the
 * first line that must come from far away, and waits for it, a microsecond and more if memory is
 * busy. So it is sent several times, while there is plenty of time.
 */
void hurry_foresee(const struct hurried *asked, uint64_t until);

/* Returns whether what comes behind is near now. */
static inline int hurry_look_ahead(const struct hurried *asked, uint64_t leave)
{
    enum { OF_HOT = 4 }; /* 5 us */
    uint64_t until = leave - (uint64_t)(asked->waiter->learnt.hot_ticks / OF_HOT);
    if (asked->is_hot)
        return 1;
    if ((int64_t)(until - asked->entered_ticks) <= 0)
        return 0;
    hurry_foresee(asked, until);
    return 1;
}

/* The loop of one that returns where that cannot end behind all that it called. */
int hurry_end_within(struct waiter *waiter, uint64_t leave);

/*
 * By the way of its event: each begins the wait, and ends it. Returns as a wait does; or
 * APPROACH_ENDS_BEHIND: return this at once, to approach_from(). The first is in line, so that it
 * lies straight behind what calls it.
 */
static inline int hurry_return(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    uint64_t leave = hurry_begin(asked, EVENT_RETURNS);
    int looks = hurry_look_ahead(asked, leave);
#ifdef __x86_64__
    if (asked->frame != NULL && waiter->learnt.near_ticks != 0) {
        struct approach *a = &waiter->approach;
        a->frame = asked->frame;
        approach_end_behind(a, looks ? approach_hurry_and_look : approach_hurry);
        return APPROACH_ENDS_BEHIND;
    }
#endif
    (void)looks;
    return hurry_end_within(waiter, leave);
}

int hurry_tell(struct hurried *asked);
int hurry_call(struct hurried *asked);

/* The one of the three that it is. */
int hurry_run(const struct wait *wait);

#endif
