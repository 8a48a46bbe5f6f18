/* SPDX-License-Identifier: MIT */
#include "delay_lesson.h"

#include <stddef.h>

#include "timing/learn/in_code.h"
#include "timing/learn/shares.h"
#include "timing/learn/within.h"

#include "delay_lines.h"

/* What differs from one delay to the next by more was held up. */
APPROACH_WAY static double not_held_up(const struct waiter *waiter, double wrong)
{
    enum { MOST_TICKS = 8 };
    double most = waiter->vernier.step_ticks + in_code(MOST_TICKS);
    return within(0 - most, wrong, most);
}

APPROACH_WAY static double believed(const struct waiter *waiter, double wrong)
{
    enum { MEAN = 64 };
    return not_held_up(waiter, wrong) * in_code(1.0 / MEAN);
}

/*
 * Two readings are less than a step from where they were taken, each. A run that took more or less
 * than that had not the whole of a core, or another clock: see caution.h. What is less than the
 * loop's own period is nothing against runs, however fine the counter.
 */
APPROACH_WAY static int is_off(const struct waiter *waiter, double wrong)
{
    enum { TOLERATED_TICKS = 4, TOLERATED_NS = 8 };
    double most = waiter->vernier.step_ticks + in_code(TOLERATED_TICKS);
    double least = in_code(TOLERATED_NS) / waiter->learnt.period_ns;
    most = most > least ? most : least;
    return (wrong > most) | (wrong < 0 - most);
}

/* Of two runs the first may be right each time, and their end is not. */
APPROACH_WAY static struct far_runs *far_ones(struct waiter *waiter,
                                              const struct waiter_delay *known)
{
    const struct waiter_delay *firsts = waiter->learnt.between;
    int is_first = (known == &firsts[0]) | (known == &firsts[1]);
    return is_first ? &waiter->far_firsts : &waiter->far_ends;
}

/*
 * Where the core's clock has changed each long run is off, and they are few: so four in a row are
 * believed at once. Shorter ones that are right say nothing of that. Where none was contradicted
 * lately there is no row: to look at it would take a line that may not be near.
 */
APPROACH_WAY static void note_near(struct waiter *waiter, const struct waiter_delay *known,
                                   double cycles)
{
    if (waiter->contradicted_run.turns == 0)
        return;
    struct far_runs *far = far_ones(waiter, known);
    if (cycles * 2 >= far->cycles)
        in_a_row_near(&far->row);
}

APPROACH_WAY static double follow_late(struct waiter *waiter, struct waiter_delay *known,
                                       double wrong, double cycles)
{
    struct far_runs *far = far_ones(waiter, known);
    if (waiter->contradicted_run.turns == 0)
        in_a_row_near(&far->row);
    far->cycles = cycles;
    double more = in_a_row_far(&far->row, wrong, IN_A_ROW_USUALLY);
    caution_doubles(&waiter->contradicted_run);
    if (more == 0)
        return believed(waiter, wrong);
    waiter->contradicted_run.left = 0;
    known->fixed_ticks += more;
    return 0;
}

/*
 * Whatever else uses a core makes runs longer. What takes less than was known has been so for some
 * time: the calibration had a neighbour, or those before this one; or the clock is another. Some
 * times, and it is right; until then runs are tried.
 */
APPROACH_WAY static void follow_early(struct waiter *waiter, struct waiter_delay *known,
                                      double wrong)
{
    in_a_row_near(&far_ones(waiter, known)->row);
    known->fixed_ticks += not_held_up(waiter, wrong) * in_code(0.5);
    if (waiter->delay_fetched >= DELAY_RAN)
        waiter->delay_fetched = DELAY_ASKED;
}

/*
 * A cycle is as long as the waits', which is known to two percent at worst. Beside a neighbour runs
 * led far from it, and what they take besides as far the other way. On a quiet core those of one
 * length were early then and those of another late, which are no four in a row: all were left to
 * the loop.
 */
APPROACH_WAY static double cycle_of_waits(const struct waiter *waiter, double ticks)
{
    const double waits = waiter->tempo.cycle_ticks;
    return within(in_code(1 - DELAY_WRONG_CYCLE) * waits, ticks,
                  in_code(1 + DELAY_WRONG_CYCLE) * waits);
}

/* The last of so many, each of which executed what it needs: that is near by now. */
APPROACH_WAY static void was_tried_in_vain(struct waiter *waiter)
{
    if (waiter->delay_fetched >= DELAY_RAN)
        caution_doubles(&waiter->contradicted_run);
}

/* A calibration counts from nothing: that says nothing of cycles. */
APPROACH_WAY int delay_follow(struct waiter *waiter, struct waiter_delay *known, double wrong,
                              double cycles, enum delay_code code)
{
    enum { LEAST_CYCLES = 200 };
    double more = believed(waiter, wrong), *cycle = &waiter->learnt.delay_cycle_ticks;
    if (waiter->is_calibrating) {
        known->fixed_ticks += more;
        return 0;
    }
    int off = is_off(waiter, wrong);
    if (off && (wrong < 0 || code == DELAY_CODE_FETCHED))
        more = 0;
    if (off && wrong < 0)
        follow_early(waiter, known, wrong);
    else if (off && code == DELAY_CODE_FETCHED)
        was_tried_in_vain(waiter);
    else if (off && code == DELAY_CODE_NEAR)
        caution_doubles(&waiter->far_code);
    else if (off)
        more = follow_late(waiter, known, wrong, cycles);
    else
        note_near(waiter, known, cycles);
    shares_follow_about(&known->seen, &known->fixed_ticks, cycle, more, cycles,
                        in_code(LEAST_CYCLES));
    *cycle = cycle_of_waits(waiter, *cycle);
    return off;
}

APPROACH_WAY static double wrong_ticks(const struct waiter *waiter)
{
    const struct delay_lesson *lesson = &waiter->lesson;
    return beyond(lesson->slack_ticks, (double)lesson->taken_ticks - lesson->expected_ticks);
}

APPROACH_WAY int delay_was_contradicted(const struct waiter *waiter)
{
    const struct delay_lesson *lesson = &waiter->lesson;
    return (lesson->of != NULL) & (lesson->cycles > 0) & is_off(waiter, wrong_ticks(waiter));
}

/* One that was tried and was right: its code is near. */
APPROACH_WAY static void went_well(struct waiter *waiter, enum delay_code code)
{
    caution_went_well(code == DELAY_CODE_NEAR ? &waiter->far_code : &waiter->contradicted_run);
    if (code == DELAY_CODE_FETCHED && waiter->delay_fetched > DELAY_ASKED)
        waiter->delay_fetched = DELAY_RAN;
}

/* A calibration's delays count from nothing. */
APPROACH_WAY void delay_learn(struct waiter *waiter)
{
    const struct delay_lesson lesson = waiter->lesson;
    waiter->lesson.of = NULL;
    if (lesson.of == NULL || waiter->is_calibrating)
        return;
    double wrong = wrong_ticks(waiter);
    if (lesson.cycles == 0)
        lesson.of->fixed_ticks += believed(waiter, wrong);
    else if (!delay_follow(waiter, lesson.of, wrong, lesson.cycles, lesson.code))
        went_well(waiter, lesson.code);
}
