/* SPDX-License-Identifier: MIT */
/* Nobody's thread: each refusal has its reason, the rest is granted, and the way back is known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <grp.h>

#include <timebase/realtime.h>

#include "child.h"
#include "settings.h"

#define NOBODY 65534
#define FOR_ANYBODY (TIMEBASE_REALTIME_AFFINITY | TIMEBASE_REALTIME_TIMER_SLACK)

static const struct timebase_realtime_request everything = {TIMEBASE_REALTIME_ALL, 10, -1};

static void lower_limit(int resource, rlim_t value)
{
    struct rlimit both = {value, value};
    if (setrlimit(resource, &both) != 0)
        child_skip("the limits of resources cannot be lowered");
}

/* A user who may have no real-time priority, and lock so much memory. */
static void become_nobody(rlim_t memlock)
{
    if (geteuid() != 0)
        child_skip("only root can become nobody");
    lower_limit(RLIMIT_RTPRIO, 0);
    lower_limit(RLIMIT_MEMLOCK, memlock);
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        child_skip("root cannot become nobody here");
    if (access("/dev/cpu_dma_latency", W_OK) == 0)
        child_skip("anybody may write /dev/cpu_dma_latency here");
}

static int reason(const struct timebase_realtime *rt, unsigned bit)
{
    return rt->reason_errno[__builtin_ctz(bit)];
}

static void live_without_rights(void)
{
    struct timebase_realtime rt;
    become_nobody(0);
    struct settings before = settings_now(), after;
    EXPECT(timebase_realtime_acquire(&rt, &everything) == 1);
    EXPECT(rt.granted == FOR_ANYBODY || UNDER_THREAD_SANITIZER || !MEMORY_LOCKS_ARE_REAL);
    EXPECT(reason(&rt, TIMEBASE_REALTIME_SCHEDULER) == EPERM);
    EXPECT(reason(&rt, TIMEBASE_REALTIME_MEMORY) == EPERM || !MEMORY_LOCKS_ARE_REAL);
    int error = reason(&rt, TIMEBASE_REALTIME_CPU_LATENCY);
    EXPECT(error == EACCES || error == ENOENT);
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    after = settings_now();
    EXPECT(settings_equal(&before, &after));
}

static void without_rights_affinity_and_timer_slack_are_granted(void **state)
{
    (void)state;
    child_must_pass(live_without_rights);
}

static void lock_more_than_allowed(void)
{
    struct timebase_realtime rt;
    become_nobody(65536);
    if (!MEMORY_LOCKS_ARE_REAL)
        child_skip("the sanitizer locks no memory");
    EXPECT(timebase_realtime_acquire(&rt, &everything) == 1);
    EXPECT(reason(&rt, TIMEBASE_REALTIME_MEMORY) == ENOMEM);
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
}

static void a_process_larger_than_its_limit_is_not_locked(void **state)
{
    (void)state;
    child_must_pass(lock_more_than_allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rights_affinity_and_timer_slack_are_granted),
        cmocka_unit_test(a_process_larger_than_its_limit_is_not_locked),
    };
    return run_all(tests);
}
