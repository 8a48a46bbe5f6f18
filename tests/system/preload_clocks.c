/* SPDX-License-Identifier: MIT */
/* Each clock of a preloaded program means what the kernel means by it, and timers agree with it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "preload.h"
#include "skipped.h"

enum { READINGS = 20000, SLEEPS = 100 };

static const clockid_t followed[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                     CLOCK_BOOTTIME, CLOCK_TAI};
static const clockid_t others[] = {CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
                                   CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                   CLOCK_REALTIME_ALARM, CLOCK_BOOTTIME_ALARM};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A step of the system clock between three readings is no fault of ours. */
static int was_stepped(clockid_t id, int64_t before_ns, int64_t after_ns)
{
    return (id == CLOCK_REALTIME || id == CLOCK_TAI) && after_ns < before_ns;
}

static void a_followed_clock_is_not_behind_and_ahead_by_no_more_than_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(followed); i++)
        for (int n = 0; n < READINGS; n++) {
            int64_t before = kernel_ns(followed[i]), here = reading_ns(followed[i]);
            int64_t after = kernel_ns(followed[i]);
            if (!was_stepped(followed[i], before, after))
                assert_between(before, here, after + AHEAD_NS);
        }
}

static void every_other_clock_is_the_kernels(void **state)
{
    clockid_t mine;
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        for (int n = 0; n < 100; n++) {
            struct timespec now;
            int64_t before = kernel_ns(others[i]);
            if (clock_gettime(others[i], &now) != 0)
                continue; /* no alarm clock in this machine */
            assert_between(before, ns_of(&now), kernel_ns(others[i]));
        }
    assert_int_equal(clock_getcpuclockid(0, &mine), 0);
    int64_t before = kernel_ns(mine), here = reading_ns(mine);
    assert_between(before, here, kernel_ns(mine));
}

static void the_other_functions_agree(void **state)
{
    (void)state;
    for (int n = 0; n < READINGS / 10; n++) {
        struct timeval day;
        struct timespec spec;
        int64_t before = kernel_ns(CLOCK_REALTIME);
        assert_int_equal(gettimeofday(&day, NULL), 0);
        assert_int_equal(timespec_get(&spec, TIME_UTC), TIME_UTC);
        int64_t after = kernel_ns(CLOCK_REALTIME);
        if (after < before)
            continue;
        int64_t us = (int64_t)day.tv_sec * 1000000 + day.tv_usec;
        assert_between(before / 1000, us, (after + AHEAD_NS) / 1000);
        assert_between(before, ns_of(&spec), after + AHEAD_NS);
        before = kernel_ns(CLOCK_REALTIME_COARSE);
        time_t stored, told = time(&stored);
        assert_true(stored == told);
        assert_between(before / NS_PER_SEC, told, kernel_ns(CLOCK_REALTIME_COARSE) / NS_PER_SEC);
    }
}

static void a_resolution_is_the_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(followed); i++) {
        struct timespec here, there;
        assert_int_equal(clock_getres(followed[i], &here), 0);
        assert_int_equal(syscall(CALL_GETRES, followed[i], &there), 0);
        assert_int_equal(ns_of(&here), ns_of(&there));
        assert_int_equal(clock_getres(followed[i], NULL), 0);
    }
}

static void what_is_wrong_is_told_as_by_the_c_library(void **state)
{
    struct timespec now;
    struct timezone zone;
    struct timeval time, *volatile nowhere = NULL;
    (void)state;
    errno = 0;
    assert_int_equal(clock_gettime(99, &now), -1);
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_int_equal(clock_getres(99, &now), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(timespec_get(&now, 0), 0);
    if (sizeof(time_t) == sizeof(long)) /* else the C library itself writes there */
        assert_int_equal(gettimeofday(nowhere, NULL), 0);
    memset(&zone, 0xff, sizeof(zone));
    assert_int_equal(gettimeofday(&time, &zone), 0);
    assert_int_equal(zone.tz_minuteswest, 0);
    errno = EXDEV;
    for (size_t i = 0; i < COUNT(followed); i++)
        assert_int_equal(clock_gettime(followed[i], &now), 0);
    assert_int_equal(errno, EXDEV);
}

static void an_address_that_is_none_raises_a_signal(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct timespec *volatile nowhere = NULL;
        signal(SIGSEGV, SIG_DFL);
        clock_gettime(CLOCK_MONOTONIC, nowhere);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* Where there are two of each function, programs of before call those with 32-bit seconds. */
static void seconds_of_32_bits_are_the_same_time(void **state)
{
    int (*found)(clockid_t, int32_t *);
    int32_t now[2];
    (void)state;
    if (sizeof(time_t) == sizeof(long))
        skip_because("this machine has one function of each name");
    *(void **)&found = dlsym(RTLD_DEFAULT, "clock_gettime");
    assert_non_null(found);
    for (size_t i = 0; i < COUNT(followed); i++) {
        int64_t before = kernel_ns(followed[i]);
        assert_int_equal(found(followed[i], now), 0);
        int64_t ns = (int64_t)now[0] * NS_PER_SEC + now[1], after = kernel_ns(followed[i]);
        if (!was_stepped(followed[i], before, after))
            assert_between(before, ns, after + AHEAD_NS);
    }
}

/* ---- what event loops rely on -------------------------------------------------------------------- */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / NS_PER_SEC, ns % NS_PER_SEC};
}

static void after_sleeping_until_a_time_it_is_that_time(void **state)
{
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI};
    (void)state;
    for (size_t i = 0; i < COUNT(clocks); i++)
        for (int n = 0; n < SLEEPS; n++) {
            int64_t until_ns = reading_ns(clocks[i]) + 1000 * n;
            struct timespec until = timespec_of(until_ns);
            assert_int_equal(clock_nanosleep(clocks[i], TIMER_ABSTIME, &until, NULL), 0);
            int64_t kernels = kernel_ns(clocks[i]);
            assert_true(reading_ns(clocks[i]) >= until_ns || kernels < until_ns);
        }
}

static void a_timer_has_not_expired_too_early(void **state)
{
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    (void)state;
    assert_true(timer >= 0);
    for (int n = 0; n < SLEEPS; n++) {
        uint64_t expirations;
        int64_t at_ns = reading_ns(CLOCK_MONOTONIC) + 10000 * n;
        struct itimerspec at = {.it_value = timespec_of(at_ns)};
        assert_int_equal(timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL), 0);
        assert_int_equal(read(timer, &expirations, sizeof(expirations)), sizeof(expirations));
        assert_true(reading_ns(CLOCK_MONOTONIC) >= at_ns);
    }
    close(timer);
}

static void a_timed_wait_has_not_ended_too_early(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_condattr_t attributes;
    pthread_cond_t never;
    (void)state;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&never, &attributes);
    pthread_mutex_lock(&lock);
    for (int n = 0; n < SLEEPS; n++) {
        int64_t at_ns = reading_ns(CLOCK_MONOTONIC) + 10000 * n;
        struct timespec at = timespec_of(at_ns);
        if (pthread_cond_timedwait(&never, &lock, &at) == ETIMEDOUT)
            assert_true(reading_ns(CLOCK_MONOTONIC) >= at_ns);
    }
    pthread_mutex_unlock(&lock);
}

static void a_file_is_not_from_the_future(void **state)
{
    char name[] = "/tmp/preload_clocks.XXXXXX";
    int file = mkstemp(name);
    (void)state;
    assert_true(file >= 0);
    for (int n = 0; n < SLEEPS; n++) {
        struct stat found;
        int64_t before_ns = kernel_ns(CLOCK_REALTIME);
        assert_int_equal(write(file, "x", 1), 1);
        int64_t now_ns = reading_ns(CLOCK_REALTIME);
        assert_int_equal(fstat(file, &found), 0);
        assert_true(ns_of(&found.st_mtim) <= now_ns || now_ns < before_ns);
    }
    close(file);
    unlink(name);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_followed_clock_is_not_behind_and_ahead_by_no_more_than_told),
        cmocka_unit_test(every_other_clock_is_the_kernels),
        cmocka_unit_test(the_other_functions_agree),
        cmocka_unit_test(a_resolution_is_the_kernels),
        cmocka_unit_test(what_is_wrong_is_told_as_by_the_c_library),
        cmocka_unit_test(an_address_that_is_none_raises_a_signal),
        cmocka_unit_test(seconds_of_32_bits_are_the_same_time),
        cmocka_unit_test(after_sleeping_until_a_time_it_is_that_time),
        cmocka_unit_test(a_timer_has_not_expired_too_early),
        cmocka_unit_test(a_timed_wait_has_not_ended_too_early),
        cmocka_unit_test(a_file_is_not_from_the_future),
    };
    (void)argc;
    run_preloaded(argv, "always");
    return run_all(tests);
}
