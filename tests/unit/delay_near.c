/* SPDX-License-Identifier: MIT */
/* A short delay that is an exact wait at its call: when, until when, and a whole one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "near_waits.h"
#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_near.h"

/* A tick is 2 ns; the last delay was just now. */
enum { NOW = 1000000, PERIOD_NS = 2, HOT = 10000, NEAR = 1500, NEEDS = 150, NEEDS_COLD = 300 };
enum { CALL = 4, NEEDS_TELLING = 200 };

static struct waiter waiter;

static void begin_anew(void)
{
    struct waiter_learnt *learnt = &waiter.learnt;
    memset(&waiter, 0, sizeof(waiter));
    learnt->period_ns = PERIOD_NS;
    learnt->hot_ticks = HOT;
    learnt->exact = 1;
    learnt->near_delay_ticks = NEAR;
    learnt->near_exact_needs[EVENT_RETURNS] = need(NEEDS);
    learnt->near_exact_needs[EVENT_TELLS] = need(NEEDS_TELLING);
    learnt->near_exact_cold = need(NEEDS_COLD);
    learnt->near_rehearsal_ticks = NO_TIME;
    learnt->delay_call_ticks = CALL;
    waiter.vernier.readings = 1;
    choice_forget(&waiter.choice);
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter.choice.error_ticks[CHOICE_LOOP][i] = 10;
        waiter.choice.error_ticks[CHOICE_EXACT][i] = 1;
    }
    waiter.exact_ticks = NOW - 1;
    waiter.delay_called_ticks = NOW;
    waiter.delay_error_ticks = DELAY_ERROR_UNKNOWN;
    waiter.uses = 1;
}

/* ---- is there the time to ask? ------------------------------------------------------------ */

static void it_takes_what_an_exact_wait_at_its_call_needs(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    begin_anew();
    assert_true(delay_may_be_near(&waiter, NEEDS * PERIOD_NS, NULL));
    assert_false(delay_may_be_near(&waiter, NEEDS * PERIOD_NS - 1, NULL));
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS - 0.5);
    assert_true(delay_may_be_near(&waiter, NEEDS_TELLING * PERIOD_NS, &result));
    assert_false(delay_may_be_near(&waiter, NEEDS_TELLING * PERIOD_NS - 1, &result));
}

/* The first is late beside a neighbour: only where the next ones will be such delays, too. */
static void by_code_that_is_not_near_it_takes_more(void **state)
{
    enum { LONGER_NS = 300, LEAST_NS = NEEDS_COLD * PERIOD_NS + LONGER_NS };
    (void)state;
    begin_anew();
    waiter.exact_ticks = NOW - HOT;
    assert_true(delay_may_be_near(&waiter, LEAST_NS, NULL));
    assert_false(delay_may_be_near(&waiter, LEAST_NS - 1, NULL));
    assert_true(waiter.learnt.near_exact_cold.ticks == NEEDS_COLD - 0.5);
}

/* One in eight, or nothing would bring it near. */
static int tried(uint64_t delay_ns, const struct timebase_wait_result *result)
{
    enum { TICKS = 16, EIGHT = 8 };
    int tried = 0;
    for (int i = 0; i < EIGHT; i++) {
        waiter.delay_called_ticks = NOW + (uint64_t)i * TICKS;
        tried += delay_may_be_near(&waiter, delay_ns, result);
    }
    return tried;
}

/* Still shorter ones are counted at once, but for those with a result. */
static void by_code_that_is_not_near_a_shorter_one_is_tried(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    begin_anew();
    waiter.exact_ticks = NOW - HOT;
    waiter.counted.span_ns = DELAY_SHORT_NS;
    assert_int_equal(tried(DELAY_COUNTED_AT_ONCE_NS, NULL), 1);
    assert_int_equal(tried(DELAY_COUNTED_AT_ONCE_NS - 1, NULL), 0);
    assert_int_equal(tried(DELAY_COUNTED_AT_ONCE_NS - 1, &result), 1);
    waiter.counted.span_ns = 0; /* where nothing is counted */
    assert_int_equal(tried(DELAY_COUNTED_AT_ONCE_NS - 1, NULL), 1);
}

/* It would never be one, and what it needs would fade to nothing. */
static void what_is_too_short_for_any_check_is_not_asked(void **state)
{
    (void)state;
    begin_anew();
    waiter.learnt.checked_ns = NEEDS * PERIOD_NS + 1;
    assert_false(delay_may_be_near(&waiter, NEEDS * PERIOD_NS, NULL));
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS);
}

static void where_there_are_no_such_waits_there_are_no_such_delays(void **state)
{
    (void)state;
    begin_anew();
    waiter.learnt.near_delay_ticks = 0;
    assert_false(delay_may_be_near(&waiter, NEAR, NULL));
    assert_true(waiter.learnt.near_exact_needs[EVENT_RETURNS].ticks == NEEDS);
}

/* ---- is it due? --------------------------------------------------------------------------- */

static int64_t left_of(uint64_t delay_ns, unsigned flags)
{
    return delay_near_left_ticks(&waiter, delay_ns, flags, NULL);
}

static int is_due(uint64_t delay_ns, unsigned flags)
{
    return left_of(delay_ns, flags) != 0;
}

/* To the nearest tick. */
static void it_ends_so_long_after_its_call(void **state)
{
    (void)state;
    begin_anew();
    assert_int_equal(left_of(1000, 0), 1000 / PERIOD_NS - CALL);
    assert_int_equal(left_of(1001, 0), 1000 / PERIOD_NS - CALL + 1);
    assert_true(is_due(1000, TIMEBASE_WAIT_STEADY));
}

static void it_is_not_for_what_others_do(void **state)
{
    (void)state;
    begin_anew();
    assert_true(is_due((NEAR + CALL) * PERIOD_NS - 2, 0));
    assert_false(is_due((NEAR + CALL) * PERIOD_NS, 0)); /* it has the time for the stages */
    assert_false(is_due(1000, TIMEBASE_WAIT_PLAIN));
    assert_false(is_due(1000, TIMEBASE_WAIT_NEVER_EARLY));
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 20;
    assert_false(is_due(1000, 0));
}

/* It would be that wait, and the one around it would have nothing to tell any more. */
static void in_a_wait_s_function_it_is_none(void **state)
{
    (void)state;
    begin_anew();
    waiter.is_in_event = 1;
    assert_false(is_due(1000, 0));
}

/* ---- after a pause ------------------------------------------------------------------------ */

/* A tick of the counter is so little that nothing holds a test up for long. */
enum { LITTLE = 1000000000, LOADING_NS = 80, MORE_NS = 90 };

static uint64_t begin_after_pause(uint64_t delay_ns)
{
    struct waiter_learnt *learnt = &waiter.learnt;
    begin_anew();
    learnt->period_ns = (double)PERIOD_NS / LITTLE;
    learnt->near_delay_ticks = learnt->near_exact_ticks = INT64_MAX;
    learnt->near_exact_needs[EVENT_RETURNS] = need((double)NEEDS * LITTLE);
    waiter.ways.exact = approach_poll;
    for (int run = 0; run < APPROACH_RUNS; run++)
        waiter.ways.returning_runs[run] = (const void *)(uintptr_t)approach_poll;
    evidence_init(&waiter.evidence, &waiter.approach);
    calibrated_here(&waiter);
    waiter.far_code = (struct caution){.turns = 64};
    waiter.delay_called_ticks = timebase_ticks_ordered();
    return delay_ns;
}

static void after_a_pause_it_loads_what_it_needs(void **state)
{
    const uint64_t least_ns = NEEDS * PERIOD_NS + LOADING_NS + MORE_NS;
    (void)state;
    uint64_t ns = begin_after_pause(least_ns + 1);
    assert_true(delay_near_left_after_pause(&waiter, ns, 0) != 0);
    assert_true(waiter.delay_touched_ticks >= 0);
    assert_int_equal(waiter.far_code.turns, 63); /* it went well */
    begin_after_pause(ns);
    waiter.delay_touched_ticks = -1;
    assert_int_equal(delay_near_left_after_pause(&waiter, least_ns - 1, 0), 0);
    assert_int_equal(waiter.delay_touched_ticks, -1); /* too short for it */
    waiter.learnt.near_delay_ticks = 0; /* there are none */
    assert_int_equal(delay_near_left_after_pause(&waiter, ns, 0), 0);
}

/* The counter has run on: its way in took so long, and it is to take as long again to load. */
static void after_a_pause_it_takes_the_time_to_load_as_well(void **state)
{
    enum { LONG_NS = 1000 };
    (void)state;
    uint64_t ns = begin_after_pause(LONG_NS);
    double way_in_ns = (LONG_NS - NEEDS * PERIOD_NS - MORE_NS) / 2.0;
    waiter.delay_called_ticks -= (uint64_t)((way_in_ns + 1) / waiter.learnt.period_ns);
    assert_int_equal(delay_near_left_after_pause(&waiter, ns, 0), 0);
    assert_int_equal(waiter.far_code.turns, 64);
    waiter.delay_called_ticks += (uint64_t)(2 / waiter.learnt.period_ns);
    assert_true(delay_near_left_after_pause(&waiter, ns, 0) != 0);
}

/* Nor where the loop has been better. */
static void after_a_pause_it_is_not_on_another_cpu(void **state)
{
    (void)state;
    uint64_t ns = begin_after_pause(1000);
    waiter.cpu++;
    assert_int_equal(delay_near_left_after_pause(&waiter, ns, 0), 0);
    ns = begin_after_pause(1000);
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 20;
    assert_int_equal(delay_near_left_after_pause(&waiter, ns, 0), 0);
    ns = begin_after_pause(1000);
    waiter.is_in_event = 1;
    assert_int_equal(delay_near_left_after_pause(&waiter, ns, 0), 0);
}

/* ---- what it says of the loop --------------------------------------------------------------- */

/* By its stamp, as an exact wait. Each counts once. */
static void a_delay_by_the_loop_says_how_good_that_is(void **state)
{
    double known;
    (void)state;
    begin_anew();
    waiter.learnt.at_once_ticks = 20;
    waiter.learnt.at_once_rest_ticks = 5;
    waiter.delay_error_ticks = 15;
    is_due(1000, 0);
    known = waiter.choice.error_ticks[CHOICE_LOOP][0];
    assert_true(known < 10);
    assert_int_equal(waiter.delay_error_ticks, DELAY_ERROR_UNKNOWN);
    is_due(1000, 0);
    assert_true(waiter.choice.error_ticks[CHOICE_LOOP][0] == known);
    waiter.delay_error_ticks = 50;
    is_due(1000, 0);
    assert_true(waiter.choice.error_ticks[CHOICE_LOOP][0] > known);
}

/* ---- what it is --------------------------------------------------------------------------- */

static void it_is_such_a_wait(void **state)
{
    static void *frame[2];
    (void)state;
    begin_anew();
    tempo_init(&waiter.tempo, 0.5);
    waiter.ways.poll_bare = waiter.ways.exact = approach_poll;
    waiter.approach.rseq = (const uint32_t[8]){0};
    assert_int_equal(delay_near(&waiter, NOW + 500, 0, NULL, &frame[1]), APPROACH_ENDS_BEHIND);
    assert_int_equal(waiter.approach.target_ticks, NOW + 500);
    assert_int_equal(waiter.last.entered_ticks, NOW);
    assert_true(waiter.last.is_near_exact);
}

/* As long as nothing holds a test up. */
static void a_delay_by_the_public_function_is_one(void **state)
{
    enum { DELAY_NS = 200000000, MOST_NS = 2 * DELAY_NS };
    (void)state;
    struct waiter *real = waiter_of_near_waits(MOST_NS);
    if (real == NULL)
        return;
    uint64_t called = timebase_ticks_ordered();
    assert_int_equal(timebase_delay_ns(the_waiter(), DELAY_NS, 0, NULL) & ~1, 0);
    int64_t took = (int64_t)(timebase_ticks_ordered() - called);
    assert_true(took > waiter_ticks_of_ns(real, DELAY_NS - 1000));
    assert_true(real->last.is_near_exact);
    assert_true(real->last.near_rehearsals > 1);
}

/* A nanosecond is so long that nothing holds the test up. */
static void after_a_pause_it_is_one_as_well(void **state)
{
    enum { DELAY_NS = 2000, LONGER = 100000, MOST_NS = 2 * DELAY_NS };
    (void)state;
    struct waiter *real = waiter_of_near_waits(MOST_NS);
    if (real == NULL)
        return;
    double known = real->learnt.period_ns;
    int64_t hot = real->learnt.hot_ticks;
    real->learnt.period_ns /= LONGER;
    real->learnt.near_delay_ticks = real->learnt.near_exact_ticks = INT64_MAX;
    real->learnt.hot_ticks = INT64_MIN;
    real->far_code = (struct caution){0};
    assert_in_range(timebase_delay_ns(the_waiter(), DELAY_NS, 0, NULL), 0, 1);
    real->learnt.period_ns = known;
    real->learnt.hot_ticks = hot;
    assert_true(real->last.is_near_exact);
    assert_true(real->last.entered_ticks ==
                real->delay_called_ticks + (uint64_t)real->delay_touched_ticks);
    assert_true(real->last.ticks - real->delay_called_ticks > real->last.entered_ticks - real->delay_called_ticks);
}

/*
 * Behind approach_from() there is the caller, and nothing of the library: each call that it has to
 * return by is 2 ns. Compilers see to that where they make the last call of a function a jump.
 */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Uses the result behind the delay: else this would be a jump itself. */
static __attribute__((noinline)) int delay_from_here(uint64_t ns,
                                                     struct timebase_wait_result *result)
{
    int error = timebase_delay_ns(the_waiter(), ns, 0, result);
    return error < 0 ? error : (int)(result->late & 1);
}

static void it_returns_to_its_caller_at_once(void **state)
{
    enum { DELAY_NS = 20000000, MOST_NS = 10 * DELAY_NS, FUNCTION_BYTES = 256 };
    struct timebase_wait_result result;
    (void)state;
    struct waiter *real = waiter_of_near_waits(MOST_NS);
    if (real == NULL)
        return;
    assert_true(delay_from_here(DELAY_NS, &result) >= 0);
    assert_true(real->last.is_near_exact);
    uintptr_t returns_to = (uintptr_t)real->approach.returns_to;
    assert_in_range(returns_to - (uintptr_t)&delay_from_here, 1, FUNCTION_BYTES);
}
#else
static void it_returns_to_its_caller_at_once(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_what_an_exact_wait_at_its_call_needs),
        cmocka_unit_test(by_code_that_is_not_near_it_takes_more),
        cmocka_unit_test(by_code_that_is_not_near_a_shorter_one_is_tried),
        cmocka_unit_test(what_is_too_short_for_any_check_is_not_asked),
        cmocka_unit_test(after_a_pause_it_loads_what_it_needs),
        cmocka_unit_test(after_a_pause_it_takes_the_time_to_load_as_well),
        cmocka_unit_test(after_a_pause_it_is_not_on_another_cpu),
        cmocka_unit_test(where_there_are_no_such_waits_there_are_no_such_delays),
        cmocka_unit_test(it_ends_so_long_after_its_call),
        cmocka_unit_test(it_is_not_for_what_others_do),
        cmocka_unit_test(in_a_wait_s_function_it_is_none),
        cmocka_unit_test(a_delay_by_the_loop_says_how_good_that_is),
        cmocka_unit_test(it_is_such_a_wait),
        cmocka_unit_test(a_delay_by_the_public_function_is_one),
        cmocka_unit_test(after_a_pause_it_is_one_as_well),
        cmocka_unit_test(it_returns_to_its_caller_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
