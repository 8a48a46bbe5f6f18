/* SPDX-License-Identifier: MIT */
/* Sandboxes: sleeping waits poll where sleeping is forbidden, and nothing else is needed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include "sandbox.h"
#include "whole_waiter.h"

static void forbid_sleeping(void)
{
    const int calls[] = {
#ifdef SYS_clock_nanosleep
        SYS_clock_nanosleep,
#endif
#ifdef SYS_clock_nanosleep_time64
        SYS_clock_nanosleep_time64,
#endif
#ifdef SYS_nanosleep
        SYS_nanosleep,
#endif
        -1};
    struct timespec none = {0, 0};
    sandbox_refuse(calls, EPERM);
    EXPECT(clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL) == EPERM);
}

static void wait_without_sleep(void)
{
    for (int i = 0; i < 50; i++) {
        struct timebase_wait_result result;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(2 * MILLISECOND);
        errno = 4321;
        int late = timebase_wait_until_ticks(
            the_waiter(), target, TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_NEVER_EARLY, &result);
        EXPECT((int64_t)(timebase_ticks_ordered() - target) >= 0);
        EXPECT(errno == 4321);
        EXPECT(late == result.late);
        EXPECT(result.margin_ns == 0 && result.wake_ns == 0);
    }
    whole_waiter_check(the_waiter());
}

static void learn_then_forbid(void)
{
    the_waiter();
    forbid_sleeping();
    wait_without_sleep();
}

static void forbid_then_learn(void)
{
    forbid_sleeping();
    wait_without_sleep();
}

/* The counter of last resort, and what a process needs to say that it is well. */
static void forbid_nearly_everything(void)
{
    const int calls[] = {SYS_write,
                         SYS_exit_group,
                         SYS_rt_sigreturn,
                         SYS_sigaltstack, /* of the address sanitizer */
                         SYS_munmap,
                         SYS_madvise,
#ifdef SYS_clock_gettime
                         SYS_clock_gettime,
#endif
#ifdef SYS_clock_gettime64
                         SYS_clock_gettime64,
#endif
#ifdef SYS_mmap
                         SYS_mmap,
#endif
#ifdef SYS_mmap2
                         SYS_mmap2,
#endif
#ifdef SYS_futex
                         SYS_futex,
#endif
                         -1};
    sandbox_enter(calls, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | ENOSYS);
    EXPECT(syscall(SYS_getpid) == -1 && errno == ENOSYS);
}

static void wait_with_nearly_nothing(void)
{
    forbid_nearly_everything();
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; i < 2; i++)
            whole_waiter_check_wait(the_waiter(), i ? CALL_TICKS : UNTIL_TICKS, flags);
    whole_waiter_check_delays(the_waiter());
}

static void learn_then_forbid_nearly_everything(void)
{
    the_waiter();
    wait_with_nearly_nothing();
}

static void a_sleeping_wait_polls_where_sleeping_is_forbidden(void **state)
{
    (void)state;
    child_must_pass(learn_then_forbid);
}

static void a_waiter_is_calibrated_where_sleeping_is_forbidden(void **state)
{
    (void)state;
    child_must_pass(forbid_then_learn);
}

static void waits_need_no_system_call_but_a_clock_and_a_sleep(void **state)
{
    (void)state;
    child_must_pass(learn_then_forbid_nearly_everything);
    child_must_pass(wait_with_nearly_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeping_wait_polls_where_sleeping_is_forbidden),
        cmocka_unit_test(a_waiter_is_calibrated_where_sleeping_is_forbidden),
        cmocka_unit_test(waits_need_no_system_call_but_a_clock_and_a_sleep),
    };
    return run_all(tests);
}
