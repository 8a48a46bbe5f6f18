/* SPDX-License-Identifier: MIT */
/* An exact wait at its call that no other was soon before, and that loads its code first. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "near_exact.h"

/* A tick of the counter is so little that nothing holds a test up for long. In nanoseconds: */
enum { LITTLE = 1000000000, LOADING = 100, MORE = 150, LEAST = NEEDS + LOADING + MORE };

static int64_t scaled(int64_t ns)
{
    return ns * LITTLE;
}

/* Others' code was executed since; one that is asked for just now. */
static struct hurried begin(int64_t left_ns)
{
    uint64_t now = timebase_ticks_ordered();
    begin_without_evidence();
    waiter.learnt.period_ns = 1.0 / LITTLE;
    waiter.approach.event_ticks = waiter.hurried_ticks = waiter.exact_ticks = now - 2 * HOT;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter.learnt.near_exact_needs[way] = need((double)scaled(NEEDS));
    waiter.learnt.afresh_need.ticks = APPROACH_FARTHEST;
    waiter.learnt.load_least_ticks = scaled(LEAST);
    waiter.learnt.near_exact_ticks = INT64_MAX;
    waiter.ways.exact = approach_poll;
    for (int run = 0; run < APPROACH_RUNS; run++)
        waiter.ways.runs[run] = waiter.ways.returning_runs[run] = (const void *)approach_poll;
    calibrated_here(&waiter);
    struct hurried asked = asked_for(0);
    asked.entered_ticks = now;
    asked.ticks = now + (uint64_t)scaled(left_ns);
    return asked;
}

/* From there on it needs what others do. */
static void it_is_entered_when_all_is_there(void **state)
{
    (void)state;
    struct hurried asked = begin(LEAST + 1);
    uint64_t called = asked.entered_ticks -= 10;
    assert_true(near_exact_is_due(&asked));
    assert_true((int64_t)(asked.entered_ticks - called) >= 10);
    assert_false(asked.is_afresh);
    asked = begin(LEAST - 1);
    called = asked.entered_ticks;
    assert_false(near_exact_is_due(&asked));
    assert_true(asked.entered_ticks == called);
}

static void note_nothing(void *argument)
{
    (void)argument;
}

static void what_calls_or_tells_does_not(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    struct hurried asked = begin(LEAST + 1);
    asked.result = &result;
    assert_false(near_exact_is_due(&asked));
    asked.result = NULL;
    asked.function = note_nothing;
    assert_false(near_exact_is_due(&asked));
    asked.function = NULL;
    assert_true(near_exact_is_due(&asked));
}

/* The counter has run on, as if it had taken so long to load. */
static struct hurried begin_late(void)
{
    struct hurried asked = begin(NEEDS + MORE - 1);
    asked.entered_ticks -= (uint64_t)scaled(LEAST);
    waiter.approach.event_ticks = waiter.hurried_ticks = asked.entered_ticks - 2 * HOT;
    return asked;
}

static void where_that_takes_too_long_the_loop_has_turns(void **state)
{
    (void)state;
    struct hurried asked = begin_late();
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 1);
    struct caution known = waiter.far_code;
    asked = begin(LEAST + 1);
    waiter.far_code = known;
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 0);
    waiter.far_code.turns = 64;
    assert_true(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.turns, 63); /* it went well */
}

/* That says nothing of how far its code is. */
static void it_is_not_for_what_others_do(void **state)
{
    (void)state;
    for (unsigned flag = 1; flag < WAITER_FLAGS; flag *= 2) {
        struct hurried asked = begin(LEAST + 1);
        asked.flags = flag;
        assert_int_equal(near_exact_is_due(&asked), flag == TIMEBASE_WAIT_STEADY);
        assert_int_equal(waiter.far_code.left, 0);
    }
    struct hurried asked = begin(LEAST + 1);
    waiter.cpu++; /* it was calibrated on another one */
    assert_false(near_exact_is_due(&asked));
    asked = begin(LEAST + 1);
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 30; /* the loop is better */
    assert_false(near_exact_is_due(&asked));
    asked = begin(LEAST + 1);
    asked.frame = NULL; /* it would return by way of its callers */
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 0);
}

/* What is farther ahead, and has enough, rehearses until its time comes. */
static void with_time_for_rehearsals_it_is_one_afresh(void **state)
{
    (void)state;
    struct hurried asked = begin(LEAST + 1);
    waiter.learnt.afresh_need.ticks = (double)scaled(LEAST);
    waiter.learnt.cold_ticks = INT64_MAX;
    uint64_t called = asked.entered_ticks;
    assert_true(near_exact_is_due(&asked));
    assert_true(asked.is_afresh);
    assert_true(asked.entered_ticks == called);
}

static void a_calibration_says_whether_there_are_any(void **state)
{
    (void)state;
    begin(0);
    near_exact_init(&waiter);
    assert_true(waiter.learnt.load_least_ticks < INT64_MAX / 2);
    assert_true(waiter.learnt.load_least_ticks > scaled(LOADING));
    step();
    near_exact_init(&waiter);
    assert_true(waiter.learnt.load_least_ticks == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_entered_when_all_is_there),
        cmocka_unit_test(what_calls_or_tells_does_not),
        cmocka_unit_test(where_that_takes_too_long_the_loop_has_turns),
        cmocka_unit_test(it_is_not_for_what_others_do),
        cmocka_unit_test(with_time_for_rehearsals_it_is_one_afresh),
        cmocka_unit_test(a_calibration_says_whether_there_are_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
