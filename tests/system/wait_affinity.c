/* SPDX-License-Identifier: MIT */
/* A waiting thread is moved to another CPU: the wait ends and tells; the next long one
 * recalibrates.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "../unit/dice.h"
#include "../unit/kernel_now.h"
#include "../unit/waiting.h"
#include "skipped.h"
#include "timing/waiter/waiter.h"

#define ATTEMPTS 60
#define MOVED_WAITS 8
#define MOVES 300

static struct dice dice;
static int cpus[2];

static pid_t this_thread(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static int move(pid_t thread, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(thread, sizeof one, &one);
}

/* Two of those that we may use. */
static int find_cpus(void **state)
{
    cpu_set_t allowed;
    int found = 0;
    (void)state;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[found++] = cpu;
    cpus[1] = found == 2 ? cpus[1] : -1;
    return 0;
}

static void need_two_cpus(void)
{
    if (cpus[1] < 0)
        skip_because("only one CPU to run on");
    assert_int_equal(move(0, cpus[0]), 0);
}

static void after_a_move_the_next_long_wait_learns_the_new_cpu(void **state)
{
    (void)state;
    need_two_cpus();
    for (int i = 0; i < 4; i++) {
        int cpu = cpus[i % 2], calibrations = description_of(the_waiter()).calibrations;
        assert_int_equal(move(0, cpu), 0);
        for (int k = 0; k < ATTEMPTS && description_of(the_waiter()).cpu != cpu; k++)
            assert_true(wait_by(the_waiter(), UNTIL_TICKS,
                                target_in(UNTIL_TICKS, 100 * MILLISECOND), 0, NULL) >= 0);
        assert_int_equal(description_of(the_waiter()).cpu, cpu);
        if (i > 0)
            assert_true(description_of(the_waiter()).calibrations > calibrations);
    }
}

/* What it does to learn is not a wait of its user's. */
static void the_waits_of_a_recalibration_are_not_counted(void **state)
{
    (void)state;
    need_two_cpus();
    assert_int_equal(timebase_waiter_calibrate(the_waiter()), 0);
    uint64_t waits = description_of(the_waiter()).waits;
    int calibrations = description_of(the_waiter()).calibrations, done = 0;
    assert_int_equal(move(0, cpus[1]), 0);
    for (; done < ATTEMPTS && description_of(the_waiter()).calibrations == calibrations; done++)
        wait_by(the_waiter(), UNTIL_TICKS, target_in(UNTIL_TICKS, 100 * MILLISECOND), 0, NULL);
    assert_true(description_of(the_waiter()).calibrations > calibrations);
    assert_int_equal(description_of(the_waiter()).waits - waits, done);
}

static void a_short_wait_on_another_cpu_ends_as_it_should(void **state)
{
    (void)state;
    need_two_cpus();
    assert_int_equal(timebase_waiter_calibrate(the_waiter()), 0);
    assert_int_equal(move(0, cpus[1]), 0);
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
        struct timebase_wait_result result;
        forget_event();
        int late = wait_by(the_waiter(), CALL_TICKS, target_in(CALL_TICKS, 50000), flags, &result);
        assert_true(late == result.late && event.calls == 1);
        if (flags & TIMEBASE_WAIT_NEVER_EARLY)
            assert_true((int64_t)(event.ticks - result.target_ticks) >= 0);
    }
}

/* ---- moved by another thread -------------------------------------------------------------- */

struct mover {
    pid_t thread;
    int moves;        /* between the two CPUs; 0: once */
    int to;           /* which of the two first */
    int64_t after_us; /* before the first */
    int may_begin, has_ended;
    uint64_t moved_ticks; /* when the first move was over */
};

static void *move_other(void *argument)
{
    struct mover *mover = argument;
    while (!__atomic_load_n(&mover->may_begin, __ATOMIC_ACQUIRE))
        usleep(100);
    usleep((useconds_t)mover->after_us);
    for (int i = 0; i <= mover->moves; i++) {
        move(mover->thread, cpus[(mover->to + i) % 2]);
        mover->moved_ticks = i == 0 ? timebase_ticks_ordered() : mover->moved_ticks;
        usleep(mover->moves > 0 ? 300 : 0);
    }
    __atomic_store_n(&mover->has_ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

/*
 * Long enough for it to learn the CPU where it begins; then it is moved; then most of it follows.
 * Whether it was in time, and moved between its beginning and its event.
 */
static int wait_while_moved(int from, struct timebase_wait_result *result)
{
    struct mover mover = {.thread = this_thread(), .to = !from, .after_us = 50000};
    const struct waiter *waiter = waiter_within(the_waiter());
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, move_other, &mover), 0);
    assert_int_equal(move(0, cpus[from]), 0);
    int64_t target = target_in(UNTIL_TICKS, 150 * MILLISECOND);
    __atomic_store_n(&mover.may_begin, 1, __ATOMIC_RELEASE);
    assert_true(wait_by(the_waiter(), UNTIL_TICKS, target, TIMEBASE_WAIT_PREPARE, result) >= 0);
    pthread_join(thread, NULL);
    return !result->late && waiter->last.cpu == cpus[from] &&
        (int64_t)(result->event_ticks - mover.moved_ticks) > 0;
}

/* However long before its end it was moved: the table was another CPU's. */
static void a_wait_in_time_that_ends_on_another_cpu_says_so(void **state)
{
    int moved = 0;
    (void)state;
    need_two_cpus();
    if (!(description_of(the_waiter()).evidence & TIMEBASE_DISTURBED_MIGRATED))
        skip_because("no restartable sequences here: C library or kernel too old, or emulated");
    for (int i = 0; i < MOVED_WAITS; i++) {
        struct timebase_wait_result result;
        if (!wait_while_moved(i % 2, &result))
            continue;
        moved++;
        assert_true(result.disturbance & TIMEBASE_DISTURBED_MIGRATED);
    }
    if (moved == 0)
        skip_because("the machine is too busy: no wait was moved and in time");
}

static void waits_end_while_the_thread_is_moved_to_and_fro(void **state)
{
    struct mover mover = {.thread = this_thread(), .moves = MOVES, .may_begin = 1};
    pthread_t thread;
    (void)state;
    need_two_cpus();
    assert_int_equal(pthread_create(&thread, NULL, move_other, &mover), 0);
    for (unsigned i = 0; !__atomic_load_n(&mover.has_ended, __ATOMIC_ACQUIRE); i++) {
        struct timebase_wait_result result;
        int64_t target = target_in(CALL_TICKS, (int64_t)dice_below(&dice, 2000000));
        forget_event();
        int late = wait_by(the_waiter(), CALL_TICKS, target, i & EVERY_FLAG, &result);
        assert_true(late == result.late && event.calls == 1);
        if (i & TIMEBASE_WAIT_NEVER_EARLY)
            assert_true((int64_t)(event.ticks - (uint64_t)target) >= 0);
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_move_the_next_long_wait_learns_the_new_cpu),
        cmocka_unit_test(the_waits_of_a_recalibration_are_not_counted),
        cmocka_unit_test(a_short_wait_on_another_cpu_ends_as_it_should),
        cmocka_unit_test(a_wait_in_time_that_ends_on_another_cpu_says_so),
        cmocka_unit_test(waits_end_while_the_thread_is_moved_to_and_fro),
    };
    dice = dice_new();
    int failed = cmocka_run_group_tests(tests, find_cpus, NULL);
    return exit_status(failed, sizeof(tests) / sizeof(tests[0]));
}
