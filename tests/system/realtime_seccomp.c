/* SPDX-License-Identifier: MIT */
/* Sandboxes that refuse system calls, before the request or between it and the way back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/realtime.h>

#include "sandbox.h"
#include "settings.h"

static const struct timebase_realtime_request everything = {TIMEBASE_REALTIME_ALL, 10, -1};

static void refuse_all(int error)
{
    const int calls[] = {SYS_sched_setscheduler,
                         SYS_sched_setaffinity,
                         SYS_mlockall,
                         SYS_prctl,
                         SYS_openat,
#ifdef SYS_open
                         SYS_open,
#endif
                         -1};
    struct timebase_realtime rt;
    sandbox_refuse(calls, error);
    errno = 4321;
    EXPECT(timebase_realtime_acquire(&rt, &everything) == 1);
    EXPECT(errno == 4321);
    EXPECT((rt.granted & ~(uint32_t)TIMEBASE_REALTIME_MEMORY) == 0);
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
        EXPECT(rt.reason_errno[i] == error || (rt.granted >> i & 1));
    EXPECT(rt.granted == 0 || !MEMORY_LOCKS_ARE_REAL);
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(errno == 4321);
}

static void refuse_with_eperm(void)
{
    refuse_all(EPERM);
}

static void refuse_with_enosys(void)
{
    refuse_all(ENOSYS);
}

static void the_reason_is_the_sandboxs_own(void **state)
{
    (void)state;
    child_must_pass(refuse_with_eperm);
    child_must_pass(refuse_with_enosys);
}

/* As the kernel says it of a CPU that exists, but not for this process. */
static void refuse_the_cpu(void)
{
    const int calls[] = {SYS_sched_setaffinity, -1};
    struct timebase_realtime_request request = {TIMEBASE_REALTIME_AFFINITY, 0, -1};
    struct timebase_realtime rt;
    if (access("/sys/devices/system/cpu", F_OK) != 0)
        child_skip("no /sys: the kernel says EINVAL, and nobody knows why");
    sandbox_refuse(calls, EINVAL);
    EXPECT(timebase_realtime_acquire(&rt, &request) == 1);
    EXPECT(rt.reason_errno[0] == EPERM);
    EXPECT(rt.cpu == -1);
}

static void a_cpu_outside_of_the_cpuset_is_one_not_permitted(void **state)
{
    (void)state;
    child_must_pass(refuse_the_cpu);
}

static void refuse_the_way_back(void)
{
    const int calls[] = {SYS_sched_setaffinity, -1};
    struct timebase_realtime rt;
    timebase_realtime_acquire(&rt, &everything);
    if (!(rt.granted & TIMEBASE_REALTIME_AFFINITY))
        child_skip("affinity cannot be set here");
    sandbox_refuse(calls, EPERM);
    for (int i = 0; i < 2; i++) {
        EXPECT(timebase_realtime_release(&rt) == TIMEBASE_E_PERMISSION);
        EXPECT(rt.granted & TIMEBASE_REALTIME_AFFINITY);
        EXPECT((rt.granted & TIMEBASE_REALTIME_CPU_LATENCY) == 0);
    }
    EXPECT(rt.cpu >= 0);
}

static void what_cannot_be_given_back_is_told_and_the_rest_is_given_back(void **state)
{
    (void)state;
    child_must_pass(refuse_the_way_back);
}

static int is_locked(int status)
{
    char text[4096];
    ssize_t length = pread(status, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "VmLck:");
    return line != NULL && atol(line + 6) > 0;
}

/* Without /proc nobody knows whether memory was locked before. */
static void refuse_proc(void)
{
    const int calls[] = {SYS_openat,
#ifdef SYS_open
                         SYS_open,
#endif
                         -1};
    struct timebase_realtime_request request = {TIMEBASE_REALTIME_MEMORY, 0, 0};
    struct timebase_realtime rt;
    int status = open("/proc/self/status", O_RDONLY);
    sandbox_refuse(calls, ENOENT);
    if (timebase_realtime_acquire(&rt, &request) != 0 || !is_locked(status))
        child_skip("memory cannot be locked, or not seen to be");
    EXPECT(timebase_realtime_release(&rt) == TIMEBASE_OK);
    EXPECT(is_locked(status));
}

static void where_nobody_knows_memory_stays_locked(void **state)
{
    (void)state;
    child_must_pass(refuse_proc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reason_is_the_sandboxs_own),
        cmocka_unit_test(a_cpu_outside_of_the_cpuset_is_one_not_permitted),
        cmocka_unit_test(what_cannot_be_given_back_is_told_and_the_rest_is_given_back),
        cmocka_unit_test(where_nobody_knows_memory_stays_locked),
    };
    return run_all(tests);
}
