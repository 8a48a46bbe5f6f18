/* SPDX-License-Identifier: MIT */
/*
 * Where everything is granted: what it does to the thread and its children, and that what was there
 * before comes back. Without these rights all of it is skipped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>

#include "acquire.h"

#define NOBODY 65534

static void become_nobody(void)
{
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        child_skip("this process cannot become nobody");
}

static void have_all_rights(void)
{
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_ALL);
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
        if (rt.refused >> i & 1)
            child_skip(timebase_realtime_name(1u << i));
    if (timebase_realtime_release(&rt) != TIMEBASE_OK)
        child_skip("not privileged");
    become_nobody();
}

static void expect_all_given_back(uint32_t wanted)
{
    struct settings before = settings_now(), after;
    struct timebase_realtime rt = acquire(wanted);
    EXPECT(rt.granted == wanted);
    release(&rt);
    after = settings_now();
    EXPECT(settings_equal(&before, &after));
}

/* ---- the scheduler */

static void be_real_time_before(void)
{
    struct sched_param parameter = {.sched_priority = 3};
    EXPECT(sched_setscheduler(0, SCHED_RR, &parameter) == 0);
    expect_all_given_back(TIMEBASE_REALTIME_ALL);
}

static void a_thread_of_another_real_time_class_returns_to_it(void **state)
{
    (void)state;
    child_must_pass(be_real_time_before);
}

static void keep_a_timer_slack(void)
{
    EXPECT(prctl(PR_SET_TIMERSLACK, 123456ul) == 0);
    expect_all_given_back(TIMEBASE_REALTIME_SCHEDULER);
    expect_all_given_back(TIMEBASE_REALTIME_SCHEDULER | TIMEBASE_REALTIME_TIMER_SLACK);
    EXPECT(prctl(PR_GET_TIMERSLACK) == 123456);
}

static void a_thread_comes_back_from_fifo_with_its_timer_slack(void **state)
{
    (void)state;
    child_must_pass(keep_a_timer_slack);
}

static void *look_at_policy(void *argument)
{
    *(int *)argument = sched_getscheduler(0);
    return NULL;
}

static void have_children(void)
{
    pthread_t thread;
    int policy = -1;
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_SCHEDULER);
    EXPECT(pthread_create(&thread, NULL, look_at_policy, &policy) == 0);
    pthread_join(thread, NULL);
    EXPECT(policy == SCHED_OTHER);
    pid_t child = fork();
    if (child == 0)
        _exit(sched_getscheduler(0) == SCHED_OTHER ? 0 : 1);
    EXPECT(child_status(child) == 0);
    release(&rt);
}

static void threads_and_processes_begun_meanwhile_are_ordinary(void **state)
{
    (void)state;
    child_must_pass(have_children);
}

static struct timebase_realtime held;

static void become_nice_again(void)
{
    EXPECT(sched_getscheduler(0) == SCHED_OTHER);
    EXPECT(timebase_realtime_release(&held) == TIMEBASE_OK);
    EXPECT(sched_getscheduler(0) == SCHED_BATCH);
    EXPECT(getpriority(PRIO_PROCESS, 0) == 11);
}

static void be_nice_and_fork(void)
{
    const struct sched_param none = {0};
    EXPECT(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    EXPECT(setpriority(PRIO_PROCESS, 0, 11) == 0);
    held = acquire(TIMEBASE_REALTIME_SCHEDULER);
    _exit(child_run(become_nice_again));
}

static void a_child_that_releases_has_its_class_and_nice_value_again(void **state)
{
    (void)state;
    child_must_pass(be_nice_and_fork);
}

/* ---- the way back without rights */

/* As after an acquire with a real-time priority limit, but without CAP_SYS_NICE. */
static struct timebase_realtime acquire_and_become_nobody(void)
{
    const struct timebase_realtime_request request = {TIMEBASE_REALTIME_SCHEDULER, 10, -1};
    struct timebase_realtime rt;
    EXPECT(timebase_realtime_acquire(&rt, &request) == 0);
    become_nobody();
    return rt;
}

static void release_without_rights(void)
{
    struct timebase_realtime rt = acquire_and_become_nobody();
    for (int i = 0; i < 2; i++) {
        EXPECT(timebase_realtime_release(&rt) == TIMEBASE_E_PERMISSION);
        EXPECT(rt.granted == TIMEBASE_REALTIME_SCHEDULER);
        EXPECT(sched_getscheduler(0) == (SCHED_OTHER | SCHED_RESET_ON_FORK));
    }
}

static void the_class_is_given_back_though_the_mark_cannot_be(void **state)
{
    (void)state;
    child_must_pass(release_without_rights);
}

static void release_marked_without_rights(void)
{
    struct sched_param none = {0};
    EXPECT(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0);
    struct timebase_realtime rt = acquire_and_become_nobody();
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(rt.granted == 0);
    EXPECT(sched_getscheduler(0) == (SCHED_OTHER | SCHED_RESET_ON_FORK));
}

static void a_thread_that_had_the_mark_gets_back_all_it_had(void **state)
{
    (void)state;
    child_must_pass(release_marked_without_rights);
}

/* ---- the files */

static void expect_private_file(void)
{
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_CPU_LATENCY);
    EXPECT(rt.latency_file > STDERR_FILENO);
    EXPECT(fcntl(rt.latency_file, F_GETFD) == FD_CLOEXEC);
    release(&rt);
}

static void have_no_standard_streams(void)
{
    expect_private_file();
    close(STDIN_FILENO);
    expect_private_file();
    EXPECT(fcntl(STDIN_FILENO, F_GETFD) == -1);
}

static void the_latency_file_is_no_standard_stream_and_ends_at_exec(void **state)
{
    (void)state;
    child_must_pass(have_no_standard_streams);
}

int main(void)
{
    if (child_run(have_all_rights) == SKIPPED) {
        print_message("skipped: what is named above is refused here\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_of_another_real_time_class_returns_to_it),
        cmocka_unit_test(a_thread_comes_back_from_fifo_with_its_timer_slack),
        cmocka_unit_test(threads_and_processes_begun_meanwhile_are_ordinary),
        cmocka_unit_test(a_child_that_releases_has_its_class_and_nice_value_again),
        cmocka_unit_test(the_class_is_given_back_though_the_mark_cannot_be),
        cmocka_unit_test(a_thread_that_had_the_mark_gets_back_all_it_had),
        cmocka_unit_test(the_latency_file_is_no_standard_stream_and_ends_at_exec),
    };
    return run_all(tests);
}
