/* SPDX-License-Identifier: MIT */
#include "delay_lesson.h"

#include <stddef.h>

#include "timing/learn/shares.h"
#include "timing/learn/within.h"

/* What differs from one delay to the next by more was held up. */
APPROACH_WAY static double believed(const struct waiter *waiter, double wrong)
{
    enum { MOST_TICKS = 8, MEAN = 64 };
    double most = waiter->vernier.step_ticks + MOST_TICKS;
    return within(-most, wrong, most) / MEAN;
}

/* A calibration counts from nothing: that says nothing of cycles. */
APPROACH_WAY void delay_follow(struct waiter *waiter, double *known, double wrong, double cycles)
{
    enum { EQUAL_SHARES_CYCLES = 1000 };
    double more = believed(waiter, wrong);
    if (waiter->is_calibrating)
        *known += more;
    else
        shares_follow(known, &waiter->learnt.delay_cycle_ticks, more, cycles, EQUAL_SHARES_CYCLES);
}

/*
 * Two readings are less than a step from where they were taken, each. A run that took more or less
 * than that had not the whole of a core, or another clock: see caution.h. What is less than the
 * loop's own period is nothing against runs, however fine the counter.
 */
APPROACH_WAY static int is_off(const struct waiter *waiter, double wrong)
{
    enum { TOLERATED_TICKS = 4, TOLERATED_NS = 8 };
    double most = waiter->vernier.step_ticks + TOLERATED_TICKS;
    double least = TOLERATED_NS / waiter->learnt.period_ns;
    most = most > least ? most : least;
    return (wrong > most) | (wrong < -most);
}

APPROACH_WAY int delay_contradicts(struct waiter *waiter, double wrong)
{
    enum { LEAST_TURNS = 1, MOST_TURNS = 64 };
    int off = is_off(waiter, wrong);
    if (off)
        caution_went_wrong(&waiter->contradicted_run, LEAST_TURNS, MOST_TURNS);
    return off;
}

APPROACH_WAY static double wrong_ticks(const struct waiter *waiter)
{
    return (double)(int64_t)waiter->delay_taken_ticks - waiter->lesson.expected_ticks;
}

APPROACH_WAY int delay_was_contradicted(const struct waiter *waiter)
{
    const struct delay_lesson *lesson = &waiter->lesson;
    return (lesson->of != NULL) & (lesson->cycles > 0) & is_off(waiter, wrong_ticks(waiter));
}

/* A calibration's delays count from nothing. */
APPROACH_WAY void delay_learn(struct waiter *waiter)
{
    const struct delay_lesson lesson = waiter->lesson;
    waiter->lesson.of = NULL;
    if (lesson.of == NULL || waiter->is_calibrating)
        return;
    double wrong = wrong_ticks(waiter);
    delay_follow(waiter, &lesson.of->fixed_ticks, wrong, lesson.cycles);
    if (lesson.cycles > 0 && !delay_contradicts(waiter, wrong))
        caution_went_well(&waiter->contradicted_run);
}
