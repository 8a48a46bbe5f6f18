/* SPDX-License-Identifier: MIT */
/* A child of fork() gives back what it inherited, and nothing of its parent's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>

#include <timebase/realtime.h>

#include "child.h"
#include "settings.h"

static struct timebase_realtime rt;
static struct settings before, in_force;

static void release_what_was_inherited(void)
{
    EXPECT(sched_getscheduler(0) == SCHED_OTHER || !(rt.granted & TIMEBASE_REALTIME_SCHEDULER));
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(rt.granted == 0);
    struct settings after = settings_now();
    EXPECT(settings_equal(&before, &after));
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
}

static void release_after_moving(void)
{
    int cpu = rt.cpu;
    cpu_set_t cpus = *(const cpu_set_t *)(const void *)before.cpus;
    CPU_CLR((size_t)cpu, &cpus);
    if (!(rt.granted & TIMEBASE_REALTIME_AFFINITY) ||
        sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
        child_skip("there is only one CPU, or no choosing");
    struct settings moved = settings_now();
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    struct settings after = settings_now();
    EXPECT(memcmp(moved.cpus, after.cpus, sizeof(after.cpus)) == 0);
}

static void (*in_child)(void);

static void acquire_and_fork(void)
{
    const struct timebase_realtime_request request = {TIMEBASE_REALTIME_ALL, 10, -1};
    const struct sched_param none = {0};
    if (prctl(PR_SET_TIMERSLACK, 123456ul) != 0)
        child_skip("the timer slack cannot be set here");
    EXPECT(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    EXPECT(settings_be_nicer() == 0);
    before = settings_now();
    timebase_realtime_acquire(&rt, &request);
    in_force = settings_now();
    int result = child_run(in_child);
    struct settings after = settings_now();
    EXPECT(settings_equal(&in_force, &after));
    _exit(result);
}

static void a_child_is_as_its_parent_was_before(void **state)
{
    (void)state;
    in_child = release_what_was_inherited;
    child_must_pass(acquire_and_fork);
}

static void a_child_that_has_moved_stays_where_it_is(void **state)
{
    (void)state;
    in_child = release_after_moving;
    child_must_pass(acquire_and_fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_as_its_parent_was_before),
        cmocka_unit_test(a_child_that_has_moved_stays_where_it_is),
    };
    return run_all(tests);
}
