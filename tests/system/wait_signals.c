/* SPDX-License-Identifier: MIT */
/* Signals throughout waits: they delay and are told, and nothing else comes of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "../unit/dice.h"
#include "../unit/waiting.h"
#include "skipped.h"

#define PERIOD_US 200
#define WAITS 3000
#define WAITS_MAX 300000 /* until one was disturbed */

static volatile sig_atomic_t signals;
static struct dice dice;

/* It reads the clock, as a handler may, and spoils errno, as it should not. */
static void count_signal(int number)
{
    (void)number;
    timebase_mono_ns(timebase_clock_default());
    signals++;
}

static int start_signals(void **state)
{
    struct itimerval timer = {{0, PERIOD_US}, {0, PERIOD_US}};
    struct sigaction action;
    (void)state;
    the_waiter(); /* learns in peace */
    memset(&action, 0, sizeof(action));
    action.sa_handler = count_signal;
    signals = 0;
    return sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL);
}

static int stop_signals(void **state)
{
    struct itimerval none = {{0, 0}, {0, 0}};
    (void)state;
    return setitimer(ITIMER_REAL, &none, NULL);
}

static struct timebase_wait_result some_wait(unsigned flags)
{
    struct timebase_wait_result result;
    /* A wait's own beginning takes 10 us and more under emulation. */
    uint64_t range = flags & TIMEBASE_WAIT_SLEEP ? 1000000 : 50000;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of((int64_t)dice_below(&dice, range));
    uint64_t before = timebase_ticks_ordered();
    forget_event();
    int late = timebase_wait_call_ticks(the_waiter(), target, flags, note_event, &event, &result);
    assert_true(late == result.late && late >= 0);
    assert_int_equal(event.calls, 1);
    assert_true((int64_t)(result.event_ticks - before) >= 0);
    if (flags & TIMEBASE_WAIT_NEVER_EARLY)
        assert_true((int64_t)(event.ticks - target) >= 0);
    return result;
}

static void waits_end_as_they_should(void **state)
{
    (void)state;
    for (int i = 0; i < WAITS; i++)
        some_wait((unsigned)i & EVERY_FLAG);
    while (signals == 0)
        some_wait(0);
}

/* Nobody is told the time of the signals: the evidence is the waiter's own. */
static void some_waits_are_told_to_have_been_disturbed(void **state)
{
    uint32_t seen = 0;
    (void)state;
    for (int i = 0; i < WAITS_MAX && seen == 0; i++)
        seen = some_wait(0).disturbance & (uint32_t)~TIMEBASE_DISTURBED_UNEVEN &
            (uint32_t)~TIMEBASE_DISTURBED_SHARED;
    assert_true(seen != 0);
}

/* The kernel clears the thread's mark when it delivers a signal. */
static void a_signal_is_told_from_a_gap_where_the_kernel_leaves_a_mark(void **state)
{
    uint32_t seen = 0;
    (void)state;
    if (!(description_of(the_waiter()).evidence & TIMEBASE_DISTURBED_PREEMPTED))
        skip_because("no restartable sequences here: C library or kernel too old, or emulated");
    for (int i = 0; i < WAITS_MAX && !(seen & TIMEBASE_DISTURBED_PREEMPTED); i++)
        seen |= some_wait(0).disturbance;
    assert_true(seen & TIMEBASE_DISTURBED_PREEMPTED);
}

static void a_sleep_is_not_cut_short(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(5 * MILLISECOND);
        assert_true(timebase_wait_until_ticks(the_waiter(), target,
                                              TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_NEVER_EARLY,
                                              NULL) >= 0);
        assert_true((int64_t)(timebase_ticks_ordered() - target) >= 0);
    }
}

static void a_waiter_calibrated_among_signals_works(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(timebase_waiter_calibrate(the_waiter()), 0);
        for (int k = 0; k < 100; k++)
            some_wait((unsigned)k & EVERY_FLAG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_end_as_they_should),
        cmocka_unit_test(some_waits_are_told_to_have_been_disturbed),
        cmocka_unit_test(a_signal_is_told_from_a_gap_where_the_kernel_leaves_a_mark),
        cmocka_unit_test(a_sleep_is_not_cut_short),
        cmocka_unit_test(a_waiter_calibrated_among_signals_works),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, start_signals, stop_signals);
}
