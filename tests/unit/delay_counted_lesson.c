/* SPDX-License-Identifier: MIT */
/* What short delays that only count teach, and when the loop is better. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "counting.h"

/* ---- what they teach ---------------------------------------------------------------------- */

/* One of 400 ns took so much longer than that. Returns what the next one takes more of the rest. */
static double learn(struct timebase_waiter *ours, double wrong_ns)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->counted.only = 0;
    waiter->counted_lesson.ns = 400;
    waiter->counted_lesson.taken_ticks = 800 - AFTER_TICKS + (int64_t)(wrong_ns / PERIOD_NS);
    double before = cycles_of(waiter, 400);
    timebase_delay_ns(ours, 400, 0, NULL);
    return before - cycles_of(waiter, 400);
}

static void it_follows_an_eighth_of_what_was_wrong(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_true(fabs(learn(ours, 4) - 4 * CYCLES_PER_NS / 8) < 1e-9);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_ONLY);
    assert_true(learn(ours, -4) < 0);
    waiter->counted_lesson.usual_ns = DELAY_COUNTED_USUALLY_NS;
    double most = waiter->counted.rate.cycles_per_ns;
    assert_true(fabs(learn(ours, 15) - most) < 1e-2);
    assert_true(fabs(learn(ours, -1000) + most) < 1e-2);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_FAR); /* the next one sooner */
}

/* Of one chain alone a part is its cycles'; where the clock was seen, nothing is. */
static void where_the_clock_was_seen_what_is_wrong_is_the_rest(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->counted.saw_clock = 1;
    learn(ours, 4);
    assert_true(fabs(waiter->counted.less_cycles - LESS_CYCLES - 4 * CYCLES_PER_NS / 8) < 1e-6);
    waiter->counted.less_cycles = LESS_CYCLES;
    waiter->counted.saw_clock = 0;
    learn(ours, 4);
    assert_true(fabs(waiter->counted.less_cycles - LESS_CYCLES) < 4 * CYCLES_PER_NS / 8 - 0.1);
}

/* A calibration may be wrong: the first lessons come sooner. */
static void the_first_lessons_come_sooner(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->counted_lesson.early_lessons = 2;
    for (int i = 0; i < 3; i++) {
        learn(ours, 0);
        assert_int_equal(waiter->counted.only, i < 2 ? DELAY_COUNTED_FAR : DELAY_COUNTED_ONLY);
    }
    assert_int_equal(waiter->counted_lesson.early_lessons, 0);
}

/* One in ten is held up, and by much: the others come as they should. */
static void what_is_late_now_and_then_makes_no_other_early(void **state)
{
    enum { LESSONS = 2000, TEN = 10 };
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    double off_ns = 6;
    (void)state;
    for (int i = 0; i < LESSONS; i++) {
        double wrong = off_ns + (i % TEN == 0 ? 15 : i % 2 ? 0.5 : -0.5);
        off_ns -= learn(ours, wrong) / waiter->counted.rate.cycles_per_ns;
        begin_choice(waiter);
    }
    assert_true(fabs(off_ns) < 0.5);
}

/* The core has another clock. */
static void eight_that_are_far_off_are_believed(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 1; i < 8; i++) {
        assert_true(learn(ours, 30) < 3);
        begin_choice(waiter);
    }
    assert_true(learn(ours, 40) > 50);
}

/* ---- or by the loop? ---------------------------------------------------------------------- */

static void assert_worse_is_left_to_the_loop(int64_t hot_ticks)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    int turns = 0;
    for (int i = 0; i < CHOICE_QUANTILES; i++)
        waiter->counted_lesson.choice.error_ticks[CHOICE_EXACT][i] = 35;
    learn(ours, 19);
    assert_true(waiter->counted.is_worse);
    stop_time(waiter);
    waiter->learnt.hot_ticks = hot_ticks;
    waiter->learnt.at_once_stamp_ticks = 1; /* the loop says nothing of itself */
    assert_int_equal(waiter->counted.only, 0);
    while (waiter->counted.is_worse && turns < 1000) {
        assert_false(is_counted(ours, 300, 0, NULL) && waiter->counted.is_worse);
        turns++;
    }
    assert_in_range(turns, 10, 300);
    assert_int_equal(waiter->counted.only, 1); /* nothing was learnt: one with a stamp is next */
    timebase_delay_ns(ours, 300, 0, NULL);
    assert_true(waiter->counted_lesson.ns == 300);
}

/* Of a series, and one after each pause. */
static void what_looks_worse_than_the_loop_is_left_to_it(void **state)
{
    (void)state;
    assert_worse_is_left_to_the_loop(INT64_MAX);
    assert_worse_is_left_to_the_loop(INT64_MIN);
}

/* By their stamps, where they have one. */
static void its_turns_say_how_good_the_loop_is(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    const double *known = waiter->counted_lesson.choice.error_ticks[CHOICE_LOOP];
    (void)state;
    waiter->learnt.at_once_rest_ticks = 1;
    waiter->delay_error_ticks = 100;
    delay_left_to_loop(waiter);
    assert_true(known[0] > 20);
    double before = known[0];
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    delay_left_to_loop(waiter);
    assert_true(known[0] == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_an_eighth_of_what_was_wrong),
        cmocka_unit_test(where_the_clock_was_seen_what_is_wrong_is_the_rest),
        cmocka_unit_test(the_first_lessons_come_sooner),
        cmocka_unit_test(what_is_late_now_and_then_makes_no_other_early),
        cmocka_unit_test(eight_that_are_far_off_are_believed),
        cmocka_unit_test(what_looks_worse_than_the_loop_is_left_to_it),
        cmocka_unit_test(its_turns_say_how_good_the_loop_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
