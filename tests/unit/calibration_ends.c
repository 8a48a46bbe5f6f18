/* SPDX-License-Identifier: MIT */
/*
 * What ways to end differ by, while something makes all of them later and later: rehearsals are the
 * test's, so nothing of that depends on the machine. And what a reading adds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/calibration/calibration_calls.h"
#include "timing/calibration/calibration_ends.h"
#include "timing/stages/rehearsal.h"
#include "waiting.h"

enum { LATER = 40, STAMP = 60, STEP = 20, NEARLY = 3, UNPREDICTED = 9 };

static const double errors[2][EVENT_WAYS] = {{0, -7, 90}, {0, 2, 80}};
static double later_ticks; /* each one than the one before */
static unsigned rehearsals;
static unsigned told_otherwise; /* than what they are */

/* An even share of each part of a step: as a loop's last poll comes. */
static double part_of_a_step(void)
{
    enum { PARTS = 8 };
    return ((double)(rehearsals * 3 % PARTS) + 0.5) / PARTS * STEP - STEP / 2;
}

struct rehearsal __wrap_rehearsal_near(struct waiter *waiter, struct rehearsal_plan plan);
struct rehearsal __wrap_rehearsal_near(struct waiter *waiter, struct rehearsal_plan plan)
{
    int is_by_run = plan.exact && waiter->calibrated_end != END_BY_LOOP;
    double by_loop = is_by_run ? 0 : part_of_a_step();
    double end = errors[plan.exact][plan.way];
    end += waiter->calibrated_end == END_UNPREDICTED ? UNPREDICTED : 0;
    told_otherwise += plan.way == EVENT_TELLS && waiter->last.exact != is_by_run;
    rehearsals++;
    return (struct rehearsal){.error_ticks = end + by_loop + later_ticks * rehearsals,
                              .stamp_ticks = STAMP + end + by_loop,
                              .is_even = 1,
                              .is_sound = 1};
}

static void forget_nothing(void)
{
}

static const struct waiter_learnt *learnt_while_all_get_later(double ticks)
{
    struct waiter *waiter = waiter_within(the_waiter());
    later_ticks = ticks;
    rehearsals = told_otherwise = 0;
    waiter->learnt.exact = 1;
    waiter->vernier.step_ticks = STEP; /* no error is so large that it does not count */
    waiter->ways.forget_returns = forget_nothing;
    calibrate_ends(waiter);
    return &waiter->learnt;
}

static void check_exits(const struct waiter_learnt *learnt)
{
    for (int exact = 0; exact < 2; exact++)
        for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
            assert_true(fabs(learnt->exit_ticks[exact][way] - errors[exact][way]) < NEARLY);
}

static void ways_differ_by_what_they_do(void **state)
{
    (void)state;
    check_exits(learnt_while_all_get_later(0));
}

/* What is told of a run takes longer: beside a neighbour all results were 5 ns late. */
static void one_by_a_run_tells_of_a_run(void **state)
{
    (void)state;
    learnt_while_all_get_later(0);
    assert_int_equal(told_otherwise, 0);
}

/* By LATER ticks from the first rehearsal of a way to the last: the ways take turns. */
static void nor_by_more_while_all_of_them_get_later(void **state)
{
    (void)state;
    check_exits(learnt_while_all_get_later(LATER / (3.0 * 128)));
}

/* The mean of the better part of them would be too small. */
static void a_loop_ends_in_the_middle_of_a_step(void **state)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    const struct waiter_learnt *learnt = learnt_while_all_get_later(0);
    for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++)
        assert_true(fabs(learnt->plain_stamp_ticks[way] - STAMP) < 0.5);
    if (!waiter_has_vernier(waiter))
        return;
    enum event_way ways = waiter_ends_behind(waiter) ? EVENT_WAYS : EVENT_CALLED + 1;
    for (enum event_way way = EVENT_CALLED; way < ways; way++) {
        assert_true(fabs(learnt->loop_bias_ticks[way] - errors[1][way]) < 0.5);
        assert_true(fabs(learnt->loop_stamp_ticks[way] - STAMP - errors[1][way]) < 0.5);
    }
}

/* Where the counter's steps are fine: elsewhere it is lost in them. */
static void a_return_that_is_not_predicted_comes_later(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    int readings = waiter->vernier.readings;
    double period_ns = waiter->learnt.period_ns;
    (void)state;
    waiter->vernier.readings = 1;
    waiter->learnt.period_ns = 1;
    const struct waiter_learnt *learnt = learnt_while_all_get_later(0);
    double expected = waiter_ends_behind(waiter) ? UNPREDICTED : 0;
    for (enum event_way way = EVENT_RETURNS; way < EVENT_WAYS; way++)
        assert_true(fabs(learnt->unpredicted_ticks[way] - expected) < 0.5);
    assert_true(learnt->unpredicted_ticks[EVENT_CALLED] == 0);
    assert_int_equal(waiter->calibrated_end, END_BY_RUN);
    waiter->vernier.readings = readings;
    waiter->learnt.period_ns = period_ns;
}

/* What a fine reading's call takes: a neighbour makes it longer, nothing makes it shorter. */
static double reading_behind(double known_ticks)
{
    struct waiter *waiter = waiter_within(the_waiter());
    waiter->learnt.reading_ticks = known_ticks;
    calibrate_reading(waiter);
    return waiter->learnt.reading_ticks;
}

static void of_readings_the_least_counts(void **state)
{
    const double least_ticks = 1e-9, most_ticks = 1e9;
    (void)state;
    double found = reading_behind(0);
    assert_true(found >= 0);
    assert_true(reading_behind(least_ticks) == least_ticks);
    double later = reading_behind(most_ticks);
    assert_true(later == most_ticks || (later > 0 && later < most_ticks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_differ_by_what_they_do),
        cmocka_unit_test(one_by_a_run_tells_of_a_run),
        cmocka_unit_test(nor_by_more_while_all_of_them_get_later),
        cmocka_unit_test(a_loop_ends_in_the_middle_of_a_step),
        cmocka_unit_test(a_return_that_is_not_predicted_comes_later),
        cmocka_unit_test(of_readings_the_least_counts),
    };
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
