/* SPDX-License-Identifier: MIT */
/*
 * Time-outs on a slow machine, where a timer goes off before the handler that has set it returns.
 * The timer is not the kernel's: time goes by where this file says so, the same on any machine.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "timing/calendar/timeout.h"
#include "timeout_test.h"

/* From here on the handler has returned before the timer goes off. An emulator on a busy host. */
#define SLOW_NS 400000
/* More than any of this takes, if it ends. */
#define EXPIRIES_MAX 1000

static struct timeout timeout;
static volatile sig_atomic_t is_set; /* the timer, to something that the handler does not take */
static volatile int expiries;

static void expire(void)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = timeout.signal_number;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = &timeout;
    is_set = 0;
    expiries = expiries + 1;
    EXPECT(expiries < EXPIRIES_MAX);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), timeout.signal_number, &info);
}

/* The C library's, for timeout.c. A time that has been when the timer is set: 1 ns since boot. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *when,
                  struct itimerspec *before)
{
    int64_t ns = (int64_t)when->it_value.tv_sec * 1000000000 + when->it_value.tv_nsec;
    (void)timer;
    (void)flags;
    (void)before;
    is_set = 0;
    if (ns != 0 && ns < SLOW_NS)
        expire();
    else if (ns != 0)
        is_set = 1;
    return 0;
}

/* What is set goes off: progress is what takes time here. */
static void make_progress(void)
{
    if (is_set)
        expire();
}

static volatile sig_atomic_t handlers_ended;

static void progress_three_times(int number)
{
    (void)number;
    expire();
    for (int i = 0; i < 3; i++)
        make_progress();
    handlers_ended = handlers_ended + 1;
}

static void progress_for_ever(void *argument)
{
    (void)argument;
    for (;;)
        make_progress();
}

static void raise_and_go_on(void *argument)
{
    raise(SIGUSR1);
    progress_for_ever(argument);
}

static bool call(void (*action)(void *), int64_t at_ns, int64_t limit_ns)
{
    timeout.action = action;
    timeout_arm(&timeout, at_ns, limit_ns);
    timeout_call(&timeout);
    return timeout_disarm(&timeout);
}

static void let_a_handler_end(void)
{
    signal(SIGUSR1, progress_three_times);
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 1; i <= 20; i++) {
        EXPECT(call(raise_and_go_on, INT64_MAX / 2, SLOW_NS));
        EXPECT(handlers_ended == i);
    }
    timeout_close(&timeout);
}

/* Its time is over before it begins, and is shorter than the handler takes. */
static void stop_what_begins_late(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 20; i++)
        EXPECT(call(progress_for_ever, 1, SLOW_NS / 100));
    timeout_close(&timeout);
}

static volatile int work;

static void do_work(void *argument)
{
    (void)argument;
    work = work + 1;
}

/* The time that was over does not count: the unit has its own, all of it. */
static void let_end_what_begins_late(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 1; i <= 20; i++) {
        EXPECT(!call(do_work, 1, SLOW_NS));
        EXPECT(work == i);
    }
    timeout_close(&timeout);
}

IN_A_CHILD(a_handler_on_top_of_a_unit_is_left_to_end, let_a_handler_end)
IN_A_CHILD(a_unit_that_begins_after_its_time_out_begins_and_is_stopped, stop_what_begins_late)
IN_A_CHILD(a_unit_that_begins_after_its_time_out_has_its_time, let_end_what_begins_late)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_on_top_of_a_unit_is_left_to_end),
        cmocka_unit_test(a_unit_that_begins_after_its_time_out_begins_and_is_stopped),
        cmocka_unit_test(a_unit_that_begins_after_its_time_out_has_its_time),
    };
    return run_all(tests);
}
