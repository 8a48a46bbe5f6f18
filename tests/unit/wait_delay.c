/* SPDX-License-Identifier: MIT */
/*
 * Delays: what carries them and how far they aim, whatever holds the thread up, and told as they
 * were. How long they take is measured, not asserted: `make accuracy`.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "dice.h"
#include "timing/wait/delay_long.h"
#include "timing/waiter/waiter.h"
#include "waiting.h"

#define DELAYS 200

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

/* The return of a short one is told so long after its last reading as it usually is. */
static int64_t expected_ticks(const struct delay *delay)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    double most = 0;
    for (int way = 0; delay->ns < 1600 && way < DELAY_WAYS; way++)
        if (waiter->learnt.delays[way][1].after_ticks > most)
            most = waiter->learnt.delays[way][1].after_ticks;
    return (int64_t)most + 1;
}

static void check_result(const struct delay *delay)
{
    const struct timebase_wait_result *result = &delay->result;
    int mechanism = result->mechanism;
    assert_true((int64_t)(result->event_ticks - delay->before) >= 0);
    assert_true((int64_t)(delay->after - result->event_ticks) >= -expected_ticks(delay));
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

static double ticks_asked(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns / waiter->learnt.period_ns;
}

/*
 * The reading that a delay counts from, and its fine reading, lie between our readings, but for a
 * step of the counter. The target is as far from it as asked for, less the way from the call to the
 * reading.
 */
static void check_target(const struct delay *delay)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    int never_early = (delay->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double bias = never_early ? 0 : waiter->learnt.delay_call_ticks;
    double from_before = (double)(int64_t)(waiter->last.ticks - delay->before);
    double from_after = (double)(int64_t)(waiter->last.ticks - delay->after);
    double asked = ticks_asked(waiter, delay->ns) - bias;
    assert_true(from_before >= asked - 2);
    assert_true(from_after <= (asked > 0 ? asked : 0) + waiter->vernier.step_ticks + 2);
}

/* One in a hurry begins no wait that could be looked at. */
static void never_hurry(struct waiter *waiter)
{
    waiter->learnt.cold_ticks = 0;
}

static void a_wait_carries_a_delay_to_its_target(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    int64_t known = waiter->learnt.cold_ticks;
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; i < DELAYS / 10; i++) {
            /* Cold ones of less than 3 us are no waits. */
            uint64_t ns = 3000 + dice_below(&dice, i % 4 ? 5000 : 100000);
            never_hurry(waiter);
            struct delay delay = delay_for(ns, flags, i % 2);
            check_target(&delay);
        }
    waiter->learnt.cold_ticks = known;
}

/* A delay that comes back late, far later than one is called. */
enum { HELD_NS = 200000 };

static int held_up_behind(struct timebase_waiter *waiter, uint64_t ns, unsigned flags,
                          struct timebase_wait_result *result, uint64_t begin_ticks)
{
    int late = timebase_delay_ns_from(waiter, ns, flags, result, begin_ticks);
    uint64_t start = timebase_ticks_ordered();
    double held_ticks = ticks_asked(waiter_within(waiter), HELD_NS);
    while ((double)(timebase_ticks_ordered() - start) < held_ticks)
        ;
    return late;
}

/*
 * How late a delay by a wait is, is how late it begins. The wait's end is followed, as long as the
 * waiter lives: what the calibration made of it too would be counted twice, and for ever.
 */
static void a_late_end_is_no_part_of_what_a_delay_is_late(void **state)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->delay = held_up_behind;
    assert_int_equal(timebase_waiter_calibrate(&ours), 0);
    double most = ticks_asked(waiter, HELD_NS) / 2;
    assert_true(waiter->learnt.delay_read_ticks[0] < most);
    assert_true(waiter->learnt.delay_read_ticks[1] < most);
    assert_true(fabs(waiter->learnt.delay_call_ticks) < most);
}

static void no_delay_at_all_returns_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct delay delay = delay_for(0, (unsigned)i & EVERY_FLAG, i % 2);
        assert_in_range(delay.returned, 0, 1);
    }
}

/* A short one is polled where no run can be counted on. */
static void a_delay_tells_how_it_passed(void **state)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    struct delay delay = delay_for(1000, 0, 1);
    int mechanism = delay.result.mechanism; /* an emulated machine has no time for either */
    if (!delay.result.late && (waiter->ways.run == NULL || !waiter->learnt.exact))
        assert_int_equal(mechanism, TIMEBASE_MECHANISM_LOOP);
    assert_int_not_equal(delay_for(50000, 0, 1).result.mechanism, TIMEBASE_MECHANISM_RUN);
}

/*
 * A delay by a wait counts from the reading at its call, too. Its fine reading says where within a
 * step that was, unless it came far later or sooner than is usual: then it was in the middle.
 */
static void a_late_fine_reading_does_not_move_a_delay(void **state)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    double asked = ticks_asked(waiter, 5000);
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        int late = turn % 2, is_cold = turn / 2; /* by cold code it comes by another way */
        double at = waiter->vernier.span_ticks / 2 - waiter->learnt.delay_call_ticks;
        waiter->learnt.delay_read_ticks[is_cold] = late ? -1e9 : 1e9;
        waiter->learnt.delay_read_ticks[!is_cold] = late ? 1e9 : -1e9;
        never_hurry(waiter);
        waiter->learnt.hot_ticks = is_cold ? -1 : INT64_MAX / 2;
        timebase_delay_ns(&ours, 5000, TIMEBASE_WAIT_PLAIN, NULL);
        double target = (double)(int64_t)(waiter->last.ticks - waiter->delay_called_ticks);
        assert_true(fabs(target + waiter->last.fraction - asked - at) < 0.1);
    }
}

static void by_far_steps_a_long_one_begins_with_roots(void **state)
{
    static struct waiter waiter;
    struct timebase_wait_result result;
    (void)state;
    assert_false(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS, 0, NULL, 0));
    waiter.counted.roots_from_ns = 100;
    assert_true(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS, 0, NULL, 0));
    assert_true(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS, TIMEBASE_WAIT_STEADY, &result, 0));
    assert_false(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS - 1, 0, NULL, 0));
    waiter.learnt.at_once_ticks = 1; /* there is a loop by cold code */
    assert_false(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS, 0, NULL, 1));
    assert_true(delay_is_long_by_steps(&waiter, DELAY_SHORT_NS, 0, &result, 1));
    assert_true(delay_is_long_by_steps(&waiter, WAITER_COLD_NS, 0, NULL, 1));
}

/* As the way there was on average, soon after another delay or not; and not as the other one. */
static void a_delay_is_called_as_long_before_its_fine_reading_as_others(void **state)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    double *known = waiter->learnt.delay_read_ticks;
    int entered_later = 0;
    (void)state;
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    double asked = ticks_asked(waiter, 5000), span = waiter->vernier.span_ticks, seen[2] = {0, 0};
    for (int turn = 0; turn < DELAYS; turn++) {
        int is_cold = turn % 2;
        known[is_cold] = seen[is_cold];
        known[!is_cold] = 1e9;
        never_hurry(waiter);
        waiter->learnt.hot_ticks = is_cold ? -1 : INT64_MAX / 2;
        timebase_delay_ns(&ours, 5000, TIMEBASE_WAIT_PLAIN, NULL);
        double later = waiter->last.read_ticks - known[is_cold];
        double at = later < -span / 2 || later > span * 3 / 2 ? span / 2 : fmax(0, fmin(later, span));
        double target = (double)(int64_t)(waiter->last.ticks - waiter->delay_called_ticks);
        at -= waiter->learnt.delay_call_ticks;
        assert_true(fabs(target + waiter->last.fraction - asked - at) < 0.1);
        int64_t later_ticks = (int64_t)(waiter->last.entered_ticks - waiter->delay_called_ticks);
        assert_true(later_ticks >= 0);
        entered_later += later_ticks > 0;
        seen[is_cold] = waiter->last.read_ticks; /* so that the next one's is near */
    }
    assert_true(entered_later > 0); /* not each, by a counter that steps slowly */
}

/*
 * Few instructions that take long, each of which needs the one before: a core that runs ahead of
 * itself has all of them under way, and what comes behind them too. Forty were as many as Zen 3 holds.
 */
static void compute(void)
{
    static volatile double seed = 1.5;
    double value = seed;
    for (int i = 0; i < 16; i++)
        value = 1 / (value + 0.5);
    seed = value;
}

static uint64_t least_time_of_computing(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t start = timebase_ticks_ordered();
        compute();
        uint64_t taken = timebase_ticks_ordered() - start;
        least = taken < least ? taken : least;
    }
    return least;
}

static void a_delay_begins_when_all_before_it_is_done(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    uint64_t least = least_time_of_computing();
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t start = timebase_ticks_ordered();
        compute();
        timebase_delay_ns(the_waiter(), 1000, 0, NULL);
        assert_true(waiter->delay_called_ticks - start >= least / 2);
    }
}

/* However late the library comes to it: 20 us, and 0.3 ms. */
static void a_delay_counts_from_its_callers_reading(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        uint64_t ns = some_delay(), begin = timebase_delay_begin();
        double held = ticks_asked(waiter, i % 8 ? 20000 : 300000), asked = ticks_asked(waiter, ns);
        while ((double)(timebase_ticks_ordered() - begin) < held)
            ;
        timebase_delay_ns_from(the_waiter(), ns, 0, &result, begin);
        double most = fabs(waiter->learnt.delay_call_ticks) + waiter->vernier.step_ticks + 2;
        assert_true(waiter->delay_called_ticks == begin);
        assert_true(fabs((double)(int64_t)(result.target_ticks - begin) - asked) <= most);
        assert_true(asked + most >= held || result.late);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_delay_returns_and_tells_what_it_was),
        cmocka_unit_test(a_wait_carries_a_delay_to_its_target),
        cmocka_unit_test(a_late_end_is_no_part_of_what_a_delay_is_late),
        cmocka_unit_test(no_delay_at_all_returns_at_once),
        cmocka_unit_test(a_delay_tells_how_it_passed),
        cmocka_unit_test(a_late_fine_reading_does_not_move_a_delay),
        cmocka_unit_test(by_far_steps_a_long_one_begins_with_roots),
        cmocka_unit_test(a_delay_is_called_as_long_before_its_fine_reading_as_others),
        cmocka_unit_test(a_delay_begins_when_all_before_it_is_done),
        cmocka_unit_test(a_delay_counts_from_its_callers_reading),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
