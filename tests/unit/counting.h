/* SPDX-License-Identifier: MIT */
/* counting: a waiter whose short delays only count, by a made-up chain. After cmocka.h. */
#ifndef TEST_COUNTING_H
#define TEST_COUNTING_H

#include <string.h>

#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_counted.h"
#include "waiting.h"

/* A tick is half a nanosecond; two cycles are a nanosecond. */
enum { LEAST_NS = 150, LESS_CYCLES = 200, STAMP_CYCLES = 70, AFTER_TICKS = 60 };
#define PERIOD_NS 0.5
#define CYCLES_PER_NS 2.0
#define LITTLE_NS 1e-15 /* twice as much, and no more, is believed of what is far off */
#define NEVER_STEADY 1e30 /* chains of note_cycles() take no time, and are no clock */

/* The first chain of two, and the last one; and what came before them. */
static struct {
    uint64_t unseen, first, cycles;
    uint64_t ticks_per_cycle, beside; /* 0: chains take no time; cycles that are not counted */
    int calls;
    struct waiter *late; /* each takes so much more than it should, by the clock of stop_time() */
    uint64_t late_ns;
} counted;

static inline int note_cycles(uint64_t cycles, uint64_t link)
{
    (void)link;
    uint64_t start = timebase_ticks();
    while (timebase_ticks() - start < (cycles + counted.beside) * counted.ticks_per_cycle)
        continue;
    counted.unseen = counted.first;
    counted.first = counted.cycles;
    counted.cycles = cycles;
    counted.calls++;
    if (counted.late != NULL)
        counted.late->delay_called_ticks -= counted.late_ns * UINT64_C(1000000000000);
    return 0;
}

/* They look alike: then counting is better. */
static inline void begin_choice(struct waiter *waiter)
{
    choice_forget(&waiter->counted_lesson.choice);
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter->counted_lesson.choice.error_ticks[CHOICE_LOOP][i] = 20;
        waiter->counted_lesson.choice.error_ticks[CHOICE_EXACT][i] = 10;
    }
}

static inline struct timebase_waiter *waiter_that_counts(void)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->ways.count = note_cycles;
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = PERIOD_NS;
    waiter->learnt.hot_ticks = INT64_MAX; /* however long the test is held up */
    waiter->learnt.checked_ns = LEAST_NS;
    waiter->learnt.near_delay_ticks = 0; /* no delay is an exact wait: unit/delay_near.c */
    waiter->learnt.at_once_ticks = 1e18; /* the loop ends at once */
    waiter->learnt.at_once_stamp_ticks = 0;
    waiter->counted = (struct waiter_counted){.least_ns = LEAST_NS,
                                              .span_ns = DELAY_SHORT_NS - LEAST_NS,
                                              .rate = {CYCLES_PER_NS, NEVER_STEADY},
                                              .step_ns = LITTLE_NS,
                                              .less_cycles = LESS_CYCLES,
                                              .only = DELAY_COUNTED_ONLY};
    waiter->counted_lesson = (struct counted_lesson){.stamp_cycles = STAMP_CYCLES,
                                                     .after_ticks = AFTER_TICKS,
                                                     .usual_ns = DELAY_COUNTED_USUALLY_NS};
    begin_choice(waiter);
    waiter->far_code = (struct caution){0};
    waiter->delay_fetched = DELAY_ASKED;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    memset(&counted, 0, sizeof(counted));
    return &ours;
}

static inline int is_counted(struct timebase_waiter *ours, uint64_t ns, unsigned flags,
                             struct timebase_wait_result *result)
{
    int before = counted.calls;
    counted.cycles = counted.first = counted.unseen = 0;
    assert_in_range(timebase_delay_ns(ours, ns, flags, result), 0, 1);
    return counted.calls > before;
}

/* As if hardly any time passed: there is as much left as was asked for. */
static inline void stop_time(struct waiter *waiter)
{
    waiter->learnt.period_ns = 1e-12;
}

static inline double cycles_of(const struct waiter *waiter, double ns)
{
    return ns * waiter->counted.rate.cycles_per_ns - waiter->counted.less_cycles;
}

#endif
