/* SPDX-License-Identifier: MIT */
#include "hurry_tell.h"

/* ---- before the loop ---------------------------------------------------------------------- */

/* The loop was the better way, too, while polls contradict each other. */
APPROACH_WAY static inline uint32_t shared(const struct hurried *asked)
{
    int is_asked_for = (asked->flags & WAITER_LOOP_FLAGS) != 0;
    int is_shared = !is_asked_for && !caution_allows(&asked->waiter->uneven);
    return is_shared ? (uint32_t)TIMEBASE_DISTURBED_SHARED : 0;
}

APPROACH_WAY static inline void count(struct waiter *waiter, uint32_t found)
{
    waiter->disturbed += found != 0;
    waiter->evidence.noticed |= found;
}

/* All but the event. */
APPROACH_WAY static inline void expect(const struct hurried *asked, enum event_way way)
{
    struct waiter *waiter = asked->waiter;
    struct hurry_telling *telling = &waiter->telling;
    const struct waiter_learnt *learnt = &waiter->learnt;
    uint32_t disturbance = shared(asked);
    telling->result = asked->result;
    double rest = learnt->hurry_rest_ticks[way] - asked->fraction;
    int is_whole = asked->fraction == 0 && !telling->never_early;
    if (telling->never_early) /* its stamp is a poll, and no reading behind that */
        rest += learnt->never_early_more_ticks;
    telling->rest_ns = rest * learnt->period_ns;
    telling->rest_ticks = is_whole ? learnt->hurry_whole_ticks[way] : waiter_rounded(rest);
    *asked->result = (struct timebase_wait_result){
        .target_ticks = asked->ticks,
        .error_bound_ns = learnt->half_span_ns,
        .mechanism = TIMEBASE_MECHANISM_LOOP,
        .disturbance = disturbance,
    };
    count(waiter, disturbance);
}

static int look_and_tell(struct approach *approach);
static int end_and_tell(struct approach *approach);

APPROACH_WAY static inline void rehearse(struct waiter *waiter, uint64_t leave)
{
    waiter->telling.expected_late = 1;
    waiter->approach.hurry_ticks = waiter_long_before(leave);
    evidence_set_marks(&waiter->evidence, &waiter->telling.marks);
    end_and_tell(&waiter->approach);
    waiter->approach.hurry_ticks = leave;
    waiter->telling.expected_late = 0;
}

APPROACH_WAY int hurry_tell(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    struct approach *a = &waiter->approach;
    uint64_t leave = hurry_begin(asked, EVENT_TELLS);
    expect(asked, EVENT_TELLS);
    if (hurry_may_rehearse(asked, leave))
        rehearse(waiter, leave);
    hurry_look_ahead(asked, leave);
    evidence_set_marks(&waiter->evidence, &waiter->telling.marks);
    if (asked->frame == NULL)
        return end_and_tell(a);
    a->frame = asked->frame;
    approach_end_behind(a, asked->is_hot ? look_and_tell : end_and_tell);
    return APPROACH_ENDS_BEHIND;
}

/* ---- behind it ---------------------------------------------------------------------------- */

static int tell(struct waiter *waiter);

APPROACH_WAY static int end_and_tell(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    hurry_poll(waiter, NULL, NULL);
    evidence_look(&waiter->telling.marks);
    return tell(waiter);
}

/* Something has disturbed it. If it is told in vain, that was before its loop, and is not told. */
APPROACH_WAY static __attribute__((noinline)) int tell_more(struct waiter *waiter)
{
    const struct hurry_telling *telling = &waiter->telling;
    struct timebase_wait_result *result = telling->result;
    if (telling->expected_late)
        return 1;
    result->late = telling->late;
    result->mechanism = telling->late ? TIMEBASE_MECHANISM_NONE : TIMEBASE_MECHANISM_LOOP;
    uint32_t found =
        evidence_judge_marks(&waiter->evidence, &telling->marks, hurry_has_gap(waiter));
    if (result->disturbance == 0)
        count(waiter, found);
    result->disturbance |= found;
    waiter->late += (uint64_t)telling->late;
    return telling->late;
}

/* Straight, with one branch, as all of it comes between the stamp and the event. */
APPROACH_WAY static __attribute__((noinline)) int tell(struct waiter *waiter)
{
    const struct hurry_telling *telling = &waiter->telling;
    struct timebase_wait_result *result = telling->result;
    uint64_t stamp = waiter->approach.hurry_event_ticks;
    int64_t read = (int64_t)(stamp - result->target_ticks);
    result->event_ticks = stamp;
    result->error_ticks = read + telling->rest_ticks;
    result->error_ns = (double)read * waiter->learnt.period_ns + telling->rest_ns;
    int as_expected = evidence_has_clean_marks(&waiter->evidence, &telling->marks) &
        (telling->late == telling->expected_late) & !hurry_has_gap(waiter);
    return __builtin_expect(as_expected, 1) ? 0 : tell_more(waiter);
}

APPROACH_WAY static void look_at_telling(const void *what)
{
    const struct waiter *waiter = (const struct waiter *)what;
    if (waiter->ways.foresee != NULL)
        waiter->ways.foresee((const void *)(uintptr_t)tell, (void *)(uintptr_t)waiter);
}

APPROACH_WAY static int look_and_tell(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    hurry_poll(waiter, look_at_telling, waiter);
    evidence_look(&waiter->telling.marks);
    return tell(waiter);
}

APPROACH_WAY int hurry_tell_call(const struct hurried *asked)
{
    expect(asked, EVENT_CALLED);
    return tell(asked->waiter);
}
