/* SPDX-License-Identifier: MIT */
/* near_code: the lines of code that an exact wait at its call executes. Header-only. */
#ifndef STAGES_NEAR_CODE_H
#define STAGES_NEAR_CODE_H

#include "event.h"
#include "foresight.h"
#include "near_exact.h"
#include "near_rehearsal.h"
#include "outcome.h"
#include "result.h"

typedef void line_visitor(const void *line);

/* So many lines from `code` on. */
static inline __attribute__((always_inline)) void visit_lines(line_visitor *visit, uintptr_t code,
                                                              unsigned lines)
{
    for (unsigned line = 0; line < lines; line++)
        visit((const char *)code + line * APPROACH_LINE);
}

/*
 * All that one executes, and the ends of all runs: each wait takes another. As GCC compiles it for
 * x86-64: too many lines or too few cost nothing but time.
 */
static inline __attribute__((always_inline)) void visit_code(const struct waiter *waiter,
                                                             enum event_way way,
                                                             line_visitor *visit)
{
    enum { HERE = 24, COUNTING = 6, AIMING = 3, APPROACH = 14, RUN = 5 };
    enum { BEFORE_TELLING = 13, TELLING = 26 };
    const void *const *runs = foresight_runs_of(waiter, way);
    visit_lines(visit, (uintptr_t)near_exact, HERE);
    visit_lines(visit, (uintptr_t)waiter->ways.exact, APPROACH);
    visit_lines(visit, (uintptr_t)outcome_count, COUNTING);
    visit_lines(visit, (uintptr_t)waiter_aim_run, AIMING);
    visit_lines(visit, (uintptr_t)waiter_approach, 1);
    visit_lines(visit, (uintptr_t)event_set_return, 1);
    visit_lines(visit, (uintptr_t)evidence_begin, 1);
    for (int i = 0; i < APPROACH_RUNS; i++)
        visit_lines(visit, (uintptr_t)runs[i], RUN);
    if (way == EVENT_TELLS)
        visit_lines(visit, (uintptr_t)result_tell - BEFORE_TELLING * APPROACH_LINE, TELLING);
}

/* And what one that rehearses executes besides: where the counter steps it may end by the loop. */
static inline __attribute__((always_inline)) void
visit_rehearsals(const struct waiter *waiter, enum event_way way, line_visitor *visit)
{
    enum { REHEARSING = 40, BARE = 4, TO_EVENT = 11 };
    visit_lines(visit, (uintptr_t)near_rehearse, REHEARSING);
    if (waiter_has_vernier(waiter) && way == EVENT_CALLED)
        visit_lines(visit, (uintptr_t)approach_poll_to_event, TO_EVENT);
    else if (waiter_has_vernier(waiter))
        visit_lines(visit, (uintptr_t)waiter->ways.poll_bare, BARE);
}

#endif
