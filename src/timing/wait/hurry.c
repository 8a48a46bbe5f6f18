/* SPDX-License-Identifier: MIT */
#include "hurry.h"

#include <stddef.h>

#include "event.h"
#include "outcome.h"
#include "prepare.h"
#include "result.h"

enum { PAUSE_NS = 1000000, FIRST_COLD_NS = 20000 };

static void know(struct waiter *waiter, int64_t cold_ticks)
{
    waiter->learnt.cold_ticks = cold_ticks;
    waiter->learnt.near_ticks = waiter->ways.leaves ? cold_ticks : 0;
}

void hurry_init(struct waiter *waiter)
{
    waiter->learnt.pause_ticks = waiter_ticks_of_ns(waiter, PAUSE_NS);
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

/* Takes the CPU to be that of the wait before. A wait with a result asks for the CPU itself. */
APPROACH_WAY static struct wait *begin(const struct wait *asked)
{
    struct waiter *waiter = asked->waiter;
    outcome_count_open(waiter);
    caution_pass(&waiter->cold);
    waiter->last = *asked;
    waiter->last.cpu = (int)waiter->evidence.cpu_before;
    waiter->found = 0;
    waiter->uses++;
    return &waiter->last;
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
    if (wait_event_way(wait) == EVENT_TELLS && wait_left_ticks(wait) > 0)
        result_fetch(waiter);
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
 * another page. A waiter whose waits may leave has found it readable.
 */
APPROACH_WAY int hurry_at_once(struct timebase_waiter *public, uint64_t ticks, unsigned flags,
                               void *frame)
{
    uint64_t now = timebase_arch_ticks();
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || !hurry_is_due(waiter, now, ticks))
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
