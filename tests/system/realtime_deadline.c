/* SPDX-License-Identifier: MIT */
/* A thread under SCHED_DEADLINE comes before any SCHED_FIFO, and could not be given back there. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/syscall.h>

#include "acquire.h"

/* The kernel's struct sched_attr, as far as it is needed. */
struct deadline {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

static void have_a_deadline(void)
{
    struct deadline attributes = {.size = sizeof(attributes), .policy = 6};
    attributes.runtime_ns = 1000000;
    attributes.deadline_ns = attributes.period_ns = 100000000;
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
        child_skip("SCHED_DEADLINE is not permitted, as with CPUs chosen beforehand");
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_SCHEDULER);
    EXPECT(rt.refused == TIMEBASE_REALTIME_SCHEDULER && rt.reason_errno[1] == EBUSY);
    EXPECT(sched_getscheduler(0) == 6);
    release(&rt);
    EXPECT(sched_getscheduler(0) == 6);
}

static void a_thread_with_a_deadline_is_left_with_it(void **state)
{
    (void)state;
    child_must_pass(have_a_deadline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_with_a_deadline_is_left_with_it),
    };
    return run_all(tests);
}
