/* SPDX-License-Identifier: MIT */
/* The polling loop of the paper of 1997, on any processor and any counter. */
#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "evidence.h"

/*
 * Ticks are compared by their difference, so that the counter may wrap. The stamp, a reading that
 * waits for the end of the polls, takes so long that what follows it has been fetched meanwhile:
 * the last poll as the stamp made the errors a third wider. A function of its own would return in
 * between.
 */
static inline __attribute__((always_inline)) void poll_to_stamp(struct approach *approach)
{
    uint64_t now = timebase_ticks(), gap = approach->gap_ticks;
    int late = (int64_t)(now - approach->leave_ticks) >= 0;
    approach->overdue_cycles = late ? INT32_MAX : approach->late_cycles;
    while ((int64_t)(now - approach->leave_ticks) < 0) {
        uint64_t before = now;
        now = timebase_ticks();
        gap = now - before > gap ? now - before : gap;
    }
    do {
        approach->event_ticks = timebase_ticks_ordered();
    } while ((int64_t)(approach->event_ticks - approach->not_before_ticks) < 0);
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
    evidence_forget(approach);
    approach->gap_ticks = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

APPROACH_WAY void approach_poll(struct approach *approach)
{
    approach->run = 0;
    approach->gap_ticks = 0;
    approach_fetch_code((const void *)(uintptr_t)approach->event);
    poll_to_stamp(approach);
    approach->event(approach->argument);
}

APPROACH_WAY void approach_poll_on(struct approach *approach)
{
    poll_to_stamp(approach);
}
