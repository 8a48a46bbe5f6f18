/* SPDX-License-Identifier: MIT */
/*
 * Delays of less than 1.6 us: a run of instructions of our own, two of them, or the loop; and what
 * is told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/delay/delay_at_once.h"

#include "dice.h"
#include "our_runs.h"

/* By no reading: a coarse counter may say 0. */
#define NOT_TAKEN UINT64_MAX

static struct dice dice;

static void assert_runs_fill(const struct waiter *waiter, uint64_t ns, double fixed)
{
    double wanted = (ticks_asked(waiter, ns) - fixed) / cycle_ticks;
    wanted = wanted > 0 ? wanted : 0;
    /* Rounding is the processor's: an x87 keeps more digits. */
    assert_true(fabs((double)run.instructions - wanted) <= 1);
}

static enum delay_way way_of_hot(uint64_t ns)
{
    return ns < 150 ? DELAY_UNCHECKED : ns < 600 ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS;
}

static void runs_fill_what_the_rest_leaves(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS * 10; i++) {
        uint64_t ns = dice_below(&dice, 1600);
        enum delay_way way = way_of_hot(ns);
        believe_runs(waiter, RIGHT);
        run.calls = 0;
        assert_true(is_by_run(ours, ns, i % 2 ? TIMEBASE_WAIT_PREPARE : 0));
        assert_int_equal(run.calls, way == DELAY_BY_TWO_RUNS ? 2 : 1);
        assert_runs_fill(waiter, ns, fixed_ticks[way]);
    }
}

/* Others are waits. */
static void only_short_delays_are_so(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    static const unsigned others[] = {TIMEBASE_WAIT_PLAIN, TIMEBASE_WAIT_NEVER_EARLY};
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    waiter->delay_taken_ticks = NOT_TAKEN;
    timebase_delay_ns(ours, 1600, 0, NULL);
    for (int i = 0; i < 2; i++)
        timebase_delay_ns(ours, 300, others[i], NULL);
    assert_true(waiter->delay_taken_ticks == NOT_TAKEN);
    timebase_delay_ns(ours, 150, 0, NULL);
    assert_true(waiter->delay_taken_ticks != NOT_TAKEN);
}

/*
 * What is cold would take longer than the delay to fetch: the loop. Who asks for the steadier tail
 * gets it, too, as a run that is held up is late by all of it.
 */
static void cold_delays_and_steady_ones_are_by_the_loop(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        uint64_t ns = 300 + dice_below(&dice, 1200);
        double least = ticks_asked(waiter, ns) - fixed_ticks[DELAY_BY_LOOP] - 10 - step_ticks;
        believe_runs(waiter, WRONG_ON_THE_WAY);
        keep_hot(waiter, i % 2);
        run.calls = 0;
        uint64_t start = timebase_ticks_ordered();
        timebase_delay_ns(ours, ns, i % 2 ? TIMEBASE_WAIT_STEADY : 0, i % 3 ? NULL : &result);
        assert_true((double)(timebase_ticks_ordered() - start) >= least);
        assert_int_equal(run.calls, 0);
        assert_true(is_by_run(ours, 149, TIMEBASE_WAIT_STEADY) || !(i % 2)); /* too short for it */
        if (i % 3 == 0 && !result.late) {
            assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
            assert_false(result.disturbance & TIMEBASE_DISTURBED_SHARED);
        }
    }
}

/* What the loop of others takes is no part of theirs. */
static void cold_delays_have_a_loop_of_their_own(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    keep_hot(waiter, 0);
    waiter->learnt.at_once_ticks = 1e12;
    assert_int_equal(timebase_delay_ns(ours, 1000, 0, NULL), 1);
    waiter->learnt.at_once_ticks = step_ticks;
    waiter->learnt.delays[DELAY_BY_LOOP][0].fixed_ticks = 1e12;
    uint64_t start = timebase_ticks_ordered();
    timebase_delay_ns(ours, 1000, 0, NULL);
    assert_true((double)(timebase_ticks_ordered() - start) >=
                ticks_asked(waiter, 1000) - 2 * step_ticks);
}

/* However short: a wait would take a microsecond. */
static void plain_delays_are_the_loop_and_nothing_else(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    for (int i = 0; i < DELAYS; i++) {
        uint64_t ns = dice_below(&dice, 1600), uses = waiter->uses;
        double least = ticks_asked(waiter, ns) - waiter->learnt.at_once_ticks - 2 * step_ticks;
        keep_hot(waiter, i % 2);
        uint64_t start = timebase_ticks_ordered();
        assert_false(is_by_run(ours, ns, TIMEBASE_WAIT_PLAIN));
        assert_true((double)(timebase_ticks_ordered() - start) >= least);
        assert_int_equal(waiter->uses, uses);
    }
}

static void assert_follows(struct timebase_waiter *ours, int32_t error_ticks, double to_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->learnt.at_once_ticks = 100;
    waiter->learnt.at_once_rest_ticks = 70;
    waiter->learnt.last_ticks = 60;
    waiter->delay_error_ticks = error_ticks;
    timebase_delay_ns(ours, 300, TIMEBASE_WAIT_PLAIN, NULL);
    assert_true(fabs(waiter->learnt.at_once_ticks - to_ticks) < 1e-9);
}

/* From the loop's end to its stamp it takes as long as the core's neighbour leaves it. */
static void what_comes_behind_the_loop_is_followed(void **state)
{
    enum { MEAN = 64 };
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_follows(ours, 30, 100);
    assert_follows(ours, 50, 100 + 20. / MEAN);
    assert_follows(ours, 0, 100 - 30. / MEAN);
    assert_follows(ours, 1000000, 100 + 90. / MEAN); /* held up */
    assert_follows(ours, DELAY_ERROR_UNKNOWN, 100);
    waiter->is_calibrating = 1;
    assert_follows(ours, 50, 100);
    waiter->is_calibrating = 0;
    waiter->learnt.at_once_ticks = 1e12; /* late: that says nothing */
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    assert_int_equal(timebase_delay_ns(ours, 300, TIMEBASE_WAIT_PLAIN, NULL), 1);
    assert_int_equal(waiter->delay_error_ticks, DELAY_ERROR_UNKNOWN);
}

/* An emulator's are a microsecond and more, one time and not the next. */
static void has_no_bias(struct waiter *waiter)
{
    waiter->learnt.plain_bias_ticks = 0;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter->learnt.exit_ticks[0][way] = waiter->learnt.hurry_ticks[way] = 0;
}

/* The stages of a wait are cold as well: none up to 3 us. */
static void cold_delays_of_some_us_are_no_waits(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    keep_hot(waiter, 0);
    for (uint64_t ns = 1600; ns < 4000; ns += 100) {
        has_no_bias(waiter);
        uint64_t uses = waiter->uses, start = timebase_ticks_ordered();
        assert_false(is_by_run(ours, ns, 0));
        double taken = (double)(timebase_ticks_ordered() - start);
        assert_true(taken >= ticks_asked(waiter, ns) - fixed_ticks[DELAY_BY_LOOP] - 2 * step_ticks);
        assert_int_equal(waiter->uses - uses, ns >= 3000);
    }
    uint64_t uses = waiter->uses;
    timebase_delay_ns(ours, 2000, TIMEBASE_WAIT_NEVER_EARLY, NULL);
    assert_int_equal(waiter->uses - uses, 1);
}

/* Where instructions cannot be counted on, there is nothing but waits. */
static void where_exact_waits_are_impossible_it_is_a_wait(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->delay_taken_ticks = NOT_TAKEN;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    waiter->learnt.exact = 0;
    assert_false(is_by_run(ours, 300, 0));
    waiter->learnt.exact = 1;
    waiter->ways.run = NULL;
    assert_false(is_by_run(ours, 300, TIMEBASE_WAIT_STEADY));
    assert_true(waiter->delay_taken_ticks == NOT_TAKEN);
}

/* The approach, and what it has found, belong to the wait; or to the one whose function calls. */
static void delay_in_event(void *ours)
{
    struct waiter *waiter = waiter_within((struct timebase_waiter *)ours);
    struct approach approach = waiter->approach;
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, i % 2 ? RIGHT : WRONG_ON_THE_WAY);
        assert_in_range(
            timebase_delay_ns((struct timebase_waiter *)ours, i % 3 ? 300 : 1000, 0, NULL), 0, 1);
    }
    assert_memory_equal(&approach, &waiter->approach, sizeof(approach));
}

static void waits_keep_what_they_have_to_tell(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    timebase_wait_until_ticks(ours, timebase_ticks() + 50000, TIMEBASE_WAIT_PLAIN, NULL);
    uint64_t uses = waiter->uses;
    delay_in_event(ours);
    assert_true(waiter->uses == uses);
    believe_runs(waiter, WRONG_ON_THE_WAY);
    timebase_wait_call_ticks(ours, timebase_ticks() + 50000, TIMEBASE_WAIT_PLAIN, delay_in_event,
                             ours, NULL);
    assert_true(run.calls > 0);
}

/* Of two runs the first: then there is still time for the loop. The result says why it came. */
static void the_loop_makes_up_for_a_first_run_that_was_held_up(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int on_the_way = 0; on_the_way < 2; on_the_way++) {
        struct timebase_wait_result result;
        uint64_t ns = 1500, start = timebase_ticks_ordered();
        believe_runs(waiter, on_the_way ? WRONG_ON_THE_WAY : WRONG_AT_THE_END);
        waiter->contradicted_run = (struct caution){0};
        run.calls = 0;
        timebase_delay_ns(ours, ns, 0, &result);
        double taken = (double)(timebase_ticks_ordered() - start);
        assert_int_equal(run.calls, on_the_way ? 1 : 2);
        assert_true(!on_the_way || taken >= ticks_asked(waiter, ns) - 119 - step_ticks);
        assert_true(result.disturbance & TIMEBASE_DISTURBED_SHARED);
        if (!result.late)
            assert_int_equal(result.mechanism,
                             on_the_way ? TIMEBASE_MECHANISM_LOOP : TIMEBASE_MECHANISM_RUN);
        delay_learn(waiter);
        assert_true(waiter->contradicted_run.left > 0);
    }
}

/* Delays that say nothing of runs do not bring the next one nearer. */
static void cold_delays_do_not_count_as_turns(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    assert_true(is_by_run(ours, 300, 0));
    keep_hot(waiter, 0);
    for (int i = 0; i < DELAYS; i++)
        assert_false(is_by_run(ours, 190, 0));
    keep_hot(waiter, 1);
    assert_false(is_by_run(ours, 300, 0));
    assert_true(is_by_run(ours, 300, 0));
}

/* To touch it takes time, for which the run is shorter. Where it is not near, or there is no time
 * for both, it is the loop. */
static void after_a_pause_it_is_a_run_if_its_code_is_near(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    enum { NOT_TOUCHED = -1 };
    double least_ns = fixed_ticks[DELAY_AFTER_PAUSE] * waiter->learnt.period_ns + 20;
    double more = fixed_ticks[DELAY_AFTER_PAUSE] - fixed_ticks[DELAY_BY_RUN];
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t ns = 1 + (uint64_t)least_ns + dice_below(&dice, 1400);
        enum delay_way way = way_of_hot(ns);
        keep_near(waiter);
        believe_runs(waiter, RIGHT);
        run.calls = 0;
        waiter->delay_touched_ticks = NOT_TOUCHED;
        assert_true(is_by_run(ours, ns, 0));
        assert_int_equal(run.calls, way == DELAY_BY_TWO_RUNS ? 2 : 1);
        assert_runs_fill(waiter, ns, fixed_ticks[way] + more);
        assert_true(waiter->delay_touched_ticks >= 0);
        waiter->delay_touched_ticks = NOT_TOUCHED;
        timebase_delay_ns(ours, ns, TIMEBASE_WAIT_STEADY, NULL);
        believe_runs(waiter, RIGHT);
        timebase_delay_ns(ours, (uint64_t)least_ns - 1, 0, NULL);
        assert_true(waiter->delay_touched_ticks == NOT_TOUCHED);
    }
}

/* Where a reading and what hides the way to it take longer than 0.15 us, on slow cores. */
static void what_is_too_short_for_a_checked_run_is_an_unchecked_one(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->learnt.checked_ns = 400;
    for (uint64_t ns = 150; ns < 600; ns += 10) {
        believe_runs(waiter, RIGHT);
        assert_true(is_by_run(ours, ns, 0));
        assert_runs_fill(waiter, ns, fixed_ticks[ns < 400 ? DELAY_UNCHECKED : DELAY_BY_RUN]);
        assert_int_equal(waiter->lesson.of != NULL, ns >= 400);
    }
}

/* To a step of the counter, by the reading at the end; of the shortest ones, too. */
static void a_delay_tells_how_far_its_end_was_from_its_target(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        uint64_t ns = 100 + dice_below(&dice, 1400);
        believe_runs(waiter, RIGHT);
        run.instructions = 0;
        uint64_t before = timebase_ticks_ordered();
        assert_int_equal(timebase_delay_ns(ours, ns, 0, &result), 0);
        uint64_t after = timebase_ticks_ordered();
        int64_t asked = (int64_t)(ticks_asked(waiter, ns) + 0.5);
        assert_runs_fill(waiter, ns, fixed_ticks[ns < 600 ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS] + 10);
        assert_true(result.target_ticks - (uint64_t)asked - before <= after - before);
        assert_true(result.event_ticks - before <= after - before);
        assert_int_equal(result.error_ticks, (int64_t)(result.event_ticks - result.target_ticks));
        assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_RUN);
        assert_false(result.disturbance & TIMEBASE_DISTURBED_SHARED);
    }
}

/* Its event is the return, which no reading sees: so long after the last one as is usual. */
static void the_event_of_a_delay_is_its_return(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct timebase_wait_result result;
    (void)state;
    waiter->learnt.delays[DELAY_BY_RUN][1].after_ticks = 64.4;
    assert_int_equal(timebase_delay_ns(ours, 300, 0, &result), 0);
    uint64_t read = waiter->delay_called_ticks + waiter->delay_taken_ticks;
    assert_int_equal(result.event_ticks - read, 64);
}

/* By whole delays as everybody calls them: what they take is known afterwards. */
static void calibration_learns_all_ways(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    const struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(ours, timebase_clock_default()), 0);
    for (int way = DELAY_BY_LOOP; way < DELAY_WAYS; way++)
        for (int measured = 0; measured < 2; measured++)
            assert_int_equal(waiter->learnt.delays[way][measured].fixed_ticks != 0,
                             waiter->learnt.exact);
    assert_int_equal(waiter->learnt.touch_ticks != 0, waiter->learnt.exact);
    assert_int_equal(waiter->learnt.checked_ns >= 150, waiter->learnt.exact);
    assert_int_equal(waiter->learnt.at_once_ticks != 0, waiter->learnt.exact);
    assert_int_equal(waiter->contradicted_run.left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_fill_what_the_rest_leaves),
        cmocka_unit_test(only_short_delays_are_so),
        cmocka_unit_test(cold_delays_and_steady_ones_are_by_the_loop),
        cmocka_unit_test(where_exact_waits_are_impossible_it_is_a_wait),
        cmocka_unit_test(waits_keep_what_they_have_to_tell),
        cmocka_unit_test(the_loop_makes_up_for_a_first_run_that_was_held_up),
        cmocka_unit_test(cold_delays_do_not_count_as_turns),
        cmocka_unit_test(cold_delays_have_a_loop_of_their_own),
        cmocka_unit_test(plain_delays_are_the_loop_and_nothing_else),
        cmocka_unit_test(what_comes_behind_the_loop_is_followed),
        cmocka_unit_test(cold_delays_of_some_us_are_no_waits),
        cmocka_unit_test(after_a_pause_it_is_a_run_if_its_code_is_near),
        cmocka_unit_test(what_is_too_short_for_a_checked_run_is_an_unchecked_one),
        cmocka_unit_test(a_delay_tells_how_far_its_end_was_from_its_target),
        cmocka_unit_test(the_event_of_a_delay_is_its_return),
        cmocka_unit_test(calibration_learns_all_ways),
    };
    stay_on_this_cpu();
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
