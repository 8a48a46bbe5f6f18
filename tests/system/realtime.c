/* SPDX-License-Identifier: MIT */
/*
 * What is granted, with whatever rights these tests run, the kernel confirms; and after release all
 * is as it was. Each test is a child: nothing of it stays.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <timebase/realtime.h>

#include "acquire.h"

#define FIFO (SCHED_FIFO | SCHED_RESET_ON_FORK)

static void expect_consistent(const struct timebase_realtime *rt)
{
    EXPECT((rt->granted & rt->refused) == 0);
    EXPECT((rt->granted | rt->refused) == TIMEBASE_REALTIME_ALL);
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
        EXPECT((rt->reason_errno[i] > 0) == (rt->refused >> i & 1));
    EXPECT((rt->cpu >= 0) == (rt->granted & TIMEBASE_REALTIME_AFFINITY));
}

static void expect_in_force(const struct timebase_realtime *rt, const struct settings *before)
{
    struct settings now = settings_now();
    if (rt->granted & TIMEBASE_REALTIME_AFFINITY) {
        EXPECT(settings_cpus(&now) == 1);
        EXPECT(sched_getcpu() == rt->cpu);
    }
    if (rt->granted & TIMEBASE_REALTIME_SCHEDULER)
        EXPECT(now.policy == FIFO && now.priority == 10);
    else if (rt->granted & TIMEBASE_REALTIME_TIMER_SLACK)
        EXPECT(now.timer_slack_ns == 1);
    if ((rt->granted & TIMEBASE_REALTIME_MEMORY) && MEMORY_LOCKS_ARE_REAL)
        EXPECT(now.is_locked != 0);
    EXPECT(now.files == before->files + !!(rt->granted & TIMEBASE_REALTIME_CPU_LATENCY));
}

static void acquire_and_release_all(void)
{
    struct settings before = begin(), after;
    for (int i = 0; i < 3; i++) {
        struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_ALL);
        expect_consistent(&rt);
        expect_in_force(&rt, &before);
        release(&rt);
        after = settings_now();
        EXPECT(settings_equal(&before, &after));
        release(&rt); /* and again, to no effect */
    }
}

static void what_is_granted_is_in_force_and_given_back(void **state)
{
    (void)state;
    child_must_pass(acquire_and_release_all);
}

static void acquire_each_set(void)
{
    struct settings before = begin(), after;
    for (uint32_t wanted = 0; wanted <= TIMEBASE_REALTIME_ALL; wanted++) {
        struct timebase_realtime rt = acquire(wanted);
        EXPECT((rt.granted | rt.refused) == wanted);
        expect_in_force(&rt, &before);
        release(&rt);
        after = settings_now();
        EXPECT(settings_equal(&before, &after));
    }
}

static void nothing_is_taken_that_was_not_asked_for(void **state)
{
    (void)state;
    child_must_pass(acquire_each_set);
}

/* Not the defaults, so that "as before" and "as usual" are different things. */
static void live_unusually(void)
{
    struct sched_param none = {0};
    EXPECT(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    EXPECT(settings_be_nicer() == 0);
    if (prctl(PR_SET_TIMERSLACK, 123456ul) != 0)
        child_skip("the timer slack cannot be set here");
    acquire_and_release_all();
    acquire_each_set();
}

static void unusual_settings_are_given_back_as_they_were(void **state)
{
    (void)state;
    child_must_pass(live_unusually);
}

static void nest(void)
{
    struct settings before = begin(), between, after;
    struct timebase_realtime outer = acquire(TIMEBASE_REALTIME_ALL);
    between = settings_now();
    struct timebase_realtime inner;
    struct timebase_realtime_request higher = {TIMEBASE_REALTIME_ALL, 20, -1};
    timebase_realtime_acquire(&inner, &higher);
    EXPECT(inner.granted == outer.granted);
    release(&inner);
    after = settings_now();
    EXPECT(settings_equal(&between, &after));
    release(&outer);
    after = settings_now();
    EXPECT(settings_equal(&before, &after));
}

static void requests_nest(void **state)
{
    (void)state;
    child_must_pass(nest);
}

/* ---- whose it is */

static void *release_there(void *argument)
{
    return (void *)(intptr_t)timebase_realtime_release(argument);
}

static void release_elsewhere(void)
{
    pthread_t thread;
    void *result;
    begin();
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_ALL), copy = rt;
    struct settings before = settings_now(), after;
    if (rt.granted == 0)
        child_skip("nothing is granted here");
    EXPECT(settings_start_thread(&thread, release_there, &rt) == 0);
    pthread_join(thread, &result);
    EXPECT((intptr_t)result == TIMEBASE_E_INVALID);
    EXPECT(memcmp(&rt, &copy, sizeof(rt)) == 0);
    after = settings_now();
    EXPECT(settings_equal(&before, &after));
    release(&rt);
}

static void another_thread_cannot_release(void **state)
{
    (void)state;
    child_must_pass(release_elsewhere);
}

/* ---- the CPU */

static void name_the_missing_cpu(void)
{
    struct timebase_realtime_request request = {TIMEBASE_REALTIME_AFFINITY, 0, 8191};
    struct settings before = settings_now(), after;
    struct timebase_realtime rt;
    if (access("/sys/devices/system/cpu/cpu0", F_OK) != 0)
        child_skip("no /sys: the kernel says EINVAL, and nobody knows why");
    if (access("/sys/devices/system/cpu/cpu8191", F_OK) == 0)
        child_skip("this machine has all CPUs");
    EXPECT(timebase_realtime_acquire(&rt, &request) == 1);
    EXPECT(rt.reason_errno[0] == ENODEV);
    EXPECT(rt.cpu == -1);
    after = settings_now();
    EXPECT(settings_equal(&before, &after));
}

static void a_cpu_that_is_not_there_is_named_so(void **state)
{
    (void)state;
    child_must_pass(name_the_missing_cpu);
}

static void take_each_cpu(void)
{
    struct settings before = settings_now();
    for (int cpu = 0; cpu < 8192; cpu++) {
        struct timebase_realtime rt;
        struct timebase_realtime_request request = {TIMEBASE_REALTIME_AFFINITY, 0, cpu};
        if (!(before.cpus[cpu / 8] >> cpu % 8 & 1))
            continue;
        EXPECT(timebase_realtime_acquire(&rt, &request) == 0);
        EXPECT(rt.cpu == cpu && sched_getcpu() == cpu);
        release(&rt);
    }
}

static void each_cpu_of_the_process_can_be_had(void **state)
{
    (void)state;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    skip_because("the bits of a set are counted in bytes");
#endif
    child_must_pass(take_each_cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_granted_is_in_force_and_given_back),
        cmocka_unit_test(nothing_is_taken_that_was_not_asked_for),
        cmocka_unit_test(unusual_settings_are_given_back_as_they_were),
        cmocka_unit_test(requests_nest),
        cmocka_unit_test(another_thread_cannot_release),
        cmocka_unit_test(a_cpu_that_is_not_there_is_named_so),
        cmocka_unit_test(each_cpu_of_the_process_can_be_had),
    };
    return run_all(tests);
}
