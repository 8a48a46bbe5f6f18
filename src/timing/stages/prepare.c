/* SPDX-License-Identifier: MIT */
#include "prepare.h"

#include <stddef.h>

#include "timing/hurry/hurry.h"
#include "timing/waiter/asked.h"

#include "foresight.h"
#include "rehearsal.h"

enum { MOST_REHEARSALS = 200 };

static _Thread_local int rehearsing __attribute__((tls_model("initial-exec")));

TIMEBASE_API int timebase_wait_rehearsing(void)
{
    return rehearsing;
}

/*
 * An approach with all its runs, of which each rehearsal executes another part. What is 10 ns late
 * in every other rehearsal would be taken for a slower clock of the core.
 */
static void fetch_approach(const struct waiter *waiter)
{
    enum { LINES = 58 };
    approach_fetch_lines((const char *)(uintptr_t)waiter->ways.exact, LINES);
    foresight_runs(waiter, EVENT_CALLED);
    foresight_runs(waiter, EVENT_RETURNS);
}

void prepare_function(const struct wait *wait)
{
    if (wait->function == NULL)
        return;
    rehearsing = wait->waiter->is_in_event = 1;
    wait->function(wait->argument);
    rehearsing = wait->waiter->is_in_event = 0;
}

/*
 * One rehearsal in four is by the loop, so that both ways are known. Every other one of each
 * returns as the wait will.
 */
static struct rehearsal_plan next_plan(const struct wait *wait)
{
    enum { FOUR = 4 };
    const struct waiter *waiter = wait->waiter;
    unsigned turn = waiter->rehearsals % FOUR;
    int exact = turn != 0 && waiter->learnt.exact && !(wait->flags & WAITER_LOOP_FLAGS);
    int returns_now = (turn / 2 + waiter->rehearsals / FOUR) % 2;
    enum event_way way = returns_now ? wait_event_way(wait) : EVENT_CALLED;
    int never_early = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    return (struct rehearsal_plan){exact, way, never_early};
}

static void rehearse_cold(struct waiter *waiter, struct rehearsal_plan plan)
{
    rehearsal_cold(waiter, plan);
    if (plan.exact)
        waiter_forget_polls(waiter);
}

static void rehearse_wait(const struct wait *wait, int is_warm)
{
    struct waiter *waiter = wait->waiter;
    struct rehearsal_plan plan = next_plan(wait);
    uint64_t start = timebase_ticks();
    double *known = &waiter->learnt.rehearsal_ticks;
    is_warm = is_warm && (!plan.exact || waiter_is_exact_hot(waiter, start));
    if (is_warm)
        rehearsal_learn(waiter, plan);
    else
        rehearse_cold(waiter, plan);
    double took = (double)(timebase_ticks() - start);
    if (is_warm)
        rehearsal_follow_length(known, took);
}

/*
 * The time that must be left after the last rehearsal. The lead has room for code that is in no
 * cache. Where polls are few these leave nothing for what takes longer beside a neighbour.
 */
static double needed_ticks(const struct waiter *waiter, int is_hot)
{
    enum { SHARE = 4, SHARE_FINE = 2 };
    double needed = waiter_coarse_ticks(waiter) + waiter->learnt.plain_bias_ticks;
    double lead = waiter->learnt.lead_ticks, polls = waiter_polls_ticks(waiter);
    if (is_hot)
        lead /= waiter_has_vernier(waiter) ? SHARE : SHARE_FINE;
    return needed + (lead > polls ? lead : polls);
}

/*
 * Of a wait that came here at once: how long before its target it should have been asked for. Where
 * near waits are exact at their call those that rehearse are few, and need not be near.
 */
static void learn_lead(const struct wait *wait, uint64_t now, double needed_ticks)
{
    enum { LONGER = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_REHEARSE };
    struct waiter_learnt *learnt = &wait->waiter->learnt;
    if (wait_asked_before_ticks(wait) < learnt->near_exact_ticks && !(wait->flags & LONGER))
        hurry_learn_near(&learnt->lead_need, (double)(now - wait->entered_ticks) + needed_ticks);
}

/* By code that is near some take 0.4 us longer than usual, as they vary, and an interrupt 1 us. */
static void note_gap(struct waiter *waiter, double gap_ticks)
{
    enum { HELD_UP_NS = 600 };
    double usual = waiter->learnt.rehearsal_ticks;
    if (gap_ticks > usual + (double)waiter_ticks_of_ns(waiter, HELD_UP_NS))
        waiter->last.was_held_up = 1;
}

int prepare(struct wait wait)
{
    struct waiter *waiter = wait.waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    int is_hot = waiter_is_hot(waiter, timebase_ticks());
    double needed = needed_ticks(waiter, is_hot);
    int turn = 0;
    waiter->first_ones_ticks = 0;
    foresight_far_event(&wait);
    if (!is_hot && learnt->exact)
        fetch_approach(waiter);
    if (wait.flags & TIMEBASE_WAIT_REHEARSE && (double)wait_left_ticks(&wait) > needed)
        prepare_function(&wait);
    uint64_t start = timebase_ticks();
    if (is_hot)
        learn_lead(&wait, start, needed + learnt->rehearsal_ticks * REHEARSAL_HOT);
    double left, before = 0;
    for (; turn < MOST_REHEARSALS; turn++, before = left) {
        left = (double)wait_left_ticks(&wait);
        if (is_hot || turn > REHEARSALS_COLD)
            note_gap(waiter, before - left);
        double room = is_hot ? REHEARSAL_HOT : turn == 0 ? REHEARSAL_FIRST : REHEARSAL_WARM;
        if (left < needed + learnt->rehearsal_ticks * room)
            break;
        rehearse_wait(&wait, is_hot || turn >= REHEARSALS_COLD);
        foresight_far_event(&wait);
        if (turn + 1 == REHEARSALS_COLD)
            waiter->first_ones_ticks = (int64_t)(timebase_ticks() - start);
    }
    return turn > 0;
}
