/* SPDX-License-Identifier: MIT */
/*
 * The first process of a pid namespace, and its first child in another one, have the same number
 * and not the same memory: the child has nothing of what its parent holds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/realtime.h>

#include "child.h"
#include "namespaced.h"
#include "settings.h"
#include "timing/calendar/timeout.h"

static struct timeout timeout;
static struct timebase_realtime rt;

static void have_nothing_of_the_parent(void)
{
    static struct timeout own;
    const struct timebase_realtime_request request = {.wanted = TIMEBASE_REALTIME_MEMORY};
    EXPECT(getpid() == 1);
    EXPECT(timeout_open(&own) == 0);
    timeout_close(&own);
    uint32_t inherited = rt.granted;
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(timebase_realtime_acquire(&rt, &request) == (inherited ? 0 : 1));
    EXPECT(!inherited || !MEMORY_LOCKS_ARE_REAL || settings_locked_kb() != 0);
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(settings_locked_kb() <= 0);
}

static void hold_and_have_a_child(void)
{
    const struct timebase_realtime_request request = {.wanted = TIMEBASE_REALTIME_MEMORY};
    EXPECT(getpid() == 1);
    EXPECT(timeout_open(&timeout) == 0);
    timebase_realtime_acquire(&rt, &request);
    pid_t child = namespaced_fork();
    if (child == 0) {
        have_nothing_of_the_parent();
        _exit(0);
    }
    EXPECT(child_status(child) == 0);
    timeout_close(&timeout);
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
}

static void make_the_first(void)
{
    pid_t first = namespaced_fork();
    if (first < 0)
        child_skip("no right to make a pid namespace");
    if (first == 0) {
        hold_and_have_a_child();
        _exit(0);
    }
    _exit(child_status(first));
}

static void a_process_of_the_same_number_is_another_one(void **state)
{
    (void)state;
    child_must_pass(make_the_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_of_the_same_number_is_another_one),
    };
    return run_all(tests);
}
