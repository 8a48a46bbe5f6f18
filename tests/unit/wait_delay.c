/* SPDX-License-Identifier: MIT */
/* Delays: about as long as asked for, whatever carries them, and told as they were. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "timing/wait/waiter.h"
#include "waiting.h"

#define DELAYS 200
#define CALIBRATIONS 20

static struct dice dice;

static uint64_t some_delay(void)
{
    static const uint64_t most_ns[] = {20, 200, 1000, 5000, 100000};
    return dice_below(&dice, most_ns[dice_below(&dice, 5)]);
}

struct delay {
    uint64_t ns;
    unsigned flags;
    int returned;
    uint64_t before, after;
    struct timebase_wait_result result;
};

static struct delay delay_for(uint64_t ns, unsigned flags, int with_result)
{
    struct delay delay = {.ns = ns, .flags = flags};
    memset(&delay.result, 0xa5, sizeof(delay.result));
    delay.before = timebase_ticks_ordered();
    delay.returned = timebase_delay_ns(the_waiter(), ns, flags, with_result ? &delay.result : NULL);
    delay.after = timebase_ticks_ordered();
    return delay;
}

static void check_result(const struct delay *delay)
{
    const struct timebase_wait_result *result = &delay->result;
    int mechanism = result->mechanism;
    assert_true((int64_t)(result->event_ticks - delay->before) >= 0);
    assert_true((int64_t)(delay->after - result->event_ticks) >= 0);
    assert_true((int64_t)(result->target_ticks - delay->before) >= 0);
    assert_int_equal(result->late, delay->returned);
    assert_in_range(result->disturbance, 0, EVERY_DISTURBANCE);
    assert_in_range(mechanism, TIMEBASE_MECHANISM_NONE, TIMEBASE_MECHANISM_RUN);
    if (mechanism == TIMEBASE_MECHANISM_NONE)
        assert_int_equal(result->late, 1);
    if (mechanism == TIMEBASE_MECHANISM_RUN)
        assert_true(delay->ns < 1600 && result->wake_ns == 0 && result->margin_ns == 0);
    assert_true(result->error_bound_ns > 0);
}

static void every_delay_returns_and_tells_what_it_was(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; i < DELAYS / 4; i++) {
            struct delay delay = delay_for(some_delay(), flags, i % 2);
            assert_in_range(delay.returned, 0, 1);
            if (i % 2)
                check_result(&delay);
        }
}

/* An interruption makes it longer, never shorter. A third is for a calibration that was disturbed.
 */
static int all_are_long_enough(void)
{
    double per_ns = ticks_per_ns();
    for (int i = 0; i < DELAYS; i++) {
        struct delay delay = delay_for(some_delay(), i % 2 ? TIMEBASE_WAIT_PREPARE : 0, i % 3);
        double took_ns = (double)(delay.after - delay.before) / per_ns;
        if (took_ns < (double)delay.ns * 2 / 3 - 50)
            return 0;
    }
    return 1;
}

static void they_are_about_as_long_as_asked_for_at_least(void **state)
{
    (void)state;
    for (int i = 0; i < CALIBRATIONS; i++) {
        if (all_are_long_enough())
            return;
        timebase_waiter_calibrate(the_waiter());
    }
    fail_msg("too short after each of %d calibrations", CALIBRATIONS);
}

/* Some of many come without an interruption. */
static int some_is_short_enough(uint64_t ns)
{
    double per_ns = ticks_per_ns();
    for (int i = 0; i < 20000; i++) {
        struct delay delay = delay_for(ns, 0, i % 2);
        if ((double)(delay.after - delay.before) / per_ns < 2 * (double)ns + 2000)
            return 1;
    }
    return 0;
}

static void some_are_not_much_longer_than_asked_for(void **state)
{
    (void)state;
    if (waiter_within(the_waiter())->learnt.exact)
        assert_true(some_is_short_enough(100));
    assert_true(some_is_short_enough(20000));
    assert_true(some_is_short_enough(100000));
}

static void no_delay_at_all_returns_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct delay delay = delay_for(0, (unsigned)i & EVERY_FLAG, i % 2);
        assert_in_range(delay.returned, 0, 1);
    }
}

/* Without an approach of its own a processor polls. */
static void short_delays_are_instructions_where_there_is_a_run_of_them(void **state)
{
    struct delay delay = delay_for(300, 0, 1);
    struct delay longer = delay_for(50000, 0, 1);
    int has_run = waiter_within(the_waiter())->ways.run != NULL;
    (void)state;
    if (has_run && waiter_within(the_waiter())->learnt.run_ticks > 0)
        assert_int_equal(delay.result.mechanism, TIMEBASE_MECHANISM_RUN);
    assert_int_not_equal(longer.result.mechanism, TIMEBASE_MECHANISM_RUN);
}

/* As if the core clock had changed since: to and fro, with results and without. */
static double run_after(double factor, int with_result)
{
    struct waiter_learnt *learnt = &waiter_within(the_waiter())->learnt;
    double right = learnt->run_ticks;
    learnt->run_ticks = right * factor;
    for (int i = 0; i < 20000; i++)
        delay_for(1000, 0, with_result);
    double found = learnt->run_ticks;
    learnt->run_ticks = right;
    return found / (right * factor);
}

static void short_delays_follow_the_core_clock(void **state)
{
    (void)state;
    if (waiter_within(the_waiter())->ways.run == NULL ||
        waiter_within(the_waiter())->learnt.run_ticks <= 0)
        skip();
    for (int with_result = 0; with_result < 2; with_result++) {
        assert_true(run_after(2, with_result) < 0.8);
        assert_true(run_after(0.5, with_result) > 1.25);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_delay_returns_and_tells_what_it_was),
        cmocka_unit_test(they_are_about_as_long_as_asked_for_at_least),
        cmocka_unit_test(some_are_not_much_longer_than_asked_for),
        cmocka_unit_test(no_delay_at_all_returns_at_once),
        cmocka_unit_test(short_delays_are_instructions_where_there_is_a_run_of_them),
        cmocka_unit_test(short_delays_follow_the_core_clock),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
