/* SPDX-License-Identifier: MIT */
/* An exact wait at its call: when, and what it is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/result.h"
#include "near_exact.h"

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

/* Where the counter steps it is for those that would not rehearse; and for no delay. */
static void a_calibration_says_whether_there_are_any(void **state)
{
    (void)state;
    begin_anew();
    waiter.learnt.cold_near_ticks = NEAR + 1;
    waiter.learnt.no_rehearsal_ticks = NEAR - 1;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, NEAR + 1);
    assert_int_equal(waiter.learnt.near_delay_ticks, NEAR + 1);
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == 100 + 100);
    assert_true(waiter.learnt.near_exact_learning.ticks == 100 + 100 + 300);
    assert_true(waiter.learnt.near_exact_cold.ticks == 100 + 100 + 300);
    waiter.vernier.readings = APPROACH_FINE;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, NEAR - 1);
    assert_int_equal(waiter.learnt.near_delay_ticks, 0);
    waiter.vernier.readings = 1;
    waiter.learnt.exact = 0;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, 0);
    waiter.learnt.exact = 1;
    waiter.ways.poll_bare = NULL;
    near_exact_init(&waiter);
    assert_int_equal(waiter.learnt.near_exact_ticks, 0);
    assert_int_equal(waiter.learnt.near_delay_ticks, 0);
}

static void by_a_counter_that_steps_it_is_due_where_polls_agree(void **state)
{
    (void)state;
    begin_stepped();
    assert_true(is_due(NEEDS));
    waiter.uses = 8;
    assert_true(is_due(NEEDS_LEAD)); /* the stages would not rehearse either */
    waiter.uneven.left = 1;
    waiter.approach.even_polls = WAITER_EVEN_USUALLY - 1;
    assert_false(is_due(NEEDS));
    begin_stepped();
    waiter.exact_ticks = NOW - HOT;
    assert_false(is_due(NEEDS_COLD)); /* by cold code more of them have to */
    waiter.approach.even_polls = WAITER_EVEN_COLD;
    assert_true(is_due(NEEDS_COLD));
    assert_false(is_due(NEEDS_COLD - 1));
}

/* Else the loop would have it, and all behind it. */
static void by_a_counter_that_steps_it_is_due_farther_ahead_where_the_stages_are_far(void **state)
{
    enum { FARTHEST = 2 * NEAR };
    (void)state;
    for (int steps = 1; steps >= 0; steps--) {
        begin_anew();
        if (steps)
            step();
        waiter.learnt.cold_ticks = 2 * FARTHEST;
        waiter.learnt.cold_near_ticks = FARTHEST;
        waiter.learnt.no_rehearsal_ticks = NEAR;
        assert_false(is_due(NEAR)); /* the stages have it */
        waiter.approach.event_ticks = NOW - HOT - 1;
        waiter.far_stages.left = 1;
        waiter.exact_ticks = NOW + FARTHEST; /* its code is near, for all of them */
        assert_int_equal(is_due(NEAR), steps);
        assert_int_equal(is_due(FARTHEST - 1), steps);
        assert_false(is_due(FARTHEST));
    }
}

static unsigned trials(unsigned first, unsigned last)
{
    unsigned tried = 0;
    for (waiter.uses = first; waiter.uses <= last; waiter.uses++)
        tried += (unsigned)is_due(NEEDS);
    return tried;
}

/* Or a program whose targets are all as near as that would have none at all. */
static void by_a_counter_that_steps_one_in_256_is_tried_by_cold_code(void **state)
{
    (void)state;
    begin_stepped();
    waiter.exact_ticks = NOW - HOT;
    waiter.cold.left = waiter.uneven.left = 1; /* or the stages would do as much */
    assert_int_equal(trials(1, 256), 1);
    waiter.exact_ticks = NOW - HOT; /* others were, meanwhile */
    assert_int_equal(trials(257, 512), 1);
    struct hurried asked = asked_for(NEEDS);
    asked.flags = TIMEBASE_WAIT_STEADY;
    assert_false(near_exact_is_due(&asked));
    asked.flags = TIMEBASE_WAIT_PLAIN;
    assert_false(near_exact_is_due(&asked));
    waiter.tried_ticks = 0;
    waiter.tried_cold.left = 1; /* these are no turns of it */
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.tried_cold.left, 1);
}

/* Asked for so long after NOW. */
static int is_due_later(uint64_t ticks)
{
    struct hurried asked = asked_for(NEEDS);
    asked.entered_ticks += ticks;
    asked.ticks += ticks;
    return near_exact_is_due(&asked);
}

static void by_a_counter_with_fine_steps_one_in_eight(void **state)
{
    enum { TICKS = 16, EIGHT = 8 };
    unsigned tried = 0;
    (void)state;
    begin_anew();
    waiter.exact_ticks = NOW - HOT;
    for (unsigned i = 0; i < EIGHT; i++)
        tried += (unsigned)is_due_later(TICKS * i);
    assert_int_equal(tried, 1);
    assert_true(waiter.tried_ticks != 0);
    waiter.tried_ticks = 0;
    waiter.tried_cold.left = 1;
    for (unsigned i = 0; i < EIGHT; i++)
        assert_false(is_due_later(TICKS * i));
}

/* The caller's own work drives it out each time: 1, 2, 4 ... 64 turns are left alone between two. */
static void if_none_follows_a_trial_the_next_ones_are_farther_apart(void **state)
{
    unsigned uses = 256;
    (void)state;
    begin_stepped();
    waiter.uneven.left = 1;
    waiter.exact_ticks = NOW - HOT;
    for (unsigned apart = 1; apart <= 128; apart *= 2) {
        assert_int_equal(trials(uses, uses), 1);
        assert_int_equal(waiter.tried_ticks, NOW + NEEDS);
        waiter.tried_ticks = waiter.exact_ticks; /* the code is far again, and nothing came between */
        unsigned left = apart <= 64 ? apart : 64;
        assert_int_equal(trials(uses + 1, uses + left * 256), 0);
        uses += (left + 1) * 256;
    }
    waiter.tried_ticks = NOW; /* another one came behind it */
    assert_int_equal(trials(256, 256), 1);
    assert_true(waiter.tried_cold.turns == 0);
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

/* The loop's is 10: how many waits are by it. */
static int turns_of_loop(double exact_ticks, unsigned flags)
{
    begin_anew();
    struct hurried asked = asked_for(NEEDS);
    asked.flags = flags;
    waiter.choice.error_ticks[CHOICE_EXACT][0] = exact_ticks;
    int turns = 0;
    while (turns < 10000 && !near_exact_is_due(&asked))
        turns++;
    return turns;
}

/* What is known against exact waits fades, or there would never be one again. */
static void it_is_not_while_the_loop_is_far_better(void **state)
{
    (void)state;
    assert_int_equal(turns_of_loop(13, 0), 0);
    assert_in_range(turns_of_loop(30, 0), 50, 150);
    assert_in_range(turns_of_loop(30, TIMEBASE_WAIT_STEADY), 200, 2000);
}

/* There the stages see to that, by some of those that are by the loop. */
static void by_a_counter_that_steps_nothing_fades_here(void **state)
{
    (void)state;
    begin_stepped();
    const struct choice known = waiter.choice;
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 30;
    assert_false(is_due(NEEDS));
    waiter.choice.error_ticks[CHOICE_EXACT][0] = known.error_ticks[CHOICE_EXACT][0];
    assert_memory_equal(&waiter.choice, &known, sizeof(known));
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

static void it_is_an_approach_to_its_target_that_returns(void **state)
{
    const struct approach *a = &waiter.approach;
    (void)state;
    begin_anew();
    waiter.ways.exact = approach_poll;
    waiter.learnt.exit_ticks[1][EVENT_RETURNS] = 5;
    waiter.last.was_held_up = 1; /* the wait before */
    run(NEEDS);
    assert_false(waiter.last.was_held_up);
    assert_true(frame[0] == a);
    assert_true(a->end == approach_poll);
    assert_int_equal(a->target_ticks, NOW + NEEDS);
    assert_int_equal(a->fixed_cycles >> APPROACH_CYCLE_BITS, 400 + 5 * CYCLE_OF_4);
    assert_true(a->event == approach_event_none);
    assert_int_equal(a->even_least, INT32_MIN);
    assert_int_equal(waiter.exact_ticks, NOW + NEEDS);
}

/* A loop, if these contradict each other: as late as that is, and from so long before it. */
static void by_a_counter_that_steps_it_is_told_how_many_polls_must_agree(void **state)
{
    enum { BIAS = 70, LEFT = 900 };
    const struct approach *a = &waiter.approach;
    (void)state;
    begin_stepped();
    waiter.ways.exact = approach_poll;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter.learnt.loop_bias_ticks[way] = BIAS;
    waiter.approach.never_early = 1; /* another wait's */
    run(LEFT);
    assert_int_equal(a->never_early, 0);
    assert_true(a->earliest_ticks > 49 << APPROACH_TICK_BITS); /* what it is now: 50 */
    assert_true(a->latest_ticks > 50 << APPROACH_TICK_BITS &&
                a->latest_ticks < 51 << APPROACH_TICK_BITS);
    assert_int_equal(a->even_least, WAITER_EVEN_USUALLY);
    assert_int_equal(waiter.even_before, WAITER_EVEN_USUALLY);
    assert_int_equal(a->leave_ticks, NOW + LEFT - BIAS);
    /* It begins sooner by some of what is left beside ten polls; and where that is nothing by none. */
    const int32_t soonest = a->loop_cycles;
    run(NEEDS + 1);
    assert_int_equal(a->loop_cycles, 150 + BIAS * CYCLE_OF_4 - 400);
    assert_true(soonest > a->loop_cycles);
}

static int approach_hot(struct approach *approach)
{
    (void)approach;
    return 0;
}

/* It has no time to foresee what is near. */
static void behind_another_it_foresees_nothing(void **state)
{
    (void)state;
    begin_anew();
    waiter.ways.exact = approach_poll;
    waiter.ways.exact_hot = approach_hot;
    run(NEEDS);
    assert_true(waiter.approach.end == approach_hot);
    waiter.exact_ticks = NOW - HOT;
    run(NEEDS);
    assert_true(waiter.approach.end == approach_poll);
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

/* What comes behind it has not been executed: near_loads.h. */
static const void *foreseen;

static void note_foresight(const void *code, void *argument)
{
    assert_true(argument == &event);
    foreseen = code;
}

static void what_has_loaded_its_code_foresees_its_event(void **state)
{
    (void)state;
    for (int is_loaded = 0; is_loaded < 2; is_loaded++) {
        struct hurried asked = asked_for(NEEDS);
        begin_anew();
        foreseen = NULL;
        late_by = is_waiting_within = 0;
        waiter.ways.exact = call_at_once;
        waiter.ways.foresee = note_foresight;
        asked.is_loaded = is_loaded;
        asked.function = note_event;
        asked.argument = &event;
        near_exact(&asked);
        assert_true(foreseen == (is_loaded ? (const void *)(uintptr_t)note_event : NULL));
    }
}

static void it_calls_its_function_and_says_whether_that_was_late(void **state)
{
    (void)state;
    assert_int_equal(call(0, 0), 0);
    assert_int_equal(call(1, 0), 1);
    assert_int_equal(call(0, 1), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_due_where_there_is_time_for_it_and_little_more),
        cmocka_unit_test(what_it_needs_fades_with_each_that_had_less),
        cmocka_unit_test(a_calibration_says_whether_there_are_any),
        cmocka_unit_test(by_a_counter_that_steps_it_is_due_where_polls_agree),
        cmocka_unit_test(by_a_counter_that_steps_it_is_due_farther_ahead_where_the_stages_are_far),
        cmocka_unit_test(by_a_counter_that_steps_one_in_256_is_tried_by_cold_code),
        cmocka_unit_test(by_a_counter_with_fine_steps_one_in_eight),
        cmocka_unit_test(if_none_follows_a_trial_the_next_ones_are_farther_apart),
        cmocka_unit_test(it_is_not_for_what_only_the_stages_do),
        cmocka_unit_test(by_code_that_is_not_near_it_needs_more),
        cmocka_unit_test(each_way_has_its_need),
        cmocka_unit_test(one_in_eight_that_has_the_time_takes_the_stages),
        cmocka_unit_test(it_is_not_while_the_loop_is_far_better),
        cmocka_unit_test(by_a_counter_that_steps_nothing_fades_here),
        cmocka_unit_test(for_the_steadier_tail_it_has_to_be_clearly_better),
        cmocka_unit_test(it_is_an_approach_to_its_target_that_returns),
        cmocka_unit_test(by_a_counter_that_steps_it_is_told_how_many_polls_must_agree),
        cmocka_unit_test(behind_another_it_foresees_nothing),
        cmocka_unit_test(it_is_told_from_others_and_counts_as_a_use),
        cmocka_unit_test(with_a_result_it_ends_with_telling),
        cmocka_unit_test(what_has_loaded_its_code_foresees_its_event),
        cmocka_unit_test(it_calls_its_function_and_says_whether_that_was_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
