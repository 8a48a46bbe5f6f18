/* SPDX-License-Identifier: MIT */
/* An exact wait at its call that no other was soon before. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/near_afresh.h"
#include "near_exact.h"

enum { NEEDS_AFRESH = 2500, STAGES_NEED = 12000, REHEARSAL = 200, REHEARSED = 300 };

/* Others' code was executed since. */
static void begin(void)
{
    begin_anew();
    waiter.approach.event_ticks = waiter.hurried_ticks = waiter.exact_ticks = NOW - HOT - 1;
    waiter.learnt.afresh_need = need(NEEDS_AFRESH);
    waiter.learnt.cold_ticks = STAGES_NEED;
    waiter.learnt.near_rehearsal_ticks = REHEARSAL;
    waiter.learnt.near_rehearsed = need(REHEARSED);
    calibrated_here(&waiter);
}

/* By a counter that steps, or by one that does not. */
static void begin_by(int stepped)
{
    begin();
    if (stepped)
        step();
}

static void it_is_due_where_the_stages_have_no_time_and_it_has(void **state)
{
    (void)state;
    begin();
    assert_false(is_due(NEEDS_AFRESH));
    assert_true(is_due(NEEDS_AFRESH + 1));
    assert_true(is_due(STAGES_NEED - 1));
    assert_false(is_due(STAGES_NEED));
}

static void it_is_not_for_what_only_the_stages_do(void **state)
{
    const unsigned may_have = TIMEBASE_WAIT_STEADY | TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE;
    (void)state;
    begin();
    for (unsigned flag = 1; flag < WAITER_FLAGS; flag *= 2) {
        struct hurried asked = asked_for(STAGES_NEED - 1);
        asked.flags = flag;
        assert_int_equal(near_exact_is_due(&asked), (flag & may_have) != 0);
    }
    waiter.is_calibrating = 1;
    assert_false(is_due(STAGES_NEED - 1));
    begin();
    waiter.cpu++; /* it was calibrated on another one */
    assert_false(is_due(STAGES_NEED - 1));
    begin();
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 30; /* the loop is better */
    assert_false(is_due(STAGES_NEED - 1));
}

static int calls, is_waiting_within;

static void note_a_call(void *argument)
{
    (void)argument;
    calls++;
    waiter.uses += (uint64_t)is_waiting_within;
}

static int call_at_once(struct approach *approach)
{
    approach->event(approach->argument);
    return 0;
}

static int call_afresh(int waits_within)
{
    begin();
    waiter.ways.exact = call_at_once;
    waiter.learnt.near_rehearsal_ticks = NO_TIME;
    struct hurried asked = asked_for(STAGES_NEED - 1);
    asked.frame = NULL;
    asked.function = note_a_call;
    asked.flags = TIMEBASE_WAIT_REHEARSE;
    is_waiting_within = waits_within;
    calls = 0;
    assert_true(near_exact_is_due(&asked));
    int told = near_exact(&asked);
    assert_true(waits_within || waiter.last.is_afresh);
    return told;
}

static void its_function_is_called_in_advance_if_that_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(call_afresh(0), 0);
    assert_int_equal(calls, 2);
    assert_int_equal(call_afresh(1), TIMEBASE_E_INVALID); /* what was known of the wait is gone */
    assert_int_equal(calls, 1);
}

/* The last wait was one, with so many rehearsals within so long. The waiter has begun. */
static double need_after(int rehearsals, int64_t took, uint32_t disturbance, int late)
{
    waiter.last = (struct wait){.waiter = &waiter,
                                .is_afresh = 1,
                                .entered_ticks = NOW,
                                .near_rehearsals = rehearsals,
                                .near_rehearsed_ticks = NOW + (uint64_t)took,
                                .disturbance = disturbance};
    waiter.approach.overdue_cycles = late;
    near_afresh_learn(&waiter);
    return waiter.learnt.afresh_need.ticks;
}

static double need_behind(int rehearsals, int64_t took, uint32_t disturbance, int late)
{
    begin();
    return need_after(rehearsals, took, disturbance, late);
}

/* By a counter that steps. */
static double need_behind_stepped(int rehearsals, int64_t took)
{
    begin_by(1);
    return need_after(rehearsals, took, 0, 0);
}

/* Six would have been enough; and the way from the last of them. */
static void what_six_rehearsals_take_is_needed(void **state)
{
    enum { TOOK = 5000, ENOUGH = 6 };
    const int64_t as_needed = NEEDS_AFRESH - REHEARSED;
    (void)state;
    assert_true(need_behind(ENOUGH, as_needed, 0, 0) < NEEDS_AFRESH);
    assert_true(need_behind(ENOUGH, as_needed + 1, 0, 0) > NEEDS_AFRESH);
    assert_true(need_behind(ENOUGH + 10, as_needed + 10 * REHEARSAL, 0, 0) < NEEDS_AFRESH);
    assert_true(need_behind(0, as_needed - ENOUGH * REHEARSAL + 1, 0, 0) > NEEDS_AFRESH);
    assert_true(need_behind(ENOUGH, TOOK, TIMEBASE_DISTURBED_GAP, 0) == NEEDS_AFRESH);
}

/* Where the counter steps three are: they teach nothing but whether polls agree. */
static void three_are_enough_where_the_counter_steps(void **state)
{
    enum { ENOUGH = 3 };
    const int64_t as_needed = NEEDS_AFRESH - REHEARSED;
    (void)state;
    assert_true(need_behind_stepped(ENOUGH, as_needed) < NEEDS_AFRESH);
    assert_true(need_behind_stepped(ENOUGH - 1, as_needed) > NEEDS_AFRESH);
}

static void one_that_was_late_leaves_the_next_ones_to_the_loop(void **state)
{
    (void)state;
    need_behind(0, 0, 0, 1);
    assert_false(caution_allows(&waiter.afresh));
    int turns = 0;
    while (!is_due(STAGES_NEED - 1))
        turns++;
    assert_in_range(turns, 2, 64);
}

static int leaves_next_alone_behind(uint32_t run)
{
    begin();
    waiter.last.waiter = &waiter;
    waiter.approach.run = run;
    near_afresh_learn(&waiter);
    return !caution_allows(&waiter.afresh);
}

static void so_does_one_whose_polls_contradicted_each_other(void **state)
{
    (void)state;
    assert_true(leaves_next_alone_behind(APPROACH_NO_RUN));
    assert_false(leaves_next_alone_behind(1));
}

static double first_need(void)
{
    near_afresh_init(&waiter);
    return waiter.learnt.afresh_need.ticks;
}

static void at_first_longer_is_needed_where_the_counter_steps(void **state)
{
    (void)state;
    begin();
    assert_true(first_need() == 3000);
    step();
    assert_true(first_need() == 5500);
    assert_true(is_due(STAGES_NEED - 1));
}

static void there_are_none_where_none_is_exact_at_its_call(void **state)
{
    (void)state;
    begin();
    waiter.learnt.near_exact_ticks = 0;
    near_afresh_init(&waiter);
    assert_false(is_due(STAGES_NEED - 1));
}

/* What was calibrated beside a neighbour may be wrong where no rehearsal afresh tells. */
static void by_a_counter_that_steps_exact_waits_have_to_be_clearly_better(void **state)
{
    (void)state;
    begin();
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 8; /* of ten: not worse */
    assert_true(is_due(STAGES_NEED - 1));
    step();
    assert_false(is_due(STAGES_NEED - 1));
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 6;
    assert_true(is_due(STAGES_NEED - 1));
    waiter.choice.error_ticks[CHOICE_EXACT][CHOICE_QUANTILES - 1] = 30; /* of the steadier tail alone */
    assert_true(is_due(STAGES_NEED - 1));
}

/* The stages' rehearsals say more. */
static void by_a_counter_that_steps_it_is_what_would_hurry_else(void **state)
{
    (void)state;
    begin();
    waiter.learnt.pause_ticks = 2 * HOT;
    assert_true(is_due(STAGES_NEED - 1));
    step();
    assert_false(is_due(STAGES_NEED - 1)); /* the last event was not so long ago */
    waiter.learnt.pause_ticks = HOT;
    assert_true(is_due(STAGES_NEED - 1));
}

static void by_a_counter_that_steps_it_does_not_tell_before_it_returns(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    for (int stepped = 0; stepped < 2; stepped++) {
        begin_by(stepped);
        struct hurried asked = asked_for(STAGES_NEED - 1);
        asked.result = &result;
        assert_int_equal(near_exact_is_due(&asked), !stepped);
        asked.function = note_a_call; /* what calls tells behind it */
        assert_true(near_exact_is_due(&asked));
    }
}

/* So many have begun: the wait's own is the last. */
static int approaches;

static int begin_another(struct approach *approach)
{
    (void)approach;
    if (++approaches == 2)
        waiter.last.ticks = timebase_ticks(); /* there is no time for another */
    return 0;
}

static int rehearsals_of(int is_afresh)
{
    begin_without_evidence();
    step();
    waiter.ways.exact = begin_another;
    waiter.learnt.near_rehearsal_ticks = 1;
    struct hurried asked = asked_for(0);
    asked.entered_ticks = timebase_ticks();
    asked.ticks = asked.entered_ticks + (UINT64_C(1) << 40);
    asked.is_afresh = is_afresh;
    approaches = 0;
    near_exact(&asked);
    return waiter.last.near_rehearsals;
}

static void by_a_counter_that_steps_it_alone_rehearses(void **state)
{
    (void)state;
    assert_int_equal(rehearsals_of(1), 2);
    assert_int_equal(rehearsals_of(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_due_where_the_stages_have_no_time_and_it_has),
        cmocka_unit_test(it_is_not_for_what_only_the_stages_do),
        cmocka_unit_test(its_function_is_called_in_advance_if_that_was_asked_for),
        cmocka_unit_test(what_six_rehearsals_take_is_needed),
        cmocka_unit_test(one_that_was_late_leaves_the_next_ones_to_the_loop),
        cmocka_unit_test(three_are_enough_where_the_counter_steps),
        cmocka_unit_test(so_does_one_whose_polls_contradicted_each_other),
        cmocka_unit_test(at_first_longer_is_needed_where_the_counter_steps),
        cmocka_unit_test(there_are_none_where_none_is_exact_at_its_call),
        cmocka_unit_test(by_a_counter_that_steps_exact_waits_have_to_be_clearly_better),
        cmocka_unit_test(by_a_counter_that_steps_it_is_what_would_hurry_else),
        cmocka_unit_test(by_a_counter_that_steps_it_does_not_tell_before_it_returns),
        cmocka_unit_test(by_a_counter_that_steps_it_alone_rehearses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
