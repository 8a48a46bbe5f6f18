/* SPDX-License-Identifier: MIT */
/* A made-up waiter, for tests of exact waits at their call. Behind cmocka.h. */
#ifndef TEST_NEAR_EXACT_H
#define TEST_NEAR_EXACT_H

#include <string.h>

#include "timing/hurry/hurry.h"
#include "timing/stages/near_exact.h"
#include "near_waits.h"

enum { NOW = 1000000, NEAR = 3000, HOT = 4000, CYCLE_OF_4 = 4 };
enum { NEEDS = 300, NEEDS_LEARNING = 500, NEEDS_COLD = 600, NEEDS_LEAD = 1200 };

static struct waiter waiter;
/* approach_from() finds the approach below its frame, and where it returns to above what it saves. */
static void *frame[8];

/* A tick is 1 ns and 4 cycles; the last event was just now. */
static inline void begin_anew(void)
{
    memset(&waiter, 0, sizeof(waiter));
    waiter.learnt.period_ns = 1;
    waiter.learnt.hot_ticks = HOT;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter.learnt.near_exact_needs[way] = need(NEEDS);
    waiter.learnt.near_exact_learning = need(NEEDS_LEARNING);
    waiter.learnt.near_exact_cold = need(NEEDS_COLD);
    waiter.learnt.lead_need = need(NEEDS_LEAD);
    waiter.learnt.near_rehearsal_ticks = NO_TIME;
    waiter.learnt.exact = 1;
    waiter.learnt.near_exact_ticks = NEAR;
    waiter.learnt.load_least_ticks = INT64_MAX; /* none loads its code first: unit/near_loads.c */
    waiter.learnt.tail = (struct tempo_tail){.cycles = 400, .first_cycles = 400};
    waiter.vernier.readings = 1;
    waiter.vernier.step_ticks = waiter.vernier.span_ticks = 1;
    waiter.period.value = 50;
    tempo_init(&waiter.tempo, 1.0 / CYCLE_OF_4);
    choice_forget(&waiter.choice);
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter.choice.error_ticks[CHOICE_LOOP][i] = 10;
        waiter.choice.error_ticks[CHOICE_EXACT][i] = 1;
    }
    waiter.approach.event_ticks = waiter.hurried_ticks = waiter.exact_ticks = NOW;
    waiter.ways.poll_bare = approach_poll; /* they end behind their call */
    waiter.approach.rseq = (const uint32_t[8]){0};
    waiter.uses = 1;
}

/* Nothing is noted of what an approach here was disturbed by. */
static inline void begin_without_evidence(void)
{
    begin_anew();
    evidence_init(&waiter.evidence, &waiter.approach);
    waiter.evidence.marks_es = 0;
    waiter.evidence.rseq_mark = 0;
}

/* The same by a counter that steps: as many polls agreed as it takes. */
static inline void step(void)
{
    waiter.vernier.readings = APPROACH_FINE;
    waiter.vernier.step_ticks = waiter.vernier.span_ticks = 25;
    waiter.approach.even_polls = WAITER_EVEN_USUALLY;
}

static inline void begin_stepped(void)
{
    begin_anew();
    step();
}

static inline struct hurried asked_for(int64_t left)
{
    return (struct hurried){.waiter = &waiter,
                            .ticks = NOW + (uint64_t)left,
                            .entered_ticks = NOW,
                            .frame = &frame[1]};
}

static inline int is_due(int64_t left)
{
    struct hurried asked = asked_for(left);
    return near_exact_is_due(&asked);
}

/* It is begun, and ends behind. */
static inline void run(int64_t left)
{
    struct hurried asked = asked_for(left);
    assert_int_equal(near_exact(&asked), APPROACH_ENDS_BEHIND);
}

#endif
