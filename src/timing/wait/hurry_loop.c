/* SPDX-License-Identifier: MIT */
#include "hurry_loop.h"

#include "timing/learn/within.h"

/* ---- the loop ----------------------------------------------------------------------------- */

struct polled {
    uint64_t stamp_ticks;
    int64_t gap_ticks; /* the longest between two polls */
    int late;
};

APPROACH_WAY static inline uint64_t poll_until(const struct waiter *waiter, uint64_t ticks,
                                               uint64_t now, int64_t *gap_ticks)
{
    while ((int64_t)(now - ticks) < 0) {
        uint64_t last = now;
        now = waiter_read_at_once(waiter);
        int64_t gap = (int64_t)(now - last);
        *gap_ticks = gap > *gap_ticks ? gap : *gap_ticks;
    }
    return now;
}

typedef void look(const void *what);

/*
 * Near its end, as that is chosen in poll.c, what follows is brought near once more, as a neighbour
 * may have driven it out meanwhile. Null: not if it may be far away, as then there is no time for it.
 */
APPROACH_WAY static inline struct polled poll_to_stamp(struct waiter *waiter, uint64_t leave,
                                                       look *look_again, const void *what)
{
    enum { NEAR_TICKS = 1000, VARIED = 1023, STEP_BITS = 3 };
    uint64_t now = waiter_read_at_once(waiter);
    uint64_t near = leave - NEAR_TICKS - (now >> STEP_BITS & VARIED);
    struct polled polled = {.late = (int64_t)(now - leave) >= 0};
    if (look_again != NULL && (int64_t)(now - near) < 0) {
        poll_until(waiter, near, now, &polled.gap_ticks);
        look_again(what);
        now = waiter_read_at_once(waiter);
    }
    poll_until(waiter, leave, now, &polled.gap_ticks);
    polled.stamp_ticks = waiter->approach.hurry_event_ticks = waiter_stamp_at_once(waiter);
    return polled;
}

APPROACH_WAY static inline uint32_t gap_of(const struct waiter *waiter, const struct polled *polled)
{
    enum { GAP_NS = 1000 }; /* polls by cold code are 0.3 us apart */
    int is_gap = polled->gap_ticks > waiter_ticks_of_ns(waiter, GAP_NS);
    return is_gap ? (uint32_t)TIMEBASE_DISTURBED_GAP : 0;
}

/* ---- what it tells ------------------------------------------------------------------------ */

/* All but the event. */
APPROACH_WAY static inline void expect(const struct hurried *asked)
{
    const struct waiter *waiter = asked->waiter;
    *asked->result = (struct timebase_wait_result){
        .target_ticks = asked->ticks,
        .error_bound_ns = (waiter->vernier.span_ticks + 1) / 2 * waiter->learnt.period_ns,
    };
}

/* It was the better way, too, while polls contradict each other. */
APPROACH_WAY static inline uint32_t shared(const struct hurried *asked)
{
    int is_asked_for = (asked->flags & TIMEBASE_WAIT_PLAIN) != 0;
    int is_shared = !is_asked_for && !caution_allows(&asked->waiter->uneven);
    return is_shared ? (uint32_t)TIMEBASE_DISTURBED_SHARED : 0;
}

APPROACH_WAY static inline uint32_t judge(const struct hurried *asked, const struct polled *polled,
                                          const struct evidence_marks *marks)
{
    const struct waiter *waiter = asked->waiter;
    return shared(asked) |
        evidence_judge_marks(&waiter->evidence, marks, gap_of(waiter, polled) != 0);
}

APPROACH_WAY static inline void count(struct waiter *waiter, int late, uint32_t found)
{
    waiter->late += (uint64_t)late;
    waiter->disturbed += found != 0;
    waiter->evidence.noticed |= found;
}

struct telling {
    const struct hurried *asked;
    struct polled polled;
    struct evidence_marks marks;
    enum event_way way;
};

APPROACH_WAY static void tell(const struct telling *told)
{
    const struct hurried *asked = told->asked;
    const struct polled *polled = &told->polled;
    struct timebase_wait_result *result = asked->result;
    const struct waiter *waiter = asked->waiter;
    double event = waiter_middle(waiter, polled->stamp_ticks, asked->ticks) - asked->fraction +
        waiter->learnt.hurry_stamp_ticks[told->way];
    result->event_ticks = polled->stamp_ticks;
    result->error_ticks = (int64_t)(event + __builtin_copysign(0.5, event));
    result->error_ns = event * waiter->learnt.period_ns;
    result->late = polled->late;
    result->mechanism = polled->late ? TIMEBASE_MECHANISM_NONE : TIMEBASE_MECHANISM_LOOP;
    result->disturbance = judge(asked, polled, &told->marks);
    count(asked->waiter, polled->late, result->disturbance);
}

/* ---- before the loop ---------------------------------------------------------------------- */

/* Limited as in rehearsals; and each shows it as wide as the loop's period: see outcome.c. */
APPROACH_WAY void hurry_learn_bias(struct waiter *waiter)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    struct waiter_learnt *learnt = &waiter->learnt;
    const struct approach *a = &waiter->approach;
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    double event = waiter_middle(waiter, a->hurry_event_ticks, a->hurry_ticks) +
        learnt->hurry_stamp_ticks[a->hurry_way];
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
        if (asked->function != NULL)
            ways->foresee((const void *)(uintptr_t)asked->function, asked->argument);
        else if (asked->frame != NULL)
            ways->foresee_return(asked->frame);
    }
}

/* ---- by the way of its event -------------------------------------------------------------- */

APPROACH_WAY int hurry_end_within(struct waiter *waiter, uint64_t leave)
{
    struct polled polled = poll_to_stamp(waiter, leave, NULL, NULL);
    count(waiter, polled.late, gap_of(waiter, &polled));
    return polled.late;
}

/* All that comes behind the loop, once in vain, so that its code and data are at hand. */
APPROACH_WAY static void rehearse(struct telling *told, uint64_t leave)
{
    struct waiter *waiter = told->asked->waiter;
    uint64_t disturbed = waiter->disturbed;
    uint32_t noticed = waiter->evidence.noticed;
    told->polled = (struct polled){.stamp_ticks = leave};
    evidence_set_marks(&waiter->evidence, &told->marks);
    evidence_look(&told->marks);
    tell(told);
    waiter->disturbed = disturbed;
    waiter->evidence.noticed = noticed;
}

APPROACH_WAY static void look_at_telling(const void *what)
{
    const struct telling *told = (const struct telling *)what;
    const struct approach_ways *ways = &told->asked->waiter->ways;
    if (ways->foresee == NULL)
        return;
    ways->foresee((const void *)(uintptr_t)tell, (void *)(uintptr_t)told);
    if (told->asked->frame != NULL)
        ways->foresee_return(told->asked->frame);
}

APPROACH_WAY int hurry_tell(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    struct telling told = {.asked = asked, .way = EVENT_TELLS};
    uint64_t leave = hurry_begin(asked, EVENT_TELLS);
    expect(asked);
    if (!asked->is_hot)
        rehearse(&told, leave);
    hurry_look_ahead(asked, leave);
    evidence_set_marks(&waiter->evidence, &told.marks);
    told.polled = poll_to_stamp(waiter, leave, asked->is_hot ? look_at_telling : NULL, &told);
    evidence_look(&told.marks);
    tell(&told);
    return told.polled.late;
}

APPROACH_WAY static void look_at_function(const void *what)
{
    const struct hurried *asked = (const struct hurried *)what;
    const struct approach *a = &asked->waiter->approach;
    if (a->foresee != NULL)
        a->foresee((const void *)(uintptr_t)asked->function, asked->argument);
}

/*
 * What is counted and told comes behind the event; evidence before it is looked at for a result alone.
 * The function may not use the waiter: see wait.h.
 */
APPROACH_WAY int hurry_call(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    struct telling told = {.asked = asked, .way = EVENT_CALLED};
    uint64_t leave = hurry_begin(asked, EVENT_CALLED), uses = waiter->uses;
    int looks = hurry_look_ahead(asked, leave);
    if (asked->result != NULL)
        evidence_set_marks(&waiter->evidence, &told.marks);
    told.polled = poll_to_stamp(waiter, leave, looks ? look_at_function : NULL, asked);
    if (__builtin_expect(asked->result != NULL, 0))
        evidence_look(&told.marks);
    asked->function(asked->argument);
    if (waiter->uses != uses)
        return TIMEBASE_E_INVALID;
    if (asked->result == NULL) {
        count(waiter, told.polled.late, gap_of(waiter, &told.polled));
        return told.polled.late;
    }
    expect(asked);
    tell(&told);
    return told.polled.late;
}

APPROACH_WAY int hurry_run(const struct wait *wait)
{
    struct hurried asked = {.waiter = wait->waiter,
                            .ticks = wait->ticks,
                            .fraction = wait->fraction,
                            .flags = wait->flags,
                            .function = wait->function,
                            .argument = wait->argument,
                            .frame = wait->frame,
                            .result = wait->result,
                            .entered_ticks = wait->entered_ticks};
    enum event_way way = wait_event_way(wait);
    return way == EVENT_CALLED ? hurry_call(&asked)
        : way == EVENT_TELLS   ? hurry_tell(&asked)
                               : hurry_return(&asked);
}
