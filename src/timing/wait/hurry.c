/* SPDX-License-Identifier: MIT */
#include "hurry.h"

#include <stddef.h>

#include "event.h"
#include "foresight.h"
#include "outcome.h"
#include "prepare.h"
#include "result.h"

enum { PAUSE_NS = 1000000, FIRST_COLD_NS = 20000, NO_REHEARSAL_NS = 900, FIRST_POLL_NS = 4000 };

#define NEAR_STEP_NS 1.0
#define POLL_STEP_NS 40.0 /* few waits come after a pause */

static void know(struct waiter *waiter, int64_t cold_ticks)
{
    waiter->learnt.cold_ticks = cold_ticks;
    waiter->learnt.near_ticks = waiter_ends_behind(waiter) ? cold_ticks : 0;
}

void hurry_init(struct waiter *waiter)
{
    waiter->learnt.pause_ticks = waiter_ticks_of_ns(waiter, PAUSE_NS);
    waiter->learnt.no_rehearsal_ticks = waiter_ticks_of_ns(waiter, NO_REHEARSAL_NS);
    waiter->polled_ticks = waiter_long_before(timebase_ticks());
    waiter->learnt.poll_needs_ticks = (double)waiter_ticks_of_ns(waiter, FIRST_POLL_NS);
    know(waiter, waiter_ticks_of_ns(waiter, FIRST_COLD_NS));
}

/*
 * A wait after a pause takes the stages only if there is time for the way in, for the rehearsals
 * that fetch their own code, and after these for some that teach.
 */
void hurry_learn(struct waiter *waiter, int64_t begin_ticks)
{
    int64_t known = waiter->learnt.cold_ticks, most = waiter->learnt.pause_ticks;
    int64_t took = begin_ticks + waiter->first_ones_ticks + waiter_ticks_of_ns(waiter, PREPARE_NS);
    if (waiter->first_ones_ticks == 0)
        return;
    took = took < most ? took : most;
    know(waiter, took > known ? took : known + (took - known) / 8);
}

/*
 * Follows what is enough for all but one of so many. It fades with each wait that has less, so that
 * one is tried again.
 */
APPROACH_WAY static void follow_need(double *known, double needed_ticks, double step_ticks, int of)
{
    *known += needed_ticks > *known ? (of - 1) * step_ticks : -step_ticks;
}

APPROACH_WAY static void fade_need(double *known, double step_ticks)
{
    enum { TURNS = 16 };
    *known -= step_ticks / TURNS;
}

void hurry_learn_near(struct waiter *waiter, double needed_ticks)
{
    enum { OF = 50 };
    struct waiter_learnt *learnt = &waiter->learnt;
    follow_need(&learnt->near_needs_ticks, needed_ticks, NEAR_STEP_NS / learnt->period_ns, OF);
}

APPROACH_WAY static void fade_near(struct waiter *waiter, int64_t left)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    if (left > 0 && (double)left < learnt->near_needs_ticks)
        fade_need(&learnt->near_needs_ticks, NEAR_STEP_NS / learnt->period_ns);
}

/*
 * How long this one took to come to its polls. What is nearer is by a loop that is some 40 ns late,
 * as its return is cold; what comes to its polls too late is so by 0.5 us and more.
 */
APPROACH_WAY static void learn_poll(struct waiter *waiter, uint64_t entered_ticks)
{
    enum { OF = 25 };
    struct waiter_learnt *learnt = &waiter->learnt;
    double took = (double)(int64_t)(timebase_ticks() - entered_ticks);
    follow_need(&learnt->poll_needs_ticks, took, POLL_STEP_NS / learnt->period_ns, OF);
}

APPROACH_WAY static void set_up(struct wait *wait)
{
    const struct waiter_learnt *learnt = &wait->waiter->learnt;
    struct approach *a = &wait->waiter->approach;
    int never_early = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double before =
        learnt->plain_bias_ticks - wait->fraction + learnt->exit_ticks[0][wait_event_way(wait)];
    wait->exact = 0;
    event_set(wait);
    a->target_ticks = wait->ticks;
    a->leave_ticks = wait->ticks - (uint64_t)(never_early ? 0 : (int64_t)before);
    a->not_before_ticks = never_early ? wait->ticks : waiter_long_before(wait->entered_ticks);
    result_expect(wait);
}

/* The wait before it. By code that is near some are learnt from, if there is the time. */
APPROACH_WAY static void settle_last(const struct wait *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    if (!waiter_is_hot(waiter, asked->entered_ticks)) {
        outcome_count_open(waiter);
        caution_pass(&waiter->far_stages);
        return;
    }
    fade_near(waiter, left);
    if (left < waiter_ticks_of_ns(waiter, OUTCOME_NEAREST_NS))
        outcome_count_open(waiter);
    else
        outcome_settle_some(waiter);
}

/* Takes the CPU to be that of the wait before. A wait with a result asks for the CPU itself. */
APPROACH_WAY static struct wait *begin(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    settle_last(asked, wait_asked_before_ticks(asked));
    waiter->last = *asked;
    waiter->last.cpu = (int)waiter->evidence.cpu_before;
    waiter->last.is_unsteady =
        !(asked->flags & TIMEBASE_WAIT_PLAIN) && !caution_allows(&waiter->uneven);
    waiter->found = 0;
    waiter->uses++;
    return &waiter->last;
}

/*
 * The core goes no further than to the first line that must come from far away, and waits for it. So
 * the event is foreseen several times, each of which brings another line, while there is plenty of time.
 */
APPROACH_WAY static void foresee(const struct wait *wait)
{
    enum { TIMES = 3, PLENTY_NS = 2500 };
    int64_t plenty = waiter_ticks_of_ns(wait->waiter, PLENTY_NS);
    for (int i = 0; i < TIMES && wait_left_ticks(wait) > plenty; i++)
        foresight_event(wait);
}

APPROACH_WAY static void fetch_rest(const struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    if (waiter_is_hot(waiter, wait->entered_ticks))
        return;
    foresee(wait);
    if (wait_event_way(wait) == EVENT_TELLS && wait_left_ticks(wait) > 0)
        result_fetch(waiter);
}

/* Inlined, the code that fetches code would be long. */
APPROACH_WAY static __attribute__((noinline)) void fetch(const void *code, int lines)
{
    approach_fetch_lines((const char *)code, lines);
}

#define FETCH(function, lines) fetch((const void *)(uintptr_t)(function), lines)

/*
 * All code that is to come is asked of memory at once, before any of it is needed: else each line, and the
 * translation of each page, comes 0.2 us after the one before.
 */
APPROACH_WAY static inline void fetch_code(const struct wait *asked)
{
    enum { RUN = 14, SET = 6, COUNT = 15, LAST = 3, MARK = 1, POLL = 9, TELL = 9 }; /* lines */
    enum event_way way = wait_event_way(asked);
    FETCH(hurry_run, RUN);
    FETCH(outcome_count, COUNT);
    FETCH(event_set, SET);
    FETCH(waiter_approach, LAST);
    if (way == EVENT_RETURNS)
        return;
    FETCH(evidence_begin, MARK);
    if (way == EVENT_TELLS)
        FETCH(approach_poll_on, POLL);
    else
        FETCH(approach_poll_to_event, POLL);
    if (asked->result != NULL)
        FETCH(result_tell, TELL);
}

APPROACH_WAY int hurry_run(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    if (!waiter_is_hot(waiter, asked->entered_ticks))
        fetch_code(asked);
    struct wait *wait = begin(asked);
    uint64_t number = waiter->uses;
    set_up(wait);
    waiter->unsettled = LEFT_TO_COUNT;
    if (!waiter_is_bare(waiter)) {
        evidence_begin(&waiter->evidence, &waiter->approach);
        wait->cpu = (int)waiter->evidence.cpu_before;
    }
    if (hurry_after_pause(waiter, wait->entered_ticks))
        learn_poll(waiter, wait->entered_ticks);
    fetch_rest(wait);
    waiter->is_in_event = wait->function != NULL;
    if (waiter_approach(waiter, 0) == APPROACH_ENDS_BEHIND)
        return APPROACH_ENDS_BEHIND;
    waiter->is_in_event = 0;
    if (waiter->uses != number)
        return TIMEBASE_E_INVALID;
    if (wait->result != NULL)
        result_tell(&waiter->approach);
    return outcome_is_late(wait);
}

#ifdef __x86_64__
/*
 * A wait that only returns and is nearer than the way to the polls takes: the loop, here. The wait
 * before it remains as it is. This one is counted, and disturbed if two polls were a microsecond
 * apart; there is no time for other evidence.
 */
APPROACH_WAY static int poll_here(const struct wait *asked)
{
    enum { GAP_NS = 1000 };
    struct waiter *waiter = asked->waiter;
    struct waiter_learnt *learnt = &waiter->learnt;
    double before = learnt->plain_bias_ticks + learnt->exit_ticks[0][EVENT_RETURNS];
    uint64_t leave = asked->ticks - (uint64_t)(int64_t)before, now = timebase_arch_ticks();
    int64_t gap = 0, most = waiter_ticks_of_ns(waiter, GAP_NS);
    int late = (int64_t)(leave - now) <= 0;
    fade_need(&learnt->poll_needs_ticks, POLL_STEP_NS / learnt->period_ns);
    waiter->polled_ticks = asked->ticks;
    waiter->waits++;
    waiter->late += (uint64_t)late;
    while ((int64_t)(leave - now) > 0) {
        uint64_t last = now;
        now = timebase_arch_ticks();
        gap = (int64_t)(now - last) > gap ? (int64_t)(now - last) : gap;
    }
    waiter->disturbed += gap > most;
    timebase_arch_ticks_ordered(); /* meanwhile what follows is fetched */
    return late;
}

/*
 * Reads the counter without asking whether it is readable, because the word that says so is on
 * another page. A waiter whose waits may end behind has found it readable: so that is asked first.
 */
APPROACH_WAY int hurry_at_once(struct timebase_waiter *public, struct wait *asked)
{
    const struct waiter *waiter = asked->waiter = waiter_checked(public);
    if (waiter == NULL || waiter->learnt.near_ticks == 0)
        return HURRY_NOT_DUE;
    asked->entered_ticks = timebase_arch_ticks();
    int64_t left = wait_asked_before_ticks(asked), near = waiter->learnt.near_ticks;
    if (!hurry_is_due(waiter, asked->entered_ticks, asked->ticks, asked->flags) || left >= near ||
        left < -near || (asked->flags & ~WAITER_FLAGS) != 0 ||
        (asked->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0)
        return HURRY_NOT_DUE;
    if (wait_event_way(asked) == EVENT_RETURNS &&
        hurry_after_pause(waiter, asked->entered_ticks) &&
        (double)left < waiter->learnt.poll_needs_ticks)
        return poll_here(asked);
    approach_fetch(waiter->approach.rseq);
    return hurry_run(asked);
}
#endif
