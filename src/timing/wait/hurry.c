/* SPDX-License-Identifier: MIT */
#include "hurry.h"

#include <stddef.h>

#include "event.h"
#include "outcome.h"
#include "prepare.h"
#include "result.h"

enum { PAUSE_NS = 1000000, FIRST_COLD_NS = 20000, NO_REHEARSAL_NS = 900 };

#define NEAR_STEP_NS 1.0

static void know(struct waiter *waiter, int64_t cold_ticks)
{
    waiter->learnt.cold_ticks = cold_ticks;
    waiter->learnt.near_ticks = waiter_ends_behind(waiter) ? cold_ticks : 0;
}

void hurry_init(struct waiter *waiter)
{
    waiter->learnt.pause_ticks = waiter_ticks_of_ns(waiter, PAUSE_NS);
    waiter->learnt.no_rehearsal_ticks = waiter_ticks_of_ns(waiter, NO_REHEARSAL_NS);
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
 * Follows what is enough for 49 of 50. It fades with each wait that has less, so that one is tried
 * again.
 */
void hurry_learn_near(struct waiter *waiter, double needed_ticks)
{
    enum { OF = 50 };
    double *known = &waiter->learnt.near_needs_ticks;
    double step = NEAR_STEP_NS / waiter->learnt.period_ns;
    *known += needed_ticks > *known ? (OF - 1) * step : -step;
}

APPROACH_WAY static void fade_near(struct waiter *waiter, int64_t left)
{
    enum { TURNS = 16 };
    struct waiter_learnt *learnt = &waiter->learnt;
    if (left > 0 && (double)left < learnt->near_needs_ticks)
        learnt->near_needs_ticks -= NEAR_STEP_NS / TURNS / learnt->period_ns;
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

/* What comes behind the loop is as far away: it was 0.1 to 0.3 us late in one of ten. */
APPROACH_WAY static void fetch_loop(const struct approach *a)
{
    enum { LINES = 5 };
    const char *poll = (const char *)(uintptr_t)approach_poll;
    const char *loop = a->behind != NULL ? (const char *)(uintptr_t)approach_poll_on : poll;
    approach_fetch_lines(loop, LINES);
}

APPROACH_WAY static void fetch_rest(const struct wait *wait)
{
    struct waiter *waiter = wait->waiter;
    if (waiter_is_hot(waiter, wait->entered_ticks))
        return;
    if (!waiter_is_bare(waiter))
        fetch_loop(&waiter->approach);
    if (wait_event_way(wait) == EVENT_TELLS && wait_left_ticks(wait) > 0)
        result_fetch(waiter);
}

APPROACH_WAY int hurry_run(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    struct wait *wait = begin(asked);
    uint64_t number = waiter->uses;
    set_up(wait);
    waiter->unsettled = LEFT_TO_COUNT;
    if (!waiter_is_bare(waiter)) {
        evidence_begin(&waiter->evidence, &waiter->approach);
        wait->cpu = (int)waiter->evidence.cpu_before;
    }
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
/* Asks memory for all lines at once, before any of them is needed. */
static inline void fetch_waiter(const struct waiter *waiter)
{
    enum { LINE = 64, LINES = 10 };
    for (int line = 0; line < LINES; line++)
        approach_fetch((const char *)waiter + line * LINE);
}

/*
 * Reads the counter without asking whether it is readable, because the word that says so is on
 * another page. A waiter whose waits may end behind has found it readable.
 */
APPROACH_WAY int hurry_at_once(struct timebase_waiter *public, uint64_t ticks, unsigned flags,
                               void *frame)
{
    uint64_t now = timebase_arch_ticks();
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || !hurry_is_due(waiter, now, ticks, flags))
        return 0;
    int64_t left = (int64_t)(ticks - now), near = waiter->learnt.near_ticks;
    if (left >= near || left < -near || (flags & ~WAITER_FLAGS) != 0 ||
        (flags & TIMEBASE_WAIT_NEVER_EARLY) != 0)
        return 0;
    fetch_waiter(waiter);
    const struct wait wait = {
        .waiter = waiter, .ticks = ticks, .flags = flags, .frame = frame, .entered_ticks = now};
    return hurry_run(&wait);
}
#endif
