/* SPDX-License-Identifier: MIT */
/* What short delays teach by their readings, and when. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "our_runs.h"

/* After a run that its reading contradicts one delay is by the loop, then two, four ... 256. */
static void runs_that_are_contradicted_are_left_alone_for_ever_longer(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int turns = 1; turns < 1000; turns *= 2) {
        believe_runs(waiter, WRONG_ON_THE_WAY); /* none in a row: see below */
        assert_true(is_by_run(ours, turns % 3 == 1 ? 300 : 1000, 0));
        for (int left = turns < 256 ? turns : 256; left > 0; left--)
            assert_false(is_by_run(ours, 300, 0));
        waiter->delay_fetched = DELAY_RAN; /* see below */
    }
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, RIGHT);
        assert_true(is_by_run(ours, 300, 0));
    }
}

/*
 * By how much a delay moves what is believed of its way and its cycles together, where its reading
 * says as much. One that was held up before it began is late, and asked for again.
 */
static double moved_by(struct timebase_waiter *ours, enum delay_way way, double after_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    enum delay_way passes = way == DELAY_AFTER_PAUSE ? DELAY_BY_RUN : way;
    struct timebase_wait_result result, *told = way == DELAY_BY_LOOP ? &result : NULL;
    uint64_t ns = way == DELAY_BY_TWO_RUNS ? 1000 : 300;
    waiter->learnt.period_ns = 0.001; /* 300,000 ticks: emulators are slow */
    believe_runs(waiter, WRONG_AT_THE_END);
    waiter->vernier.step_ticks = 1e9;
    do {
        believe(waiter, passes, after_ticks);
        waiter->delay_fetched = DELAY_RAN;
        waiter->learnt.delay_cycle_ticks = cycle_ticks;
        waiter->contradicted_run = (struct caution){way == DELAY_BY_LOOP, 0};
        waiter->far_code = (struct caution){0};
    } while (timebase_delay_ns(ours, ns, 0, told) == 1);
    struct delay_lesson lesson = waiter->lesson;
    assert_ptr_equal(lesson.of, &waiter->learnt.delays[way][told != NULL]);
    double known = lesson.of->fixed_ticks, cycle = waiter->learnt.delay_cycle_ticks;
    assert_int_equal(delay_was_contradicted(waiter), way != DELAY_BY_LOOP);
    delay_learn(waiter);
    return lesson.of->fixed_ticks - known +
        lesson.cycles * (waiter->learnt.delay_cycle_ticks - cycle);
}

/* So is the reading between two runs, at once. */
static double between_moved_by(struct timebase_waiter *ours, double wrong_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->learnt.period_ns = 0.4;
    waiter->contradicted_run = (struct caution){0};
    waiter->delay_fetched = DELAY_RAN;
    believe_runs(waiter, WRONG_AT_THE_END);
    waiter->learnt.between[0].fixed_ticks = -wrong_ticks;
    assert_true(is_by_run(ours, 1000, 0));
    double cycles = (double)run.instructions;
    return waiter->learnt.between[0].fixed_ticks + wrong_ticks +
        cycles * (waiter->learnt.delay_cycle_ticks - cycle_ticks);
}

/* In small parts, or half of it where it was less, and never by more than one that was held up can
 * tell. */
static void all_ways_follow_their_readings(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    const double most = (1e9 + 8) / 64, early = (1e9 + 8) / 2;
    (void)state;
    for (int way = DELAY_BY_LOOP; way < DELAY_WAYS; way++) {
        if (way == DELAY_AFTER_PAUSE)
            keep_near(waiter_within(ours));
        assert_true(fabs(moved_by(ours, (enum delay_way)way, 1e12) - most) < 1);
        double less = way == DELAY_BY_LOOP ? most : early;
        assert_true(fabs(moved_by(ours, (enum delay_way)way, -1e12) + less) < 1);
    }
    keep_hot(waiter_within(ours), 1);
    assert_true(fabs(between_moved_by(ours, 1e12) - most) < 1);
    assert_true(fabs(between_moved_by(ours, -1e12) + early) < 1);
}

/* The core's clock has changed: then the loop need not have its turns. Shorter runs that are right
 * do not tell that it has not. */
static void four_in_a_row_that_are_contradicted_are_believed(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *learnt = &waiter->learnt.delays[DELAY_BY_RUN][0];
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    believe(waiter, DELAY_BY_RUN, 1e6);
    for (int i = 0; i < 4; i++) {
        assert_true(learnt->fixed_ticks < fixed_ticks[DELAY_BY_RUN] + 10);
        waiter->contradicted_run = (struct caution){0, 1};
        assert_true(is_by_run(ours, 300, 0));
        delay_learn(waiter);
        assert_int_equal(waiter->contradicted_run.left, i < 3 ? 2 : 0);
        assert_int_equal(waiter->contradicted_run.turns, 2);
        delay_follow(waiter, learnt, 0, 1, DELAY_CODE_HOT);
    }
    assert_true(learnt->fixed_ticks > fixed_ticks[DELAY_BY_RUN] + 1e5);
}

/* Of two runs the first may be right each time, and their end is not. */
static void the_first_of_two_does_not_begin_the_row_of_their_ends_anew(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *end = &waiter->learnt.delays[DELAY_BY_TWO_RUNS][0];
    (void)state;
    for (int measured = 0; measured < 2; measured++) {
        struct waiter_delay *first = &waiter->learnt.between[measured];
        believe_runs(waiter, WRONG_ON_THE_WAY);
        first->fixed_ticks = 100;
        for (int i = 0; i < 4; i++) {
            assert_int_equal(delay_follow(waiter, first, 1, 500, DELAY_CODE_HOT), 0);
            assert_int_equal(delay_follow(waiter, end, 1e6, 500, DELAY_CODE_HOT), 1);
        }
        assert_true(first->fixed_ticks < 110);
        assert_true(end->fixed_ticks > 1e5);
    }
}

/* What was in a row when all went well since is none any more. */
static void a_row_ends_when_all_has_gone_well(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *known = &waiter->learnt.delays[DELAY_BY_RUN][0];
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    for (int i = 0; i < 8; i++) {
        waiter->contradicted_run = (struct caution){0};
        delay_follow(waiter, known, 1e6, 500, DELAY_CODE_HOT);
    }
    assert_true(known->fixed_ticks < fixed_ticks[DELAY_BY_RUN] + 10);
}

/*
 * No neighbour makes a run shorter: half of it is believed at once, whatever code it was by, as far as
 * it is no other counter; and the next ones are tried. The loop has no turns for it.
 */
static void what_takes_less_than_was_known_is_believed_at_once(void **state)
{
    static const enum delay_code codes[] = {DELAY_CODE_HOT, DELAY_CODE_FETCHED, DELAY_CODE_NEAR};
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* a step of 26 */
    waiter->far_code = (struct caution){0};
    for (int i = 0; i < 9; i++) {
        struct waiter_delay known = {.fixed_ticks = 100};
        uint16_t turns = (uint16_t)(i / 3 * 5);
        waiter->contradicted_run = (struct caution){0, turns};
        waiter->delay_fetched = DELAY_RAN;
        assert_int_equal(delay_follow(waiter, &known, -32, 500, codes[i % 3]), 1);
        assert_true(known.fixed_ticks == 84);
        assert_int_equal(waiter->delay_fetched, DELAY_ASKED);
        assert_int_equal(delay_follow(waiter, &known, -1e12, 500, codes[i % 3]), 1);
        assert_true(known.fixed_ticks == 67);
        assert_int_equal(waiter->delay_fetched, DELAY_ASKED);
        assert_int_equal(waiter->contradicted_run.left, 0);
        assert_int_equal(waiter->contradicted_run.turns, turns);
        assert_true(caution_allows(&waiter->far_code));
    }
}

/* Whatever runs show beside a neighbour: the next ones are soon right without it. */
static void a_cycle_stays_near_that_of_waits(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay known = {.fixed_ticks = 100};
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < 100000; i++) {
            int is_long = i % 2;
            delay_follow(waiter, &known, is_long ? side * 25 : side * -25, is_long ? 3000 : 1000,
                         DELAY_CODE_HOT);
            assert_true(fabs(waiter->learnt.delay_cycle_ticks - cycle_ticks) < 0.04 * cycle_ticks);
        }
        assert_true(side * (waiter->learnt.delay_cycle_ticks - cycle_ticks) > 0.02 * cycle_ticks);
    }
}

static void one_that_is_right_begins_the_row_anew(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay known = {.fixed_ticks = 100};
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    for (int i = 0; i < DELAYS; i++) {
        int is_right = i % 4 == 3;
        assert_int_equal(delay_follow(waiter, &known, is_right ? 1 : 1e6, 500, DELAY_CODE_HOT),
                         !is_right);
    }
    assert_true(known.fixed_ticks < 100 + DELAYS);
}

/* It was not quite near: that says nothing of neighbours. */
static void runs_after_a_pause_are_left_alone_by_themselves(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int is_far = 0; is_far < 2; is_far++) {
        believe_runs(waiter, WRONG_ON_THE_WAY);
        waiter->far_code = (struct caution){0};
        keep_near(waiter);
        if (is_far)
            keep_hot(waiter, 0); /* not at all */
        timebase_delay_ns(ours, 300, 0, NULL);
        delay_learn(waiter);
        assert_int_equal(waiter->far_code.left, 1);
        assert_true(caution_allows(&waiter->contradicted_run));
        keep_near(waiter);
        waiter->delay_touched_ticks = -1;
        timebase_delay_ns(ours, 300, 0, NULL);
        assert_true(waiter->delay_touched_ticks == -1);
        timebase_delay_ns(ours, 300, 0, NULL);
        assert_true(waiter->delay_touched_ticks >= 0);
    }
}

/* Not behind its own reading, which would make it longer; but once, before anything else. */
static void a_delay_teaches_when_the_next_one_is_called(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_AT_THE_END);
    believe(waiter, DELAY_BY_RUN, 1e12);
    assert_true(is_by_run(ours, 300, 0));
    assert_true(waiter->learnt.delays[DELAY_BY_RUN][0].fixed_ticks == fixed_ticks[DELAY_BY_RUN]);
    assert_true(caution_allows(&waiter->contradicted_run));
    assert_false(is_by_run(ours, 300, 0));
    assert_true(waiter->learnt.delays[DELAY_BY_RUN][0].fixed_ticks > fixed_ticks[DELAY_BY_RUN]);
    assert_int_equal(waiter->contradicted_run.turns, 1);
    assert_int_equal(delay_was_contradicted(waiter), 0); /* a loop */
    delay_learn(waiter);
    delay_learn(waiter);
    assert_int_equal(waiter->contradicted_run.turns, 1);
}

/* One that is shorter than its way takes is late, which says nothing of what the way takes. */
static void a_late_delay_teaches_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *learnt = &waiter->learnt.delays[DELAY_BY_LOOP][1];
    struct timebase_wait_result result;
    (void)state;
    learnt->fixed_ticks = 1e6;
    assert_int_equal(timebase_delay_ns(ours, 300, TIMEBASE_WAIT_STEADY, &result), 1);
    assert_null(waiter->lesson.of);
    assert_true(learnt->fixed_ticks == 1e6);
    assert_true(result.late && result.mechanism == TIMEBASE_MECHANISM_NONE);
}

/*
 * What is learnt to take too long for a run takes no more than it has just taken. It is no shorter
 * for that: the loop has the rest.
 */
static void a_delay_without_time_for_a_run_shows_what_that_takes(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->vernier.step_ticks = step_ticks;
    waiter->learnt.period_ns = 0.0001; /* 3,000,000 ticks: emulators are slow */
    for (int measured = 0; measured < 2; measured++) {
        struct waiter_delay *learnt = &waiter->learnt.delays[DELAY_BY_RUN][measured];
        struct timebase_wait_result result;
        uint64_t start;
        do { /* one that was held up before its loop is late, and says nothing */
            *learnt = (struct waiter_delay){.fixed_ticks = 1e7};
            waiter->contradicted_run = (struct caution){0};
            start = timebase_ticks_ordered();
        } while (timebase_delay_ns(ours, 300, 0, measured ? &result : NULL) == 1);
        double taken = (double)(timebase_ticks_ordered() - start);
        assert_true(taken >= ticks_asked(waiter, 300) - 119 - step_ticks);
        assert_true(learnt->fixed_ticks >= step_ticks && learnt->fixed_ticks < 3e6);
        assert_true(caution_allows(&waiter->contradicted_run));
        assert_true(!measured || result.mechanism == TIMEBASE_MECHANISM_LOOP);
    }
    assert_int_equal(run.calls, 0);
}

/* It is so: then the loop has the next turns. After a pause that says nothing of others. */
static void where_there_is_no_time_for_runs_the_loop_has_turns(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *learnt = &waiter->learnt.delays[DELAY_BY_RUN][0];
    (void)state;
    for (int is_near = 0; is_near < 2; is_near++) {
        believe_runs(waiter, RIGHT);
        if (is_near)
            keep_near(waiter);
        waiter->contradicted_run = waiter->far_code = (struct caution){0};
        learnt->fixed_ticks = waiter->learnt.delays[DELAY_AFTER_PAUSE][0].fixed_ticks = 1e6;
        assert_false(is_by_run(ours, 300, 0));
        assert_true(learnt->fixed_ticks == 1e6);
        assert_int_equal(waiter->contradicted_run.left, !is_near);
        assert_int_equal(waiter->far_code.left, is_near);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_are_contradicted_are_left_alone_for_ever_longer),
        cmocka_unit_test(all_ways_follow_their_readings),
        cmocka_unit_test(four_in_a_row_that_are_contradicted_are_believed),
        cmocka_unit_test(the_first_of_two_does_not_begin_the_row_of_their_ends_anew),
        cmocka_unit_test(a_row_ends_when_all_has_gone_well),
        cmocka_unit_test(what_takes_less_than_was_known_is_believed_at_once),
        cmocka_unit_test(a_cycle_stays_near_that_of_waits),
        cmocka_unit_test(one_that_is_right_begins_the_row_anew),
        cmocka_unit_test(runs_after_a_pause_are_left_alone_by_themselves),
        cmocka_unit_test(a_delay_teaches_when_the_next_one_is_called),
        cmocka_unit_test(a_late_delay_teaches_nothing),
        cmocka_unit_test(a_delay_without_time_for_a_run_shows_what_that_takes),
        cmocka_unit_test(where_there_is_no_time_for_runs_the_loop_has_turns),
    };
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
