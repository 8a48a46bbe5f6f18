/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that uses the whole clock interrupts a thread that does the same, some 50 us
 * after the last time: nothing waits for ever, and nothing goes back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "../repeats.h"
#include "whole_clock.h"

#define INTERRUPTIONS 3000
#define FIRST_READINGS 60

static timer_t timer;
static volatile sig_atomic_t interruptions;
static volatile int64_t back_ns; /* how far a reading was behind one known before it began */

/*
 * The largest readings of the thread and of its handler. 64 bits are no atomic whole on every
 * processor, and libatomic's locks are nothing for handlers: the thread writes the slot that is not
 * in use, and reads the handler's number until it is the same twice.
 */
static volatile int64_t thread_ns[2], handler_ns;
static volatile sig_atomic_t slot;

/* One shot: the next comes when this one has been dealt with, or a slow machine would do nothing
 * else. */
static void wind_up(long ns)
{
    struct itimerspec when = {{0, 0}, {0, ns}};
    timer_settime(timer, 0, &when, NULL);
}

static void handle_signals_with(void (*handler)(int))
{
    struct sigaction action;
    struct sigevent event;
    memset(&action, 0, sizeof(action));
    memset(&event, 0, sizeof(event));
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    EXPECT(sigaction(SIGUSR1, &action, NULL) == 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        child_skip("no timers here");
}

static int64_t read_after(const timebase_clock *clock, int64_t known)
{
    int64_t now = timebase_mono_ns(clock);
    if (now < known)
        back_ns = known - now;
    return now;
}

static void read_in_handler(const timebase_clock *clock)
{
    int64_t by_thread = thread_ns[slot], by_handler = handler_ns;
    handler_ns = read_after(clock, by_thread > by_handler ? by_thread : by_handler);
}

static void read_in_thread(const timebase_clock *clock)
{
    int64_t by_thread = thread_ns[slot], by_handler;
    do {
        by_handler = handler_ns;
    } while (by_handler != handler_ns);
    thread_ns[!slot] = read_after(clock, by_thread > by_handler ? by_thread : by_handler);
    slot = !slot;
}

static void call_everything(const timebase_clock *clock)
{
    struct timebase_instant instant;
    struct timebase_interval when;
    struct timebase_statistics statistics;
    timebase_now(clock, &instant);
    timebase_utc_ns(clock);
    timebase_tai_ns(clock);
    timebase_utc_interval(clock, &when);
    timebase_realtime_interval(clock, &when);
    timebase_mono_at_ns(clock, instant.ticks);
    timebase_ticks_at_utc(clock, instant.utc_ns);
    timebase_clock_maintain(clock);
    timebase_clock_statistics(clock, &statistics);
}

static void interrupt(int number)
{
    const timebase_clock *clock = timebase_clock_default();
    int saved_errno = errno;
    (void)number;
    read_in_handler(clock);
    call_everything(clock);
    read_in_handler(clock);
    interruptions++;
    wind_up(50000);
    errno = saved_errno;
}

static void read_and_maintain(void)
{
    const timebase_clock *clock = timebase_clock_default();
    handle_signals_with(interrupt);
    wind_up(50000);
    while (interruptions < repeats(INTERRUPTIONS)) {
        read_in_thread(clock);
        timebase_clock_maintain(clock);
        read_in_thread(clock);
        timebase_mono_at_ns(clock, timebase_ticks());
    }
    EXPECT(back_ns == 0);
    EXPECT(handler_ns > 0);
    interruptions = -1000000000;
    whole_clock_check_readers(clock);
}

/* Restarts may step monotonic time by the clock's error: what is checked is that readings are
 * right. */
static void check_instant(const timebase_clock *clock)
{
    struct timebase_instant now;
    int64_t before = kernel_now(CLOCK_MONOTONIC);
    timebase_now(clock, &now);
    int64_t after = kernel_now(CLOCK_MONOTONIC), error = (int64_t)now.maxerror_ns;
    EXPECT((now.flags & TIMEBASE_LINE_STATUS_MASK) != TIMEBASE_STATUS_UNKNOWN);
    EXPECT(before - error <= now.mono_ns);
    EXPECT(now.mono_ns <= after + error);
}

static void interrupt_a_restart(int number)
{
    int saved_errno = errno;
    (void)number;
    check_instant(timebase_clock_default());
    call_everything(timebase_clock_default());
    interruptions++;
    wind_up(50000);
    errno = saved_errno;
}

static void read_and_restart(void)
{
    const timebase_clock *clock = timebase_clock_default();
    handle_signals_with(interrupt_a_restart);
    wind_up(50000);
    while (interruptions < repeats(INTERRUPTIONS / 3)) {
        int restarted = timebase_clock_restart(clock);
        EXPECT(restarted == 0);
        for (int i = 0; i < 20; i++)
            check_instant(clock);
        timebase_mono_at_ns(clock, timebase_ticks());
    }
}

static void read_first_of_all(int number)
{
    (void)number;
    check_instant(timebase_clock_default());
    whole_clock_check_conversions(timebase_clock_default());
    interruptions = 1;
}

static void raise_before_any_reading(void)
{
    signal(SIGUSR1, read_first_of_all);
    raise(SIGUSR1);
    EXPECT(interruptions == 1);
    whole_clock_check(timebase_clock_default());
}

/* The signal comes anywhere in the first microseconds of the clock's life. */
static long first_delay_ns;

static void interrupt_the_first_readings(void)
{
    const timebase_clock *clock = timebase_clock_default();
    handle_signals_with(read_first_of_all);
    wind_up(first_delay_ns);
    for (int64_t end = kernel_now(CLOCK_MONOTONIC) + 1000000;
         !interruptions || kernel_now(CLOCK_MONOTONIC) < end;)
        check_instant(clock);
    whole_clock_check_readers(clock);
}

static void a_handler_and_the_thread_it_interrupts_never_see_time_go_back(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer delays signals until it likes");
    child_must_pass(read_and_maintain);
}

static void a_handler_may_interrupt_a_restart(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer delays signals until it likes");
    child_must_pass(read_and_restart);
}

static void the_first_reading_of_a_process_may_be_a_handler_s(void **state)
{
    (void)state;
    child_must_pass(raise_before_any_reading);
}

static void a_handler_may_interrupt_the_first_reading(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer delays signals until it likes");
    for (int i = 0; i < FIRST_READINGS; i++) {
        first_delay_ns = 1000 + 500 * i;
        child_must_pass(interrupt_the_first_readings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_and_the_thread_it_interrupts_never_see_time_go_back),
        cmocka_unit_test(a_handler_may_interrupt_a_restart),
        cmocka_unit_test(the_first_reading_of_a_process_may_be_a_handler_s),
        cmocka_unit_test(a_handler_may_interrupt_the_first_reading),
    };
    return run_all(tests);
}
