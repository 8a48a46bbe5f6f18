/* SPDX-License-Identifier: MIT */
/* The dispatchers that the experiments compare with: none is early, all end, nothing is left. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <timebase.h>

#include "../../measure/accuracy.h"
#include "../../measure/accuracy_event.h"
#include "../../measure/load.h"
#include "timing/waiter/waiter.h"
#include "../system/skipped.h"

#define PERIODS 40
#define REPEATS 10
#define TICKS_OF_DOUBT 1e5 /* of the clock that turns the schedule into ticks: some 40 us */

static struct timebase_waiter waiter;
static struct timebase_bench_hit hits[PERIODS];

/* The thread sanitizer holds signals back until the next call of the C library: loads make none. */
static int is_possible(int dispatcher)
{
    return dispatcher != TIMEBASE_BENCH_DISPATCH_SIGNAL || !UNDER_THREAD_SANITIZER;
}

static int run(int dispatcher, uint64_t period_ns)
{
    struct timebase_bench_schedule schedule = {
        .waiter = &waiter,
        .instrument = &waiter,
        .dispatcher = dispatcher,
        .flags = TIMEBASE_WAIT_SLEEP,
        .load = TIMEBASE_BENCH_LOAD_NOP,
        .periods = PERIODS,
        .period_ns = period_ns,
    };
    return timebase_bench_dispatch(&schedule, hits);
}

static void no_dispatcher_is_early(void **state)
{
    (void)state;
    for (int dispatcher = 0; dispatcher <= TIMEBASE_BENCH_DISPATCH_LOOP; dispatcher++) {
        int made = is_possible(dispatcher) ? run(dispatcher, 200000) : 0;
        assert_in_range(made, 0, PERIODS);
        for (int i = 0; i < made; i++)
            assert_true(hits[i].error_ticks > -TICKS_OF_DOUBT);
    }
}

/* The next signal is there before the last one's handler has returned. */
static void a_period_too_short_for_its_signals_ends_all_the_same(void **state)
{
    (void)state;
    if (!is_possible(TIMEBASE_BENCH_DISPATCH_SIGNAL))
        skip_because("the thread sanitizer holds signals back");
    for (int i = 0; i < REPEATS; i++)
        assert_in_range(run(TIMEBASE_BENCH_DISPATCH_SIGNAL, 1000), 0, PERIODS);
}

static void signals_are_as_before(void **state)
{
    (void)state;
    if (!is_possible(TIMEBASE_BENCH_DISPATCH_SIGNAL))
        skip_because("the thread sanitizer holds signals back");
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    run(TIMEBASE_BENCH_DISPATCH_SIGNAL, 50000);
    sigprocmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
        if (number >= SIGRTMIN) {
            sigaction(number, NULL, &action);
            assert_true(action.sa_handler == SIG_DFL);
        }
    }
}

/* The clock may have moved the target since the reading's base was taken. */
static void an_error_is_against_the_target_that_counts(void **state)
{
    (void)state;
    struct bench_event event;
    struct timebase_bench_hit hit;
    struct timebase_fine_reading reading;
    uint64_t base = timebase_ticks();
    int readings = waiter_within(&waiter)->vernier.readings;
    waiter_within(&waiter)->vernier.readings = 1; /* it learns nothing from what is placed again */
    bench_event_expect(&event, &waiter, base);
    bench_event_take(&event);
    assert_in_range(bench_event_place(&event, &reading), 0, 1);
    assert_in_range(bench_event_hit(&event, base + 4, &hit), 0, 1);
    assert_true(hit.error_ticks == reading.ticks - 4 && hit.bound_ticks == reading.bound_ticks);
    assert_in_range(bench_event_hit(&event, base - 4, &hit), 0, 1);
    assert_true(hit.error_ticks == reading.ticks + 4);
    bench_event_expect(&event, &waiter, 0);
    waiter_within(&waiter)->vernier.readings = readings;
    assert_int_equal(bench_event_hit(&event, 0, &hit), TIMEBASE_E_BUSY);
}

static void schedules_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_int_equal(run(-1, 1000), TIMEBASE_E_INVALID);
    assert_int_equal(run(5, 1000), TIMEBASE_E_INVALID);
    assert_int_equal(run(0, 0), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_bench_dispatch(NULL, hits), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_dispatcher_is_early),
        cmocka_unit_test(a_period_too_short_for_its_signals_ends_all_the_same),
        cmocka_unit_test(signals_are_as_before),
        cmocka_unit_test(an_error_is_against_the_target_that_counts),
        cmocka_unit_test(schedules_that_make_no_sense_are_refused),
    };
    timebase_waiter_init(&waiter, timebase_clock_default());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
