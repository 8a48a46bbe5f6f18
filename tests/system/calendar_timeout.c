/* SPDX-License-Identifier: MIT */
/* What a time-out stops, what it waits for, and that it leaves signals, mask and clock as they
 * were. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "timing/calendar/timeout.h"
#include "timeout_test.h"
#include "../unit/held_lock.h"
#include "../unit/dice.h"

#include <timebase/clock.h>
#include <timebase/error.h>

#define US 1000
#define FAR_OFF_NS ((int64_t)1 << 60)

static struct timeout timeout;

static int64_t now_ns(void)
{
    return timebase_mono_ns(timebase_clock_default());
}

/* One call, with a time-out limit_ns from now. True if it was stopped. */
static bool call(void (*action)(void *), int64_t limit_ns)
{
    timeout.action = action;
    timeout_arm(&timeout, now_ns() + limit_ns, limit_ns);
    timeout_call(&timeout);
    return timeout_disarm(&timeout);
}

/* For a call whose own limit is far off: now, when it is where it is wanted, and not before. */
static void let_the_time_out_come(void)
{
    const struct itimerspec soon = {{0, 0}, {0, 50 * US}};
    EXPECT(timer_settime(timeout.timer, 0, &soon, NULL) == 0);
}

/* ---- what is stopped */

static void spin(void *argument)
{
    (void)argument;
    for (volatile unsigned i = 0;; i++)
        continue;
}

static int pipe_ends[2];

static void read_what_never_comes(void *argument)
{
    char byte;
    (void)argument;
    while (read(pipe_ends[0], &byte, 1) <= 0)
        continue;
}

static void sleep_for_ever(void *argument)
{
    const struct timespec long_time = {1000000, 0};
    (void)argument;
    for (;;)
        nanosleep(&long_time, NULL);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static void stop_all_kinds(void)
{
    EXPECT(pipe(pipe_ends) == 0);
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 20; i++) {
        EXPECT(call(spin, 300 * US));
        EXPECT(call(read_what_never_comes, 300 * US));
        EXPECT(call(sleep_for_ever, 300 * US));
        EXPECT(!call(do_nothing, FAR_OFF_NS / 2));
    }
    timeout_close(&timeout);
}

/* The time-out passes before the unit begins: it is stopped all the same, only later. */
static void stop_what_begins_late(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 20; i++) {
        timeout.action = spin;
        timeout_arm(&timeout, 1, 50 * US); /* shortly after boot */
        timeout_call(&timeout);
        EXPECT(timeout_disarm(&timeout));
    }
    timeout_close(&timeout);
}

static volatile sig_atomic_t let_go;

static void block_all_for_a_while(void *argument)
{
    sigset_t all, pending;
    (void)argument;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    let_the_time_out_come();
    do {
        sigpending(&pending);
    } while (sigismember(&pending, timeout.signal_number) != 1);
    let_go = 1;
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    spin(NULL);
}

static void stop_what_blocks_signals_once_it_does_not(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(call(block_all_for_a_while, FAR_OFF_NS / 2));
    EXPECT(let_go);
    timeout_close(&timeout);
}

static void block_some_and_spin(void *argument)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    spin(argument);
}

static void expect_mask(const sigset_t *wanted)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number <= 64; number++)
        EXPECT(sigismember(&mask, number) == sigismember(wanted, number));
}

static void give_the_mask_back(void)
{
    sigset_t before, in_run;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(&before, number); /* the one that will be chosen is blocked, too */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &before); /* some signals cannot be blocked */
    EXPECT(timeout_open(&timeout) == 0);
    pthread_sigmask(SIG_BLOCK, NULL, &in_run);
    EXPECT(sigismember(&in_run, timeout.signal_number) == 0);
    EXPECT(call(block_some_and_spin, 200 * US));
    expect_mask(&in_run);
    EXPECT(call(block_some_and_spin, 200 * US));
    timeout_close(&timeout);
    expect_mask(&before);
}

/* As a wait that rehearses: the function is called twice. */
static void stop_the_run_after_a_stopped_rehearsal(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 20; i++) {
        timeout.action = spin;
        timeout_arm(&timeout, now_ns() + 100 * US, 100 * US);
        timeout_call(&timeout);
        timeout_call(&timeout);
        EXPECT(timeout_disarm(&timeout));
    }
    timeout_close(&timeout);
}

/* ---- which signal */

static volatile sig_atomic_t others;

static void of_another(int number)
{
    (void)number;
    others = others + 1;
}

static void take_none_that_is_in_use(void)
{
    struct sigaction before, after;
    EXPECT(timeout_open(&timeout) == 0);
    int usual = timeout.signal_number;
    timeout_close(&timeout);
    EXPECT(sigaction(usual, NULL, &before) == 0 && before.sa_handler == SIG_DFL);
    EXPECT(signal(usual, of_another) != SIG_ERR);
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(timeout.signal_number != usual);
    EXPECT(call(spin, 200 * US));
    raise(usual);
    EXPECT(others == 1);
    /* Somebody sends the signal that was chosen: that is no time-out. */
    raise(timeout.signal_number);
    EXPECT(!timeout.is_stopped || timeout.state == TIMEOUT_OFF);
    int chosen = timeout.signal_number;
    timeout_close(&timeout);
    EXPECT(sigaction(chosen, NULL, &after) == 0 && after.sa_handler == SIG_DFL);
}

static void open_without_a_free_signal(void)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, of_another);
    EXPECT(timeout_open(&timeout) == TIMEBASE_E_UNSUPPORTED);
    signal(SIGRTMIN + 1, SIG_DFL);
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(timeout.signal_number == SIGRTMIN + 1);
    timeout_close(&timeout);
}

/* The last signal may still be on its way when all is closed; its default would kill us. */
static void close_with_a_signal_pending(void)
{
    sigset_t all;
    for (int i = 0; i < 200; i++) {
        EXPECT(timeout_open(&timeout) == 0);
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        timeout_arm(&timeout, 1, US);
        sigset_t pending;
        do {
            sigpending(&pending);
        } while (sigismember(&pending, timeout.signal_number) != 1);
        raise(timeout.signal_number); /* one that does not go with the timer */
        timeout_close(&timeout);
        sigemptyset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
}

/* ---- what is waited for */

static void raise_and_spin(void *argument)
{
    raise(SIGUSR1);
    spin(argument);
}

static void never_return(int number)
{
    (void)number;
    let_the_time_out_come();
    spin(NULL);
}

/* A handler that ends: calendar_timeout_slow.c. */
static void leave_a_handler_that_does_not_end(void)
{
    signal(SIGUSR1, never_return);
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(call(raise_and_spin, FAR_OFF_NS / 2));
    EXPECT(timeout.retries < 0);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    EXPECT(sigismember(&mask, SIGUSR1) == 0);
    timeout_close(&timeout);
}

static void maintain_for_ever(void *argument)
{
    (void)argument;
    for (;;)
        timebase_clock_maintain(timebase_clock_default());
}

static void leave_the_clock_in_order(void)
{
    struct timebase_statistics before, after;
    const timebase_clock *clock = timebase_clock_default();
    EXPECT(timebase_clock_statistics(clock, &before) == 0);
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 300; i++) {
        EXPECT(call(maintain_for_ever, 100 * US + i * 100));
        EXPECT(timebase_clock_statistics(clock, &after) == 0);
    }
    timeout_close(&timeout);
    EXPECT(after.samples > before.samples);
}

static void sleep_a_hundred_times(void *argument)
{
    const struct timespec a_while = {0, 5000000};
    (void)argument;
    for (int i = 0; i < 100; i++)
        nanosleep(&a_while, NULL);
}

/* It is at work on the clock, the unit is not: the unit is stopped meanwhile. */
static void stop_while_another_thread_has_the_clock(void)
{
    struct held_lock held;
    now_ns();
    EXPECT(timeout_open(&timeout) == 0);
    timeout.action = sleep_a_hundred_times;
    timeout_arm(&timeout, now_ns() + 300 * US, 300 * US);
    held_lock_begin(&held, cell_of(timebase_clock_default()));
    timeout_call(&timeout);
    EXPECT(timeout_disarm(&timeout));
    held_lock_end(&held);
    timeout_close(&timeout);
}

/* ---- threads and processes */

static void *open_in_another_thread(void *result)
{
    static struct timeout own;
    *(int *)result = timeout_open(&own);
    return NULL;
}

static void be_busy_for_other_threads_but_not_for_children(void)
{
    pthread_t thread;
    int result = 0;
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(pthread_create(&thread, NULL, open_in_another_thread, &result) == 0);
    pthread_join(thread, NULL);
    EXPECT(result == TIMEBASE_E_BUSY);
    pid_t child = fork();
    if (child == 0) {
        static struct timeout own;
        EXPECT(timeout_open(&own) == 0);
        timeout_close(&own);
        _exit(0);
    }
    EXPECT(child_status(child) == 0);
    timeout_close(&timeout);
    EXPECT(pthread_create(&thread, NULL, open_in_another_thread, &result) == 0);
    pthread_join(thread, NULL);
    EXPECT(result == 0);
}

static void *open_and_be_cancelled(void *number)
{
    static struct timeout left;
    *(pid_t *)number = (pid_t)syscall(SYS_gettid);
    EXPECT(timeout_open(&left) == 0);
    timeout_arm(&left, 1, 1); /* its signal finds nobody */
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return NULL;
}

/* As often as there are signals, and more: each is given back. */
static void be_free_again_when_the_thread_was_cancelled(void)
{
    EXPECT(timeout_open(&timeout) == 0);
    int first = timeout.signal_number; /* emulators do not have them all */
    timeout_close(&timeout);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pid_t number = 0;
        void *end = NULL;
        EXPECT(pthread_create(&thread, NULL, open_and_be_cancelled, &number) == 0);
        EXPECT(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED);
        /* It is joined a little before the kernel has forgotten it. */
        while (syscall(SYS_tgkill, getpid(), number, 0) == 0)
            sched_yield();
    }
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(timeout.signal_number == first);
    timeout_close(&timeout);
}

/* ---- many */

static uint64_t turns;

static void take_some_turns(void *argument)
{
    (void)argument;
    for (volatile uint64_t i = 0; i < turns; i++)
        continue;
}

/* Ends and time-outs as near to each other as chance brings them. */
static void race(void)
{
    struct dice dice = {4711};
    int counts[2] = {0, 0};
    EXPECT(timeout_open(&timeout) == 0);
    for (int i = 0; i < 3000; i++) {
        volatile unsigned canary = 0x5afe5afeu;
        turns = dice_below(&dice, 60000);
        counts[call(take_some_turns, 1 + (int64_t)dice_below(&dice, 60 * US))]++;
        EXPECT(canary == 0x5afe5afeu);
        EXPECT(timeout.state == TIMEOUT_OFF);
    }
    timeout_close(&timeout);
    dprintf(STDOUT_FILENO, "%d ended, %d stopped\n", counts[0], counts[1]);
}

static void keep_errno(void)
{
    errno = 12345;
    EXPECT(timeout_open(&timeout) == 0);
    EXPECT(errno == 12345);
    EXPECT(call(spin, 100 * US));
    EXPECT(errno == 12345);
    static struct timeout second;
    EXPECT(timeout_open(&second) == TIMEBASE_E_BUSY);
    EXPECT(errno == 12345);
    timeout_close(&timeout);
    EXPECT(errno == 12345);
}

IN_A_CHILD(units_that_spin_read_or_sleep_are_stopped, stop_all_kinds)
IN_A_CHILD(a_unit_that_begins_after_its_time_out_is_stopped_all_the_same, stop_what_begins_late)
IN_A_CHILD(a_unit_that_blocks_signals_is_stopped_once_it_does_not,
           stop_what_blocks_signals_once_it_does_not)
IN_A_CHILD(a_unit_stopped_in_its_rehearsal_is_stopped_again, stop_the_run_after_a_stopped_rehearsal)
IN_A_CHILD(the_signal_mask_is_given_back, give_the_mask_back)
IN_A_CHILD(no_signal_is_taken_that_somebody_handles, take_none_that_is_in_use)
IN_A_CHILD(without_a_free_signal_there_are_no_time_outs, open_without_a_free_signal)
IN_A_CHILD(a_signal_that_is_pending_at_the_end_kills_nobody, close_with_a_signal_pending)
IN_A_CHILD(a_handler_that_never_ends_is_left, leave_a_handler_that_does_not_end)
IN_A_CHILD(a_unit_stopped_in_the_midst_of_the_clock_leaves_it_in_order, leave_the_clock_in_order)
IN_A_CHILD(a_unit_is_stopped_while_another_thread_has_the_clock,
           stop_while_another_thread_has_the_clock)
IN_A_CHILD(one_thread_of_a_process_has_time_outs_at_a_time,
           be_busy_for_other_threads_but_not_for_children)
IN_A_CHILD(a_thread_that_was_cancelled_has_time_outs_no_more,
           be_free_again_when_the_thread_was_cancelled)
IN_A_CHILD(ends_and_time_outs_may_race, race)
IN_A_CHILD(errno_is_kept, keep_errno)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_that_spin_read_or_sleep_are_stopped),
        cmocka_unit_test(a_unit_that_begins_after_its_time_out_is_stopped_all_the_same),
        cmocka_unit_test(a_unit_that_blocks_signals_is_stopped_once_it_does_not),
        cmocka_unit_test(a_unit_stopped_in_its_rehearsal_is_stopped_again),
        cmocka_unit_test(the_signal_mask_is_given_back),
        cmocka_unit_test(no_signal_is_taken_that_somebody_handles),
        cmocka_unit_test(without_a_free_signal_there_are_no_time_outs),
        cmocka_unit_test(a_signal_that_is_pending_at_the_end_kills_nobody),
        cmocka_unit_test(a_handler_that_never_ends_is_left),
        cmocka_unit_test(a_unit_stopped_in_the_midst_of_the_clock_leaves_it_in_order),
        cmocka_unit_test(a_unit_is_stopped_while_another_thread_has_the_clock),
        cmocka_unit_test(one_thread_of_a_process_has_time_outs_at_a_time),
        cmocka_unit_test(a_thread_that_was_cancelled_has_time_outs_no_more),
        cmocka_unit_test(ends_and_time_outs_may_race),
        cmocka_unit_test(errno_is_kept),
    };
    return run_all(tests);
}
