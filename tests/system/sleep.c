/* SPDX-License-Identifier: MIT */
/* Sleeping in the real kernel: never too short, whatever the signals; errno is kept. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/time.h>

#include "../unit/kernel_now.h"
#include "child.h"
#include "clock/own/own.h"
#include "timing/sleep/sleep.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define MILLISECOND INT64_C(1000000)
#define LEAD_NS 4000

static struct sleeper sleeper;

static void init(const timebase_clock *clock)
{
    sleeper_init(&sleeper, &sleep_in_kernel, (void *)clock);
}

/* What a sleep that is too short is known by. */
static void expect_slept(int64_t slept_ns, int64_t least_ns, const struct sleep_wait *wait,
                         const struct timebase_instant *now)
{
    if (slept_ns < least_ns)
        dprintf(STDERR_FILENO,
                "slept %lld ns of %lld at least: margin %lld, woken %lld late, %u calls; the clock "
                "had a bound of %llu and status %u\n",
                (long long)slept_ns, (long long)least_ns, (long long)wait->margin_ns,
                (long long)wait->wake_ns, (unsigned)wait->calls,
                (unsigned long long)now->maxerror_ns, now->flags & TIMEBASE_LINE_STATUS_MASK);
    EXPECT(slept_ns >= least_ns);
}

/* Sleeps, and sees that no sleep was shorter than asked for, on the kernel's clock. */
static struct sleep_wait sleep_for(int64_t ns)
{
    const timebase_clock *clock = sleeper.context;
    struct sleep_wait wait = {0};
    struct timebase_instant now;
    int64_t kernel_ns = kernel_now(CLOCK_MONOTONIC);
    timebase_now(clock, &now);
    errno = 4321;
    while (sleep_towards(&wait, &sleeper, now.mono_ns + ns, LEAD_NS) == SLEEP_AGAIN)
        ;
    EXPECT(errno == 4321);
    int64_t slept_ns = kernel_now(CLOCK_MONOTONIC) - kernel_ns;
    int64_t error_ns = 2 * (int64_t)now.maxerror_ns + 100000;
    if (wait.margin_ns > 0)
        expect_slept(slept_ns, ns - LEAD_NS - wait.margin_ns - error_ns, &wait, &now);
    return wait;
}

static void sleep_often_by(const timebase_clock *clock)
{
    int samples = 0;
    init(clock);
    for (int i = 0; i < 50; i++)
        samples += sleep_for(2 * MILLISECOND).margin_ns > 0;
    EXPECT(samples > 0);
    EXPECT((int)sleeper.margin.samples >= samples);
}

static void sleep_often(void)
{
    sleep_often_by(timebase_clock_default());
}

static void no_sleep_is_shorter_than_asked_for(void **state)
{
    (void)state;
    child_must_pass(sleep_often);
}

static void sleep_for_the_past(void)
{
    const timebase_clock *clock = timebase_clock_default();
    int64_t past_ns = timebase_mono_ns(clock) - MILLISECOND;
    EXPECT(sleep_in_kernel.sleep_until((void *)(uintptr_t)clock, past_ns) == SLEEP_HAS_PASSED);
}

static void the_past_is_not_slept_for(void **state)
{
    (void)state;
    child_must_pass(sleep_for_the_past);
}

static volatile sig_atomic_t signals;

static void count(int number)
{
    (void)number;
    signals++;
}

/* One every 200 us, without SA_RESTART. */
static void send_signals(void)
{
    const struct itimerval interval = {{0, 200}, {0, 200}};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = count;
    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &interval, NULL) != 0)
        child_skip("no timers here");
}

static void sleep_under_signals(void)
{
    init(timebase_clock_default());
    send_signals();
    for (int i = 0; i < 20 || signals < 50; i++)
        sleep_for(5 * MILLISECOND);
    EXPECT(sleeper.margin.samples > 0);
}

static void signals_do_not_end_a_sleep(void **state)
{
    (void)state;
    child_must_pass(sleep_under_signals);
}

/* A clock that is an hour ahead of the kernel's, as after a disruption, or behind. */
static int64_t ahead_ns;

static int sample_ahead(void *context, struct discipline_sample *sample)
{
    int error = reference_kernel.sample(context, sample);
    sample->mono_ns += ahead_ns;
    return error;
}

static int moment_ahead(void *context, struct reference_moment *moment)
{
    int error = reference_kernel.moment(context, moment);
    moment->mono_ns += ahead_ns;
    return error;
}

static void sleep_by_another_clock(void)
{
    static const struct reference shifted = {
        .name = "shifted", .sample = sample_ahead, .moment = moment_ahead};
    static struct reference_kernel kernel;
    static struct own_clock own = OWN_CLOCK_INITIALIZER(&shifted, &kernel);
    sleep_often_by(own_handle(&own));
}

/* Taken for the kernel's, its moments would be an hour away, or over. */
static void it_may_be_slept_by_a_clock_far_from_the_kernels(void **state)
{
    (void)state;
    ahead_ns = 3600000 * MILLISECOND;
    child_must_pass(sleep_by_another_clock);
    ahead_ns = -ahead_ns;
    child_must_pass(sleep_by_another_clock);
}

static void make_namespace(int hours)
{
    char offsets[80];
    if (unshare(CLONE_NEWTIME) != 0)
        child_skip("a time namespace is not permitted");
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0)
        child_skip("this kernel has no time namespaces");
    snprintf(offsets, sizeof(offsets), "monotonic %d 0\n", hours * 3600);
    if (write(file, offsets, strlen(offsets)) != (ssize_t)strlen(offsets))
        child_skip("the offsets of a time namespace cannot be set");
    close(file);
}

/* Were the namespace forgotten, a sleep would last an hour, which no test survives. */
static void sleep_in_namespace(void)
{
    int64_t outside_ns = kernel_now(CLOCK_MONOTONIC);
    make_namespace(1);
    pid_t child = fork();
    if (child == 0) {
        if (kernel_now(CLOCK_MONOTONIC) < outside_ns + 3600000 * MILLISECOND)
            child_skip("the time namespace has no effect here");
        sleep_often();
        _exit(0);
    }
    _exit(child_status(child));
}

static void a_sleep_in_a_time_namespace_is_as_long_as_any(void **state)
{
    (void)state;
    child_must_pass(sleep_in_namespace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sleep_is_shorter_than_asked_for),
        cmocka_unit_test(the_past_is_not_slept_for),
        cmocka_unit_test(signals_do_not_end_a_sleep),
        cmocka_unit_test(it_may_be_slept_by_a_clock_far_from_the_kernels),
        cmocka_unit_test(a_sleep_in_a_time_namespace_is_as_long_as_any),
    };
    return run_all(tests);
}
