/* SPDX-License-Identifier: MIT */
#include "calibration_counted.h"

#include "timing/delay/delay_counted.h"
#include "timing/learn/within.h"

#include "calibration_delay.h"

static void count(const struct waiter *waiter, uint64_t cycles)
{
    waiter->ways.count(cycles, 1);
}

/* The loop is as wide as its polls are far apart; both are seen soon. */
static void begin_choice(struct waiter *waiter)
{
    double period_ticks = waiter->period.value;
    struct choice *choice = &waiter->counted_lesson.choice;
    choice_forget(choice);
    choice_init(choice, CHOICE_LOOP, &period_ticks, 1);
    choice_init(choice, CHOICE_EXACT, &period_ticks, 1);
    choice_fade(choice, 0.5);
}

/* Ticks, as if nothing were in it but the chain; and what of them comes behind its last reading. */
static double find_way(struct waiter *waiter, enum delay_way way, double *after_ticks)
{
    enum { ONE_NS = 300 };
    waiter->calibrated_way = way;
    waiter->counted.in_a_row = DELAY_COUNTED_MANY;
    return calibration_delay_fixed(waiter, ONE_NS, 0, after_ticks);
}

/* What nothing follows later counts as the middle of some rounds; a difference is of one round. */
static void find_ways(struct waiter *waiter)
{
    enum { ROUNDS = CALIBRATION_ROUNDS };
    double less[ROUNDS], stamp[ROUNDS], after[ROUNDS], ignored;
    double cycles_per_tick = waiter->counted.cycles_per_ns * waiter->learnt.period_ns;
    struct counted_lesson *lesson = &waiter->counted_lesson;
    for (int i = 0; i < ROUNDS; i++) {
        less[i] = find_way(waiter, DELAY_COUNTED, &ignored);
        stamp[i] = find_way(waiter, DELAY_COUNTED_STAMPED, &after[i]) - less[i];
    }
    double learn_ticks = find_way(waiter, DELAY_COUNTED_LEARNING, &ignored) - less[ROUNDS - 1];
    lesson->learn_cycles = learn_ticks * cycles_per_tick;
    lesson->after_ticks = calibration_delay_middle(after);
    waiter->counted.stamp_cycles = calibration_delay_middle(stamp) * cycles_per_tick;
    waiter->counted.less_cycles = calibration_delay_middle(less) * cycles_per_tick;
}

/* The shortest that is counted has the time to learn, and for a stamp. */
static uint64_t least_ns(const struct waiter *waiter)
{
    enum { MORE_NS = 5 };
    const struct waiter_counted *counted = &waiter->counted;
    double learn = waiter->counted_lesson.learn_cycles, stamp = counted->stamp_cycles;
    double cycles = counted->less_cycles + (learn > stamp ? learn : stamp);
    return (uint64_t)within(0, cycles / counted->cycles_per_ns, DELAY_SHORT_NS) + MORE_NS;
}

void calibrate_counted(struct waiter *waiter)
{
    enum { EARLY_LESSONS = 16 };
    struct waiter_counted *counted = &waiter->counted;
    if (waiter->ways.count == NULL || waiter_has_vernier(waiter))
        return;
    begin_choice(waiter);
    counted->cycles_per_ns =
        1 / (calibration_delay_cycle(waiter, count) * waiter->learnt.period_ns);
    counted->span_ns = DELAY_SHORT_NS;
    find_ways(waiter);
    waiter->counted_lesson.ns = 0;
    waiter->counted_lesson.usual_ns = DELAY_COUNTED_USUALLY_NS;
    waiter->counted_lesson.early_lessons = EARLY_LESSONS;
    counted->only = DELAY_COUNTED_FIRST;
    counted->in_a_row = 0;
    counted->least_ns = least_ns(waiter);
    int are_there = counted->least_ns < DELAY_COUNTED_MOST_NS;
    counted->span_ns = are_there ? DELAY_COUNTED_MOST_NS - counted->least_ns : 0;
}
