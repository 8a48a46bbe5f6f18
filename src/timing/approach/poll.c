/* SPDX-License-Identifier: MIT */
/* The polling loop of the paper of 1997, on any processor and any counter. */
#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "edge.h"
#include "evidence.h"

/* Until then; the longest time between two polls is kept. Returns the last one. */
static inline __attribute__((always_inline)) uint64_t poll_until(struct approach *approach,
                                                                 uint64_t ticks, uint64_t now)
{
    uint64_t gap = approach->gap_ticks;
    while ((int64_t)(now - ticks) < 0) {
        uint64_t before = now;
        now = timebase_ticks();
        gap = now - before > gap ? now - before : gap;
    }
    approach->gap_ticks = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
    return now;
}

/*
 * Where there is time, what follows is brought near, for the last time 1000 to 2023 ticks before the
 * end (x86-64 counts 1 to 5 in a nanosecond; elsewhere there is no such means). Not always as long
 * before: a loop that takes as many turns each time has an end that the core predicts, and in some it
 * is one turn off. Until then every 1000 ticks: each time the core comes to the next line that is far.
 */
static inline __attribute__((always_inline)) uint64_t
poll_until_near(struct approach *approach, uint64_t now, approach_fetching *fetch)
{
    enum { NEAR_TICKS = 1000, VARIED = 1023, STEP_BITS = 3 };
    uint64_t near = approach->leave_ticks - NEAR_TICKS - (now >> STEP_BITS & VARIED);
    while ((int64_t)(now - near) < 0) {
        int is_last = (int64_t)(near - now) < 2 * NEAR_TICKS;
        poll_until(approach, is_last ? near : now + NEAR_TICKS, now);
        fetch(approach);
        now = timebase_ticks();
    }
    return now;
}

/*
 * Ticks are compared by their difference, so that the counter may wrap. The stamp, a reading that
 * waits for the end of the polls, takes so long that what follows it has been fetched meanwhile:
 * the last poll as the stamp made the errors a third wider. What must not be early has that all the
 * same, as it would be later by the reading. A function of its own would return in between.
 */
static inline __attribute__((always_inline)) void
poll_to_stamp(struct approach *approach, approach_fetching *fetch)
{
    uint64_t now = timebase_ticks();
    int late = (int64_t)(now - approach->leave_ticks) >= 0;
    approach->overdue_cycles = late ? INT32_MAX : approach->late_cycles;
    now = poll_until_near(approach, now, fetch);
    if (approach->never_early) { /* asked before its loop: behind that it would be predicted wrongly */
        approach->event_ticks = poll_until(approach, approach->leave_ticks, now);
    } else {
        poll_until(approach, approach->leave_ticks - (uint64_t)approach->edge_sooner_ticks, now);
        edge_pass(approach->edge_links);
        approach->event_ticks = timebase_ticks_ordered();
    }
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
    evidence_forget(approach);
}

APPROACH_WAY static void foresee_event(struct approach *approach)
{
    if (approach->foresee != NULL)
        approach->foresee((const void *)(uintptr_t)approach->event, approach->argument);
}

APPROACH_WAY int approach_poll_to_event(struct approach *approach)
{
    poll_to_stamp(approach, foresee_event);
    approach->event(approach->argument);
    return approach->overdue_cycles > approach->late_cycles;
}

APPROACH_WAY int approach_poll(struct approach *approach)
{
    approach->run = 0;
    approach->gap_ticks = 0;
    approach_fetch_code((const void *)(uintptr_t)approach->event);
    return approach_poll_to_event(approach);
}

APPROACH_WAY void approach_poll_on(struct approach *approach, approach_fetching *fetch)
{
    poll_to_stamp(approach, fetch);
}
