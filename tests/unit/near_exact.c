/* SPDX-License-Identifier: MIT */
/* An exact wait at its call: when, what it is, and what becomes of the one before. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "timing/wait/hurry.h"
#include "timing/wait/near_exact.h"
#include "timing/wait/result.h"
#include "near_waits.h"

enum { NOW = 1000000, NEAR = 3000, HOT = 4000, CYCLE_OF_4 = 4 };
enum { NEEDS = 300, NEEDS_LEARNING = 500, NEEDS_COLD = 600, NEEDS_LEAD = 1200 };

static struct waiter waiter;
static void *frame[2]; /* approach_from() finds the approach below its frame */

/* A tick is 1 ns and 4 cycles; the last event was just now. */
static void begin_anew(void)
{
    memset(&waiter, 0, sizeof(waiter));
    waiter.learnt.period_ns = 1;
    waiter.learnt.hot_ticks = HOT;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter.learnt.near_exact_needs[way] = need(NEEDS);
    waiter.learnt.near_exact_learning = need(NEEDS_LEARNING);
    waiter.learnt.near_exact_cold = need(NEEDS_COLD);
    waiter.learnt.lead_need = need(NEEDS_LEAD);
    waiter.learnt.exact = 1;
    waiter.learnt.near_exact_ticks = NEAR;
    waiter.learnt.tail = (struct tempo_tail){.cycles = 400, .first_cycles = 400};
    waiter.vernier.readings = 1;
    waiter.vernier.step_ticks = waiter.vernier.span_ticks = 1;
    waiter.period.value = 50;
    tempo_init(&waiter.tempo, 1.0 / CYCLE_OF_4);
    choice_forget(&waiter.choice);
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter.choice.error_ticks[CHOICE_LOOP][i] = 10;
        waiter.choice.error_ticks[CHOICE_EXACT][i] = 1;
    }
    waiter.approach.event_ticks = waiter.hurried_ticks = waiter.exact_ticks = NOW;
    waiter.ways.poll_bare = approach_poll; /* they end behind their call */
    waiter.approach.rseq = (const uint32_t[8]){0};
    waiter.uses = 1;
}

static struct hurried asked_for(int64_t left)
{
    return (struct hurried){.waiter = &waiter,
                            .ticks = NOW + (uint64_t)left,
                            .entered_ticks = NOW,
                            .frame = &frame[1]};
}

static int is_due(int64_t left)
{
    struct hurried asked = asked_for(left);
    return near_exact_is_due(&asked);
}

/* ---- when ---------------------------------------------------------------------------------- */

static void it_is_due_where_there_is_time_for_it_and_little_more(void **state)
{
    (void)state;
    begin_anew();
    assert_true(is_due(NEEDS));
    assert_true(is_due(NEAR - 1));
    assert_false(is_due(NEAR));
    assert_false(is_due(NEEDS - 1));
    assert_false(is_due(-1));
}

static void what_it_needs_fades_with_each_that_had_less(void **state)
{
    (void)state;
    begin_anew();
    is_due(NEEDS - 1);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS - 0.5);
    is_due(99); /* nearer than an event comes behind its last poll: no such wait ever is */
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS - 0.5);
    is_due(100);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS - 1);
}

/* There are none where the counter steps, for one, or where waits cannot end behind their call. */
static void a_calibration_says_whether_there_are_any(void **state)
{
    (void)state;
    begin_anew();
    waiter.learnt.cold_near_ticks = NEAR + 1;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, NEAR + 1);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == 100 + 100);
    assert_true(waiter.learnt.near_exact_learning.ticks == 100 + 100 + 300);
    assert_true(waiter.learnt.near_exact_cold.ticks == 100 + 100 + 300);
    waiter.vernier.readings = APPROACH_FINE;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, 0);
    assert_false(is_due(NEAR - 1));
    waiter.vernier.readings = 1;
    waiter.learnt.exact = 0;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, 0);
    waiter.learnt.exact = 1;
    waiter.ways.poll_bare = NULL;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, 0);
}

static void it_is_not_for_what_only_the_stages_do(void **state)
{
    (void)state;
    begin_anew();
    struct hurried asked = asked_for(NEEDS);
    asked.frame = NULL; /* it cannot end behind its call */
    assert_false(near_exact_is_due(&asked));
    asked.function = note_event;
    assert_true(near_exact_is_due(&asked));
    for (unsigned flag = 1; flag < WAITER_FLAGS; flag *= 2) {
        asked = asked_for(NEEDS);
        asked.flags = flag;
        assert_int_equal(near_exact_is_due(&asked), flag == TIMEBASE_WAIT_STEADY);
    }
    waiter.is_calibrating = 1;
    assert_false(is_due(NEEDS));
}

/* Behind waits by the loop it needs more; behind none it is not. */
static void by_code_that_is_not_near_it_needs_more(void **state)
{
    (void)state;
    begin_anew();
    waiter.exact_ticks = NOW - HOT;
    assert_false(is_due(NEEDS_COLD - 1));
    assert_true(is_due(NEEDS_COLD));
    waiter.approach.event_ticks = NOW - HOT - 1;
    assert_true(is_due(NEEDS_COLD));
    waiter.hurried_ticks = NOW - HOT - 1;
    assert_false(is_due(NEEDS_COLD));
}

static void each_way_has_its_need(void **state)
{
    struct timebase_wait_result result;
    struct hurried asked = asked_for(NEEDS);
    (void)state;
    begin_anew();
    waiter.learnt.near_exact_needs[EVENT_TELLS].ticks = NEEDS + 1;
    assert_true(near_exact_is_due(&asked));
    asked.result = &result;
    assert_false(near_exact_is_due(&asked));
    waiter.learnt.near_exact_needs[EVENT_CALLED].ticks = NEEDS + 1;
    asked.result = NULL;
    asked.function = note_event;
    assert_false(near_exact_is_due(&asked));
}

static void one_in_eight_that_has_the_time_takes_the_stages(void **state)
{
    (void)state;
    begin_anew();
    waiter.uses = 8;
    assert_false(is_due(NEEDS_LEAD));
    assert_true(is_due(NEEDS_LEAD - 1));
    assert_true(waiter.learnt.lead_need.ticks == NEEDS_LEAD - 0.5); /* it fades */
    waiter.uses = 9;
    assert_true(is_due(NEEDS_LEAD));
}

/* What is known against exact waits fades, or there would never be one again. */
static void it_is_not_while_the_loop_is_better(void **state)
{
    (void)state;
    begin_anew();
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 20;
    assert_false(is_due(NEEDS));
    int turns = 1;
    for (; turns < 2000 && !is_due(NEEDS); turns++)
        continue;
    assert_in_range(turns, 50, 1000);
}

/* The steadier tail has to be better by p99 as well, and without doubt. */
static void for_the_steadier_tail_it_has_to_be_clearly_better(void **state)
{
    (void)state;
    begin_anew();
    struct hurried asked = asked_for(NEEDS);
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 8;
    assert_true(near_exact_is_due(&asked));
    asked.flags = TIMEBASE_WAIT_STEADY;
    assert_false(near_exact_is_due(&asked));
}

/* ---- what it is ---------------------------------------------------------------------------- */

static void run(int64_t left)
{
    struct hurried asked = asked_for(left);
    assert_int_equal(near_exact(&asked), APPROACH_ENDS_BEHIND);
}

static void it_is_an_approach_to_its_target_that_returns(void **state)
{
    const struct approach *a = &waiter.approach;
    (void)state;
    begin_anew();
    waiter.ways.exact = approach_poll;
    waiter.learnt.exit_ticks[1][EVENT_RETURNS] = 5;
    run(NEEDS);
    assert_true(frame[0] == a);
    assert_true(a->end == approach_poll);
    assert_int_equal(a->target_ticks, NOW + NEEDS);
    assert_int_equal(a->fixed_cycles >> APPROACH_CYCLE_BITS, 400 + 5 * CYCLE_OF_4);
    assert_true(a->event == approach_event_none);
    assert_int_equal(a->even_least, INT32_MIN);
    assert_int_equal(waiter.exact_ticks, NOW + NEEDS);
}

static void it_is_told_from_others_and_counts_as_a_use(void **state)
{
    const struct wait *last = &waiter.last;
    (void)state;
    begin_anew();
    waiter.last = (struct wait){.function = (void (*)(void *))1, .is_unsteady = 1, .is_at_once = 1};
    run(NEEDS);
    assert_true(last->exact && last->is_near_exact);
    assert_false(last->is_unsteady || last->is_at_once || last->is_cold || last->ended_by_loop);
    assert_null(last->function);
    assert_null(last->result);
    assert_int_equal(last->ticks, NOW + NEEDS);
    assert_int_equal(last->entered_ticks, NOW);
    assert_int_equal(waiter.uses, 2);
    assert_int_equal(waiter.unsettled, LEFT_TO_COUNT);
}

static void with_a_result_it_ends_with_telling(void **state)
{
    const struct approach *a = &waiter.approach;
    struct timebase_wait_result result = {.late = 7, .wake_ns = 7};
    struct hurried asked = asked_for(NEEDS);
    (void)state;
    begin_anew();
    waiter.ways.exact = approach_poll;
    waiter.ways.poll_bare = approach_poll;
    waiter.learnt.exit_ticks[1][EVENT_TELLS] = 6;
    waiter.last.sleep.wake_ns = 9; /* of the wait before */
    asked.result = &result;
    assert_int_equal(near_exact(&asked), APPROACH_ENDS_BEHIND);
    assert_true(a->end == result_end);
    assert_true(a->way == approach_poll);
    assert_int_equal(a->fixed_cycles >> APPROACH_CYCLE_BITS, 400 + 6 * CYCLE_OF_4);
    assert_int_equal(result.target_ticks, NOW + NEEDS);
    assert_int_equal(result.late, 0);
    assert_int_equal(result.wake_ns, 0);
}

static int late_by;
static int is_waiting_within;

/* An approach that takes no time. */
static int call_at_once(struct approach *approach)
{
    assert_true(waiter.is_in_event);
    approach->overdue_cycles = late_by;
    approach->event(approach->argument);
    waiter.uses += (uint64_t)is_waiting_within;
    return 0;
}

static int call(int late, int waits_within)
{
    struct hurried asked = asked_for(NEEDS);
    begin_anew();
    event = (struct event){0};
    late_by = late;
    is_waiting_within = waits_within;
    waiter.ways.exact = call_at_once;
    asked.frame = NULL;
    asked.function = note_event;
    asked.argument = &event;
    int told = near_exact(&asked);
    assert_int_equal(event.calls, 1);
    assert_true(event.argument == &event);
    assert_false(waiter.is_in_event);
    return told;
}

static void it_calls_its_function_and_says_whether_that_was_late(void **state)
{
    (void)state;
    assert_int_equal(call(0, 0), 0);
    assert_int_equal(call(1, 0), 1);
    assert_int_equal(call(0, 1), TIMEBASE_E_INVALID);
}

/* ---- the wait before it -------------------------------------------------------------------- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_due_where_there_is_time_for_it_and_little_more),
        cmocka_unit_test(what_it_needs_fades_with_each_that_had_less),
        cmocka_unit_test(a_calibration_says_whether_there_are_any),
        cmocka_unit_test(it_is_not_for_what_only_the_stages_do),
        cmocka_unit_test(by_code_that_is_not_near_it_needs_more),
        cmocka_unit_test(each_way_has_its_need),
        cmocka_unit_test(one_in_eight_that_has_the_time_takes_the_stages),
        cmocka_unit_test(it_is_not_while_the_loop_is_better),
        cmocka_unit_test(for_the_steadier_tail_it_has_to_be_clearly_better),
        cmocka_unit_test(it_is_an_approach_to_its_target_that_returns),
        cmocka_unit_test(it_is_told_from_others_and_counts_as_a_use),
        cmocka_unit_test(with_a_result_it_ends_with_telling),
        cmocka_unit_test(it_calls_its_function_and_says_whether_that_was_late),
        cmocka_unit_test(it_is_counted_and_learnt_from_where_there_is_time),
        cmocka_unit_test(what_it_needed_is_from_its_call_to_its_first_poll_and_the_tail),
        cmocka_unit_test(one_that_has_been_counted_teaches_all_the_same),
        cmocka_unit_test(by_code_that_is_not_near_nothing_is_learnt),
        cmocka_unit_test(what_never_has_the_time_to_learn_does_without),
        cmocka_unit_test(each_kind_has_its_need),
        cmocka_unit_test(others_say_nothing_of_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
