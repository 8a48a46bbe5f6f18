/* SPDX-License-Identifier: MIT */
/*
 * hurry_loop: the wait in a hurry (hurry.h). A loop until the target, as its caller would have
 * written it, and what it needs to be less late than that. It begins nothing, so the wait before it
 * keeps all that it has to tell.
 *
 * All of it lies in few pages and is straight: after a pause each line of its code and data comes
 * from memory, 0.2 us each, and so does each translation of a page; and what the core knew of its
 * branches is gone. So it uses no constant that the compiler would put on yet another page.
 */
#ifndef HURRY_HURRY_LOOP_H
#define HURRY_HURRY_LOOP_H

#include <stddef.h>

#include "timing/approach/edge.h"
#include "timing/waiter/aim_edge.h"

#include "hurry.h"

/* What it was asked for: of a struct wait what there is time for. */
struct hurried {
    struct waiter *waiter;
    uint64_t ticks;
    double fraction; /* of a tick, added to ticks */
    unsigned flags;
    int is_afresh; /* exact at its call: near_afresh.h */
    int is_loaded; /* ... and its code is there: near_loads.h */
    int is_hot; /* what follows: another wait ended just now */
    void (*function)(void *); /* null: return */
    void *argument;
    void *frame; /* not null: of approach_from() */
    struct timebase_wait_result *result;
    uint64_t entered_ticks; /* the counter at the call */
};

static inline struct hurried hurried_of(const struct wait *wait)
{
    return (struct hurried){.waiter = wait->waiter,
                            .ticks = wait->ticks,
                            .fraction = wait->fraction,
                            .flags = wait->flags,
                            .function = wait->function,
                            .argument = wait->argument,
                            .frame = wait->frame,
                            .result = wait->result,
                            .entered_ticks = wait->entered_ticks};
}

/* Is it asked for nothing that only the stages do? */
static inline int hurried_is_simple(const struct hurried *asked)
{
    unsigned others = asked->flags & ~(unsigned)TIMEBASE_WAIT_STEADY;
    return others == 0 && !asked->waiter->is_calibrating;
}

/* ---- before the loop ---------------------------------------------------------------------- */

static inline int hurry_is_hot(const struct waiter *waiter, uint64_t now)
{
    return waiter_is_hot(waiter, now) ||
        (int64_t)(now - waiter->hurried_ticks) <= waiter->learnt.hot_ticks;
}

/* The last one's stamp shows by how much its bias was wrong. */
void hurry_learn_bias(struct waiter *waiter);

/*
 * Counts it as a turn of all that is to be tried again. Returns until when it polls. In line, or it
 * lies on yet another page.
 */
static inline __attribute__((always_inline)) uint64_t hurry_begin(struct hurried *asked, enum event_way way)
{
    enum { TEACHES = 8 };
    struct waiter *waiter = asked->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    int64_t left = (int64_t)(asked->ticks - asked->entered_ticks);
    asked->is_hot = hurry_is_hot(waiter, asked->entered_ticks);
    int teaches = waiter->uses % TEACHES == 0 && left > learnt->no_rehearsal_ticks / 4 &&
        !waiter->telling.never_early; /* the last one */
    if (__builtin_expect(asked->is_hot && teaches, 0))
        hurry_learn_bias(waiter);
    hurry_pass(waiter, asked->entered_ticks, left);
    waiter->hurried_ticks = asked->ticks;
    waiter->waits++;
    waiter->uses++;
    double bias = learnt->plain_bias_ticks + learnt->hurry_ticks[way] - asked->fraction;
    int never_early = (asked->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    waiter->telling.never_early = never_early;
    a->hurry_way = way;
    a->hurry_ticks = asked->ticks - (uint64_t)(never_early ? 0 : (int64_t)bias);
    waiter_aim_edge(waiter, a->hurry_ticks);
    return a->hurry_ticks;
}

/*
 * Is the end to be executed in vain, as if it were late, so that its code and data are at hand? What
 * is nearer would be late by it: the end's code takes half as long if it is not rehearsed.
 */
static inline int hurry_may_rehearse(const struct hurried *asked, uint64_t leave)
{
    int64_t left = (int64_t)(leave - asked->entered_ticks);
    return !asked->is_hot && left > asked->waiter->learnt.no_rehearsal_ticks / 2;
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
    if (__builtin_expect(asked->is_hot, 0))
        return 1;
    if ((int64_t)(until - asked->entered_ticks) <= 0)
        return 0;
    hurry_foresee(asked, until);
    return 1;
}

/* ---- the loop ----------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) uint64_t hurry_poll_until(struct waiter *waiter,
                                                                       uint64_t ticks, uint64_t now)
{
    uint64_t longest = waiter->telling.gap_ticks;
    while ((int64_t)(now - ticks) < 0) {
        uint64_t last = now;
        now = timebase_arch_ticks();
        longest = now - last > longest ? now - last : longest;
    }
    waiter->telling.gap_ticks = longest < UINT32_MAX ? (uint32_t)longest : UINT32_MAX;
    return now;
}

/* Where it must be asked first whether the counter is readable. Nothing is foreseen there. */
void hurry_poll_apart(struct waiter *waiter);

typedef void hurry_look(const void *what);

/*
 * Until hurry_ticks; and the stamp. Near its end, as that is chosen in poll.c, what follows is
 * brought near once more, as a neighbour may have driven it out meanwhile. Null: not if it may be
 * far away, as then there is no time for it. What must not be early has its last poll for a stamp.
 */
static inline __attribute__((always_inline)) void hurry_poll(struct waiter *waiter,
                                                             hurry_look *look, const void *what)
{
    enum { NEAR_TICKS = 1000, VARIED = 1023, STEP_BITS = 3 };
    if (__builtin_expect(!waiter_may_read(waiter), 0)) {
        hurry_poll_apart(waiter);
        return;
    }
    uint64_t leave = waiter->approach.hurry_ticks, now = timebase_arch_ticks();
    uint64_t near = leave - NEAR_TICKS - (now >> STEP_BITS & VARIED);
    waiter->telling.late = (int64_t)(now - leave) >= 0;
    waiter->telling.gap_ticks = 0;
    if (look != NULL && (int64_t)(now - near) < 0) {
        hurry_poll_until(waiter, near, now);
        look(what);
        now = timebase_arch_ticks();
    }
    if (__builtin_expect(waiter->telling.never_early, 0)) {
        waiter->approach.hurry_event_ticks = hurry_poll_until(waiter, leave, now);
        return;
    }
    hurry_poll_until(waiter, leave - (uint64_t)waiter->approach.edge_sooner_ticks, now);
    edge_pass(waiter->approach.edge_links);
    waiter->approach.hurry_event_ticks = timebase_arch_ticks_ordered();
}

static inline int hurry_has_gap(const struct waiter *waiter)
{
    return waiter->telling.gap_ticks > waiter->learnt.hurry_gap_ticks;
}

/* By its polls alone. Returns whether it was late. */
static inline int hurry_count(struct waiter *waiter)
{
    if (__builtin_expect(hurry_has_gap(waiter), 0)) {
        waiter->disturbed++;
        waiter->evidence.noticed |= TIMEBASE_DISTURBED_GAP;
    }
    waiter->late += (uint64_t)waiter->telling.late;
    return waiter->telling.late;
}

#endif
