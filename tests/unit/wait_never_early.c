/* SPDX-License-Identifier: MIT */
/*
 * Never early: by the counter's own reading in the event, whatever the flags and the distance, and
 * even if what calibration learnt were wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "timing/waiter/waiter.h"
#include "waiting.h"

#define TARGETS 60 /* for each way and each combination of flags */

static struct dice dice;

/* Up to 20 us, sometimes past; sleeping waits up to half a millisecond, or they would not sleep. */
static int64_t some_distance(unsigned flags)
{
    uint64_t range = flags & TIMEBASE_WAIT_SLEEP ? 500000 : 20000;
    return (int64_t)dice_below(&dice, range) - 500;
}

static void assert_not_early(enum way way, unsigned flags)
{
    struct timebase_wait_result result;
    int with_result = dice_below(&dice, 2) == 0;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(some_distance(flags));
    forget_event();
    int late = wait_by(the_waiter(), way, (int64_t)target, flags, with_result ? &result : NULL);
    uint64_t after = timebase_ticks_ordered();
    assert_true(late == 0 || late == 1);
    assert_true((int64_t)(after - target) >= 0);
    if (calls_a_function(way))
        assert_true(event.calls == 1 && (int64_t)(event.ticks - target) >= 0);
    if (with_result)
        assert_true((int64_t)(result.event_ticks - target) >= 0);
}

static void assert_never_early(int targets)
{
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; flags & TIMEBASE_WAIT_NEVER_EARLY && i < targets; i++) {
            assert_not_early(UNTIL_TICKS, flags);
            assert_not_early(CALL_TICKS, flags);
        }
}

static void no_event_comes_before_its_target(void **state)
{
    (void)state;
    assert_never_early(TARGETS);
}

/* Numbers that send the event far before the target. */
static void the_counter_decides_even_where_the_aim_is_wrong(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    struct waiter_learnt learnt = waiter->learnt;
    (void)state;
    waiter->learnt.plain_bias_ticks += 300;
    assert_never_early(10);
    waiter->learnt = learnt;
    waiter->learnt.tail.cycles += 500;
    assert_never_early(10);
    waiter->learnt = learnt;
}

/* The target is a tick as the clock has it before the wait: its last line may differ by a bit. */
static void times_are_not_early_either_as_the_clock_tells_them(void **state)
{
    static const enum way ways[] = {UNTIL_MONO, CALL_MONO, UNTIL_UTC, CALL_UTC};
    (void)state;
    for (int i = 0; i < 4 * TARGETS; i++) {
        struct timebase_wait_result result;
        enum way way = ways[i % 4];
        int64_t target = target_in(way, some_distance(0));
        wait_by(the_waiter(), way, target, TIMEBASE_WAIT_NEVER_EARLY, &result);
        assert_true((int64_t)(result.event_ticks - result.target_ticks) >= 0);
    }
}

/* To the end of a delay, from before it was asked for. */
static void assert_no_delay_too_short(int delays)
{
    double per_ns = ticks_per_ns();
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; flags & TIMEBASE_WAIT_NEVER_EARLY && i < delays; i++) {
            struct timebase_wait_result result;
            uint64_t ns = dice_below(&dice, i % 2 ? 20000 : 1000);
            uint64_t before = timebase_ticks_ordered();
            assert_true(timebase_delay_ns(the_waiter(), ns, flags, i % 3 ? &result : NULL) >= 0);
            uint64_t took = timebase_ticks_ordered() - before;
            if ((double)took < (double)ns * per_ns * 0.999 - 1)
                fail_msg("%llu ns asked for, %f waited; flags %u", (unsigned long long)ns,
                         (double)took / per_ns, flags);
        }
}

static void no_delay_that_is_never_early_is_too_short(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    struct waiter_learnt learnt = waiter->learnt;
    (void)state;
    assert_no_delay_too_short(TARGETS);
    waiter->learnt.delay_read_ticks[0] += 3000; /* as if calibration had been disturbed */
    waiter->learnt.delay_read_ticks[1] += 3000;
    assert_no_delay_too_short(10);
    waiter->learnt = learnt;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_comes_before_its_target),
        cmocka_unit_test(the_counter_decides_even_where_the_aim_is_wrong),
        cmocka_unit_test(times_are_not_early_either_as_the_clock_tells_them),
        cmocka_unit_test(no_delay_that_is_never_early_is_too_short),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
