/* SPDX-License-Identifier: MIT */
/*
 * A thread asks for locked memory while the last holder gives it up: what it is told is so. The
 * kernel's calls are the test's: the other thread comes in the midst of munlockall().
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <timebase/realtime.h>

#include "skipped.h"

static const struct timebase_realtime_request memory = {TIMEBASE_REALTIME_MEMORY, 0, 0};

static struct {
    bool is_locked;           /* as the kernel would have it */
    bool is_refused;          /* the limit of locked memory is too low */
    bool is_limit_lowered;    /* to that, when munlockall() ends */
    bool is_stuck;            /* munlockall() takes longer than the other waits for it */
    bool has_met;             /* the other has come, once */
    sem_t waits_or_is_served; /* the other */
    sem_t is_let_go; /* the last holder has ended its call */
    sem_t is_served, may_release;
    pthread_t thread;
    struct timebase_realtime other;
} world;

int __wrap_mlockall(int flags);
int __wrap_munlockall(void);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap___nanosleep64(const struct timespec *time, struct timespec *left);

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void *ask_and_release(void *argument)
{
    (void)argument;
    timebase_realtime_acquire(&world.other, &memory);
    sem_post(&world.waits_or_is_served);
    sem_post(&world.is_served);
    if (world.other.granted == 0)
        return NULL;
    wait_for(&world.may_release);
    return (void *)(intptr_t)timebase_realtime_release(&world.other);
}

static void meet_the_other(void)
{
    world.has_met = true;
    if (pthread_create(&world.thread, NULL, ask_and_release, NULL) != 0)
        abort();
    if (!world.is_stuck) {
        wait_for(&world.waits_or_is_served);
        return;
    }
    sem_post(&world.may_release);
    pthread_join(world.thread, NULL);
}

int __wrap_mlockall(int flags)
{
    (void)flags;
    errno = ENOMEM;
    if (world.is_refused)
        return -1;
    world.is_locked = true;
    return 0;
}

int __wrap_munlockall(void)
{
    if (!world.has_met)
        meet_the_other();
    world.is_locked = false;
    world.is_refused = world.is_limit_lowered;
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time, (void)left;
    sem_post(&world.waits_or_is_served);
    if (world.is_stuck)
        return 0;
    wait_for(&world.is_let_go); /* however long that takes: the naps are counted */
    sem_post(&world.is_let_go);
    return 0;
}

/* Its name where time has more bits than a register. */
int __wrap___nanosleep64(const struct timespec *time, struct timespec *left)
{
    return __wrap_nanosleep(time, left);
}

static int begin(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    return sem_init(&world.waits_or_is_served, 0, 0) | sem_init(&world.is_let_go, 0, 0) |
        sem_init(&world.is_served, 0, 0) | sem_init(&world.may_release, 0, 0);
}

static void hold_and_let_go(void)
{
    struct timebase_realtime rt;
    assert_int_equal(timebase_realtime_acquire(&rt, &memory), 0);
    assert_int_equal(timebase_realtime_release(&rt), TIMEBASE_OK);
    sem_post(&world.is_let_go);
    if (!world.has_met)
        skip_because("this process had locked memory before, or nobody knows");
}

/* What it was told is still so when both have ended their calls. */
static void join_the_other(void)
{
    void *result;
    sem_post(&world.may_release);
    assert_int_equal(pthread_join(world.thread, &result), 0);
    assert_int_equal((intptr_t)result, TIMEBASE_OK);
    assert_false(world.is_locked);
}

static void who_asks_while_another_unlocks_has_its_own_lock(void **state)
{
    (void)state;
    hold_and_let_go();
    wait_for(&world.is_served);
    assert_int_equal(world.other.granted, TIMEBASE_REALTIME_MEMORY);
    assert_true(world.is_locked);
    join_the_other();
}

static void who_asks_while_another_unlocks_is_told_of_a_refusal(void **state)
{
    (void)state;
    world.is_limit_lowered = true;
    hold_and_let_go();
    wait_for(&world.is_served);
    assert_int_equal(world.other.refused, TIMEBASE_REALTIME_MEMORY);
    assert_int_equal(world.other.reason_errno[2], ENOMEM);
    join_the_other();
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    world.is_stuck = true;
    hold_and_let_go();
    assert_int_equal(world.other.refused, TIMEBASE_REALTIME_MEMORY);
    assert_int_equal(world.other.reason_errno[2], EBUSY);
    assert_false(world.is_locked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(who_asks_while_another_unlocks_has_its_own_lock, begin),
        cmocka_unit_test_setup(who_asks_while_another_unlocks_is_told_of_a_refusal, begin),
        cmocka_unit_test_setup(nobody_waits_for_ever, begin),
    };
    return run_all(tests);
}
