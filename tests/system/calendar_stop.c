/* SPDX-License-Identifier: MIT */
/*
 * A calendar is stopped, by a signal's handler, by another thread, by a unit: it ends soon, and
 * what it did is there. One that did not end would hang the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "../unit/calendar_units.h"
#include "child.h"

#define TEN_HOURS_NS (36000 * (int64_t)SEC)

static struct timebase_waiter waiter;
static struct timebase_release entries[64];
static struct timebase_unit_result results[2];
static int stop;
static int called;

static void set_stop(int number)
{
    (void)number;
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
}

static void count_later(void *argument)
{
    (void)argument;
    called += 100;
}

/* One release at once, which sees to it that the run is stopped, and one in ten hours. */
static void run_for_ten_hours(void (*action)(void *), uint32_t flags)
{
    struct timebase_unit units[] = {unit_of("now", 0, 0, MS),
                                    unit_of("later", TEN_HOURS_NS, 0, MS)};
    struct timebase_release_log log = {.entries = entries, .capacity = 64};
    struct timebase_calendar calendar = calendar_of(units, 2);
    units[0].action = action;
    units[1].action = count_later;
    units[0].flags = units[1].flags = flags;
    calendar.stop = &stop;
    calendar.log = &log;
    EXPECT(timebase_waiter_init(&waiter, timebase_clock_default()) == 0);
    EXPECT(timebase_calendar_run(&calendar, &waiter, results) == 0);
    EXPECT(called == 1);
    EXPECT(log.written == 1 && log.lost == 0);
    EXPECT(results[0].released == 1);
    EXPECT(results[1].released == 0 && results[1].skipped == 0);
}

/* ---- by a signal, from another process */

static int begun[2];

static void tell_the_parent(void *argument)
{
    (void)argument;
    called++;
    EXPECT(write(begun[1], "x", 1) == 1);
}

static void run_until_a_signal(uint32_t flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = set_stop;
    action.sa_flags = SA_RESTART; /* the sleep ends all the same */
    EXPECT(sigaction(SIGTERM, &action, NULL) == 0);
    run_for_ten_hours(tell_the_parent, flags);
    _exit(0);
}

static int stop_a_child(uint32_t flags)
{
    char byte;
    assert_int_equal(pipe(begun), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        run_until_a_signal(flags);
    close(begun[1]); /* so that a child that dies does not leave us waiting */
    if (read(begun[0], &byte, 1) == 1)
        kill(child, SIGTERM);
    close(begun[0]);
    return child_status(child);
}

static void a_signal_s_handler_stops_a_sleeping_calendar(void **state)
{
    (void)state;
    assert_int_equal(stop_a_child(TIMEBASE_WAIT_SLEEP), 0);
}

static void a_signal_s_handler_stops_a_polling_calendar(void **state)
{
    (void)state;
    assert_int_equal(stop_a_child(0), 0);
}

/* ---- by another thread, without a signal */

static pthread_t thread;

static void *stop_later(void *argument)
{
    usleep(30000);
    set_stop(0);
    return argument;
}

static void start_the_thread(void *argument)
{
    (void)argument;
    called++;
    EXPECT(pthread_create(&thread, NULL, stop_later, NULL) == 0);
}

static void run_until_the_thread_stops_it(void)
{
    run_for_ten_hours(start_the_thread, TIMEBASE_WAIT_SLEEP);
    pthread_join(thread, NULL);
}

static void another_thread_stops_a_calendar_by_the_flag_alone(void **state)
{
    (void)state;
    child_must_pass(run_until_the_thread_stops_it);
}

/* ---- by a unit, and beforehand */

static void stop_oneself(void *argument)
{
    (void)argument;
    called++;
    set_stop(0);
}

static void run_until_a_unit_stops_it(void)
{
    run_for_ten_hours(stop_oneself, TIMEBASE_WAIT_SLEEP);
}

static void a_unit_may_stop_its_own_calendar(void **state)
{
    (void)state;
    child_must_pass(run_until_a_unit_stops_it);
}

static void run_when_stopped(void)
{
    struct timebase_unit unit = unit_of("never", 0, MS, 10 * US);
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    unit.action = stop_oneself;
    stop = 1;
    calendar.stop = &stop;
    EXPECT(timebase_waiter_init(&waiter, timebase_clock_default()) == 0);
    EXPECT(timebase_calendar_run(&calendar, &waiter, results) == 0);
    EXPECT(called == 0 && results[0].released == 0);
}

static void a_calendar_that_is_stopped_before_it_starts_runs_nothing(void **state)
{
    (void)state;
    child_must_pass(run_when_stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_s_handler_stops_a_sleeping_calendar),
        cmocka_unit_test(a_signal_s_handler_stops_a_polling_calendar),
        cmocka_unit_test(another_thread_stops_a_calendar_by_the_flag_alone),
        cmocka_unit_test(a_unit_may_stop_its_own_calendar),
        cmocka_unit_test(a_calendar_that_is_stopped_before_it_starts_runs_nothing),
    };
    return run_all(tests);
}
