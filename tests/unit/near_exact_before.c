/* SPDX-License-Identifier: MIT */
/* An exact wait at its call: what becomes of the one before it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/outcome.h"
#include "near_exact.h"

/* It was asked for 400 before its target, and had its first poll so long before that. */
static void one_before(int32_t first_poll)
{
    begin_anew();
    waiter.unsettled = LEFT_TO_COUNT;
    waiter.last = (struct wait){.waiter = &waiter, .exact = 1, .is_near_exact = 1};
    waiter.last.entered_ticks = NOW - 1000;
    waiter.last.ticks = NOW - 600;
    waiter.approach.polls = 2;
    waiter.approach.poll_ticks[0] = -first_poll;
}

static void it_is_counted_and_learnt_from_where_there_is_time(void **state)
{
    (void)state;
    one_before(250);
    run(NEEDS_LEARNING - 1);
    assert_int_equal(waiter.waits, 1);
    assert_false(waiter.last.has_learnt);
    assert_true(waiter.learnt.near_exact_learning.ticks == NEEDS_LEARNING - 0.5);
    one_before(250);
    run(NEEDS_LEARNING);
    assert_int_equal(waiter.waits, 1);
    assert_true(waiter.last.has_learnt);
    begin_anew();
    run(NEEDS);
    assert_int_equal(waiter.waits, 0);
}

/* Of few polls each one counts. */
static void by_a_counter_that_steps_it_is_learnt_from_where_polls_are_left(void **state)
{
    enum { FEW = 4, PERIOD = 50, NEEDS_POLLS = NEEDS_LEARNING + FEW * PERIOD };
    (void)state;
    for (int64_t left = NEEDS_POLLS - 1; left <= NEEDS_POLLS; left++) {
        one_before(250);
        step();
        run(left);
        assert_int_equal(waiter.last.has_learnt, left == NEEDS_POLLS);
    }
}

/* Of one whose polls agreed, with nothing to say but what is set here. */
static void count_one(int32_t overdue_cycles, uint32_t gap_ticks, int64_t width_ticks)
{
    one_before(250);
    waiter.approach.even_polls = 2;
    waiter.approach.overdue_cycles = overdue_cycles;
    waiter.approach.gap_ticks = gap_ticks;
    waiter.approach.width_ticks = width_ticks;
    waiter.disturbance = 1; /* of the wait before that */
    run(NEEDS);
    assert_int_equal(waiter.waits, 1);
}

static void there_may_be_something_to_say_of_it(void **state)
{
    enum { GAP = 301, CONTRADICTED = -3 * (1 << APPROACH_TICK_BITS) };
    (void)state;
    count_one(0, 0, 0);
    assert_true(waiter.late == 0 && waiter.disturbed == 0 && waiter.disturbance == 0);
    count_one(1, 0, 0);
    assert_true(waiter.late == 1 && waiter.disturbed == 0);
    count_one(0, GAP, 0);
    assert_int_equal(waiter.disturbance, TIMEBASE_DISTURBED_GAP);
    count_one(0, 0, CONTRADICTED);
    assert_int_equal(waiter.disturbance, TIMEBASE_DISTURBED_UNEVEN);
    assert_int_equal(waiter.disturbed, 1);
    one_before(250); /* its polls did not agree */
    run(NEEDS);
    assert_true(waiter.uneven_share > 0);
}

/* What others' polls made suspect is so no longer. */
static void polls_that_agreed_speak_for_the_next(void **state)
{
    (void)state;
    one_before(250);
    waiter.approach.even_polls = 2;
    waiter.uneven_share = 0.5;
    waiter.uneven.left = 3;
    run(NEEDS);
    assert_true(waiter.uneven_share < 0.5);
    assert_true(caution_allows(&waiter.uneven));
}

/* With a result that says so it came to its loop as expected; it was no exact one for all that. */
static void one_that_ended_by_the_loop_was_none(void **state)
{
    (void)state;
    one_before(250);
    waiter.approach.even_polls = 2;
    waiter.approach.run = APPROACH_NO_RUN;
    waiter.last.ended_by_loop = 1;
    outcome_count(&waiter);
    assert_false(waiter.last.exact);
    assert_true(waiter.last.is_unsteady);
    assert_true(waiter.disturbance & TIMEBASE_DISTURBED_SHARED);
}

static int choice_learns_of(int late, int is_cold)
{
    one_before(250);
    step();
    waiter.last.is_cold = is_cold;
    waiter.approach.overdue_cycles = late;
    const struct choice known = waiter.choice;
    outcome_settle_open(&waiter);
    return memcmp(&waiter.choice, &known, sizeof(known)) != 0;
}

/* What is late by code that is not near is left alone as such. It says nothing of exact waits. */
static void by_a_counter_that_steps_a_late_one_by_cold_code_is_no_bad_one(void **state)
{
    (void)state;
    assert_true(choice_learns_of(0, 0));
    assert_true(choice_learns_of(1, 0));
    assert_true(choice_learns_of(0, 1));
    assert_false(choice_learns_of(1, 1));
    assert_false(caution_allows(&waiter.cold));
}

static int leaves_turns_alone(int late_ticks)
{
    one_before(250);
    waiter.tried_ticks = waiter.last.ticks;
    waiter.last.is_cold = 1;
    waiter.approach.overdue_cycles = late_ticks * CYCLE_OF_4;
    outcome_count(&waiter);
    return !caution_allows(&waiter.tried_cold);
}

/* One in time whose stamp contradicts what was believed by much. */
static int speaks_against_cold_ones(uint64_t tried_ticks)
{
    one_before(250);
    waiter.tried_ticks = tried_ticks;
    waiter.last.is_cold = 1;
    waiter.approach.event_ticks = waiter.last.ticks + 1000;
    outcome_settle_open(&waiter);
    return !caution_allows(&waiter.cold);
}

static void a_trial_that_is_off_speaks_against_none(void **state)
{
    (void)state;
    assert_true(speaks_against_cold_ones(NOW)); /* it was none */
    assert_false(speaks_against_cold_ones(NOW - 600));
}

/* It costs more than those behind it gain. */
static void by_a_fine_counter_a_trial_that_was_late_by_much_is_rarer(void **state)
{
    enum { MOST = 100 };
    (void)state;
    assert_true(leaves_turns_alone(MOST));
    assert_int_equal(waiter.tried_ticks, 0); /* it has been judged */
    assert_true(caution_allows(&waiter.cold)); /* and says nothing of others */
    assert_false(leaves_turns_alone(MOST - 1));
    one_before(250);
    waiter.tried_ticks = NOW; /* another one */
    waiter.approach.overdue_cycles = MOST * CYCLE_OF_4;
    outcome_count(&waiter);
    assert_true(caution_allows(&waiter.tried_cold));
}

/* Of a call with a result, before the call returned. */
static void one_that_has_been_counted_teaches_all_the_same(void **state)
{
    (void)state;
    one_before(250);
    waiter.unsettled = LEFT_TO_LEARN;
    run(NEEDS_LEARNING);
    assert_int_equal(waiter.waits, 0);
    assert_true(waiter.last.has_learnt);
    one_before(250);
    waiter.unsettled = LEFT_TO_LEARN;
    waiter.uses = 200;
    assert_false(is_due(NEEDS));
    assert_int_equal(waiter.unsettled, NOTHING_LEFT);
}

static void by_code_that_is_not_near_nothing_is_learnt(void **state)
{
    (void)state;
    one_before(250);
    waiter.exact_ticks = NOW - HOT;
    run(NEEDS_LEARNING);
    assert_int_equal(waiter.waits, 1);
    assert_false(waiter.last.has_learnt);
    assert_true(waiter.last.is_cold);
}

/* Its first poll came 150 behind its call, and behind that comes a tail of 100. */
static void what_it_needed_is_from_its_call_to_its_first_poll_and_the_tail(void **state)
{
    (void)state;
    one_before(250);
    run(NEEDS);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS - 1);
    one_before(400 - 201);
    run(NEEDS);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS + 15);
}

/* If none of 128 uses has had the time, the next one learns, and is left to the loop. */
static void what_never_has_the_time_to_learn_does_without(void **state)
{
    enum { MANY = 128 };
    (void)state;
    for (unsigned uses = MANY - 1; uses <= MANY; uses++) {
        int is_turn = uses == MANY;
        one_before(250);
        waiter.learning_uses = 1000;
        waiter.uses = 1000 + uses;
        assert_int_equal(is_due(NEEDS), !is_turn);
        assert_int_equal(waiter.waits, is_turn);
        assert_int_equal(waiter.unsettled, is_turn ? NOTHING_LEFT : LEFT_TO_COUNT);
        assert_true(is_due(NEEDS));
        waiter.unsettled = LEFT_TO_COUNT;
        waiter.learning_uses = 0;
        waiter.last.is_near_exact = 0; /* the stages see to it */
        assert_true(is_due(NEEDS));
    }
}

/* Each kind of such waits has a need of its own. */
static void need_changes_behind(int has_learnt, int is_cold, const struct waiter_need *changes)
{
    const struct waiter_learnt *learnt = &waiter.learnt;
    one_before(10);
    waiter.last.entered_ticks = NOW - 2000;
    waiter.last.has_learnt = has_learnt;
    waiter.last.is_cold = is_cold;
    run(NEEDS);
    assert_int_equal(learnt->near_exact_needs[EVENT_RETURNS].ticks > NEEDS,
                     changes == &learnt->near_exact_needs[EVENT_RETURNS]);
    assert_int_equal(learnt->near_exact_learning.ticks > NEEDS_LEARNING,
                     changes == &learnt->near_exact_learning);
    assert_int_equal(learnt->near_exact_cold.ticks > NEEDS_COLD,
                     changes == &learnt->near_exact_cold);
}

static void each_kind_has_its_need(void **state)
{
    (void)state;
    need_changes_behind(0, 0, &waiter.learnt.near_exact_needs[EVENT_RETURNS]);
    need_changes_behind(1, 0, &waiter.learnt.near_exact_learning);
    need_changes_behind(0, 1, &waiter.learnt.near_exact_cold);
}

static double need_behind(int is_near_exact, uint32_t polls)
{
    one_before(10);
    waiter.last.is_near_exact = is_near_exact;
    waiter.approach.polls = polls;
    run(NEEDS);
    return waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks;
}

static void others_say_nothing_of_that(void **state)
{
    (void)state;
    assert_true(need_behind(1, 1) > NEEDS);
    assert_true(need_behind(0, 1) == NEEDS);
    assert_true(need_behind(1, APPROACH_VERNIER) > NEEDS);
    assert_true(need_behind(1, APPROACH_VERNIER + 1) == NEEDS);
}

/* From the last of these on it takes as long however far ahead the wait was asked for. */
static void what_it_needed_behind_rehearsals_is_known_apart(void **state)
{
    enum { FIRST_POLL = 250 };
    (void)state;
    one_before(FIRST_POLL);
    waiter.learnt.near_rehearsed = need(NEEDS);
    waiter.last.near_rehearsals = 3;
    waiter.last.near_rehearsed_ticks = waiter.last.ticks - FIRST_POLL - NEEDS; /* and a tail */
    run(NEEDS);
    assert_true(waiter.learnt.near_rehearsed.ticks > NEEDS);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_counted_and_learnt_from_where_there_is_time),
        cmocka_unit_test(by_a_counter_that_steps_it_is_learnt_from_where_polls_are_left),
        cmocka_unit_test(what_it_needed_is_from_its_call_to_its_first_poll_and_the_tail),
        cmocka_unit_test(there_may_be_something_to_say_of_it),
        cmocka_unit_test(polls_that_agreed_speak_for_the_next),
        cmocka_unit_test(one_that_ended_by_the_loop_was_none),
        cmocka_unit_test(by_a_counter_that_steps_a_late_one_by_cold_code_is_no_bad_one),
        cmocka_unit_test(by_a_fine_counter_a_trial_that_was_late_by_much_is_rarer),
        cmocka_unit_test(a_trial_that_is_off_speaks_against_none),
        cmocka_unit_test(one_that_has_been_counted_teaches_all_the_same),
        cmocka_unit_test(by_code_that_is_not_near_nothing_is_learnt),
        cmocka_unit_test(what_never_has_the_time_to_learn_does_without),
        cmocka_unit_test(each_kind_has_its_need),
        cmocka_unit_test(others_say_nothing_of_that),
        cmocka_unit_test(what_it_needed_behind_rehearsals_is_known_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
