/* SPDX-License-Identifier: MIT */
/* Short delays that try a run by code which was only asked for: how they end, what that says. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/delay/delay_asks.h"

#include "our_runs.h"

enum { ONE_NS = 300, TWO_NS = 1000 };

static struct timebase_waiter *waiter_that_has_asked(enum belief belief)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    believe_runs(waiter, belief);
    waiter->delay_fetched = DELAY_ASKED;
    return ours;
}

static double ticks_taken(struct timebase_waiter *ours, uint64_t ns,
                          struct timebase_wait_result *result)
{
    run.calls = 0;
    run.instructions = 0;
    uint64_t start = timebase_ticks_ordered();
    assert_in_range(timebase_delay_ns(ours, ns, 0, result), 0, 1);
    return (double)(timebase_ticks_ordered() - start);
}

/* So long is one by our runs, which take no time at all, where the loop ends it. */
static double least_by_loop(const struct waiter *waiter, uint64_t ns)
{
    return ticks_asked(waiter, ns) - fixed_ticks[DELAY_BY_LOOP] - 10 - step_ticks;
}

/* All of it is executed, somewhat shorter. */
static void what_is_tried_ends_by_the_loop(void **state)
{
    (void)state;
    for (uint64_t ns = 200; ns < 1600; ns += 100) {
        struct timebase_waiter *ours = waiter_that_has_asked(RIGHT);
        const struct waiter *waiter = waiter_within(ours);
        int way = ns < 600 ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS;
        double all = (ticks_asked(waiter, ns) - fixed_ticks[way]) / cycle_ticks;
        assert_true(ticks_taken(ours, ns, NULL) >= least_by_loop(waiter, ns));
        assert_int_equal(run.calls, way == DELAY_BY_TWO_RUNS ? 2 : 1);
        assert_true(fabs((double)run.instructions - all * 5 / 8) <= 2);
        assert_int_equal(waiter->delay_fetched, DELAY_ASKED + 1);
    }
}

/* Its reading is right: its code is near, and nobody else uses the core. */
static void one_that_was_right_is_enough(void **state)
{
    (void)state;
    for (uint64_t ns = ONE_NS; ns <= TWO_NS; ns += TWO_NS - ONE_NS) {
        struct timebase_waiter *ours = waiter_that_has_asked(RIGHT);
        struct waiter *waiter = waiter_within(ours);
        ticks_taken(ours, ns, NULL);
        assert_int_equal(waiter->lesson.code, DELAY_CODE_FETCHED);
        waiter->lesson.slack_ticks = 1e15; /* however long it was held up */
        ticks_taken(ours, ns, NULL);
        assert_int_equal(waiter->lesson.code, DELAY_CODE_HOT);
        assert_int_equal(waiter->delay_fetched, DELAY_RAN);
        double fixed = fixed_ticks[ns < 600 ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS];
        double all = (ticks_asked(waiter, ns) - fixed) / cycle_ticks;
        assert_true(fabs((double)run.instructions - all) <= 1);
    }
}

/*
 * It was late by what was not there in time: so are the next ones tried. But the last of so many
 * were by code that had been executed.
 */
static void some_in_vain_are_a_neighbour(void **state)
{
    (void)state;
    for (int on_the_way = 0; on_the_way < 2; on_the_way++) {
        uint64_t ns = on_the_way ? TWO_NS : ONE_NS;
        struct timebase_waiter *ours = waiter_that_has_asked(WRONG_ON_THE_WAY);
        struct waiter *waiter = waiter_within(ours);
        double known = waiter->learnt.delays[DELAY_BY_RUN][0].fixed_ticks;
        double between = waiter->learnt.between[0].fixed_ticks;
        for (int tries = 0; tries < DELAY_TRIES; tries++) {
            assert_true(caution_allows(&waiter->contradicted_run));
            assert_true(ticks_taken(ours, ns, NULL) >= least_by_loop(waiter, ns));
            assert_int_equal(run.calls, 1);
        }
        delay_learn(waiter);
        assert_int_equal(waiter->contradicted_run.left, 1);
        assert_true(waiter->learnt.delays[DELAY_BY_RUN][0].fixed_ticks == known);
        assert_true(waiter->learnt.between[0].fixed_ticks == between);
        assert_int_equal(waiter->far_ends.row.count + waiter->far_firsts.row.count, 0);
    }
}

/* Behind turns of the loop, too, as what a run needs has gone meanwhile. */
static void after_turns_of_the_loop_it_is_asked_for_and_tried(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->contradicted_run = (struct caution){1, 1};
    waiter->learnt.period_ns = 0.001; /* 300,000 ticks: emulators are slow */
    for (int delays = 0; waiter->delay_fetched != DELAY_ASKED; delays++) {
        assert_true(delays < 2 * DELAY_ASKED);
        assert_false(is_by_run(ours, ONE_NS, 0));
    }
    assert_true(is_by_run(ours, ONE_NS, 0));
    assert_int_equal(waiter->lesson.code, DELAY_CODE_FETCHED);
}

/* It would be late by that; or later. */
static void one_that_has_come_late_asks_for_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->delay_fetched = 0;
    uint64_t now = timebase_ticks();
    waiter->delay_called_ticks = now - 30000;
    assert_in_range(delay_asks_meanwhile(waiter, ONE_NS, now + 20000, 1), 0, 1);
    assert_int_equal(waiter->delay_fetched, 0);
    waiter->learnt.at_once_ticks = 1e12;
    assert_int_equal(timebase_delay_ns(ours, ONE_NS, 0, NULL), 1);
    assert_int_equal(waiter->delay_fetched, 0);
}

/* It is a run: the loop's end takes longer than there is left for instructions. */
static void what_has_no_time_for_the_loop_as_well_is_a_run(void **state)
{
    (void)state;
    for (int has_time = 0; has_time < 2; has_time++) {
        struct timebase_waiter *ours = waiter_that_has_asked(RIGHT);
        struct waiter *waiter = waiter_within(ours);
        double all = (ticks_asked(waiter, ONE_NS) - fixed_ticks[DELAY_BY_RUN]) / cycle_ticks;
        double part = has_time ? 0.5 : 0.76; /* more than 3/8, than 3/4 */
        waiter->learnt.last_ticks = (int64_t)(all * part * cycle_ticks);
        ticks_taken(ours, ONE_NS, NULL);
        assert_true(fabs((double)run.instructions - (has_time ? all / 4 : all)) <= 2);
        assert_true(fabs(waiter->lesson.cycles - (double)run.instructions) <= 1);
        assert_int_equal(waiter->lesson.slack_ticks > 0, has_time);
    }
}

/* As it is shorter than usual it may be off by as much as a cycle is. */
static void what_is_off_by_no_more_than_its_cycles_teaches_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_that_has_asked(RIGHT);
    struct waiter *waiter = waiter_within(ours);
    struct delay_lesson lesson;
    (void)state;
    ticks_taken(ours, ONE_NS, NULL);
    lesson = waiter->lesson;
    double all = (ticks_asked(waiter, ONE_NS) - fixed_ticks[DELAY_BY_RUN]) / cycle_ticks;
    assert_true(fabs(lesson.slack_ticks - all * 3 / 8 * cycle_ticks * 0.03) < 0.1);
    assert_true(fabs(lesson.expected_ticks - fixed_ticks[DELAY_BY_RUN] -
                     lesson.cycles * cycle_ticks) < 1);
    for (int side = -1; side <= 1; side += 2) {
        double known = lesson.of->fixed_ticks;
        lesson.expected_ticks = 1000;
        lesson.slack_ticks = 20;
        lesson.taken_ticks = 1000 + side * 20;
        waiter->lesson = lesson;
        delay_learn(waiter);
        assert_true(lesson.of->fixed_ticks == known);
        lesson.taken_ticks += side * 64;
        waiter->lesson = lesson;
        delay_learn(waiter);
        assert_true(side * (lesson.of->fixed_ticks - known) > 0);
    }
}

/* What it tells is its own end, the loop's; its run by code that may be far says nothing. */
static void one_with_a_result_tells_of_the_loop(void **state)
{
    (void)state;
    for (int i = RIGHT; i <= 2 * WRONG_ON_THE_WAY + 1; i++) {
        uint64_t ns = i % 2 ? ONE_NS : TWO_NS;
        struct timebase_waiter *ours = waiter_that_has_asked((enum belief)(i / 2));
        struct waiter *waiter = waiter_within(ours);
        struct timebase_wait_result result;
        waiter->delay_fetched = 0; /* nothing was asked for */
        for (int tries = 0; tries < DELAY_TRIES; tries++) {
            ticks_taken(ours, ns, &result);
            assert_true((double)(result.event_ticks - waiter->delay_called_ticks) >=
                        least_by_loop(waiter, ns));
            assert_true(run.calls > 0);
            assert_int_equal(result.mechanism,
                             result.late ? TIMEBASE_MECHANISM_NONE : TIMEBASE_MECHANISM_LOOP);
            assert_false(result.disturbance & TIMEBASE_DISTURBED_SHARED);
            assert_int_equal(waiter->delay_fetched, DELAY_ASKED + 1 + tries);
            waiter->lesson.of = NULL;
        }
    }
}

/* That is how a neighbour's end is seen: until what is known is right again they are tried. */
static void a_run_that_took_less_is_followed_by_one_that_is_tried(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* a step of 26 */
    believe(waiter, DELAY_BY_RUN, -1e12);   /* its reading says less */
    assert_true(ticks_taken(ours, ONE_NS, NULL) >= 0);
    assert_int_equal(waiter->lesson.code, DELAY_CODE_HOT);
    ticks_taken(ours, ONE_NS, NULL);
    assert_int_equal(waiter->lesson.code, DELAY_CODE_FETCHED);
    assert_true(waiter->lesson.slack_ticks > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_tried_ends_by_the_loop),
        cmocka_unit_test(one_that_was_right_is_enough),
        cmocka_unit_test(some_in_vain_are_a_neighbour),
        cmocka_unit_test(after_turns_of_the_loop_it_is_asked_for_and_tried),
        cmocka_unit_test(one_that_has_come_late_asks_for_nothing),
        cmocka_unit_test(what_has_no_time_for_the_loop_as_well_is_a_run),
        cmocka_unit_test(what_is_off_by_no_more_than_its_cycles_teaches_nothing),
        cmocka_unit_test(one_with_a_result_tells_of_the_loop),
        cmocka_unit_test(a_run_that_took_less_is_followed_by_one_that_is_tried),
    };
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
