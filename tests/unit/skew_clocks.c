/* SPDX-License-Identifier: MIT */
/*
 * Two CPUs are measured though the kernel's clock is further ahead on one of them than the
 * measurement may take: there the kernel reads the very counters that differ.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>

#include "clock/counter/readable.h"
#include "sync/court.h"
#include "../system/skipped.h"

#define ROUNDS 100
/* For what hangs. */
#define LIMIT_NS INT64_C(60000000000)
#define AHEAD_NS (100 * LIMIT_NS)

static int ahead_cpu;

int64_t __real_counter_clock_ns(clockid_t id);
int64_t __wrap_counter_clock_ns(clockid_t id);
int64_t __wrap_counter_clock_ns(clockid_t id)
{
    return __real_counter_clock_ns(id) + (sched_getcpu() == ahead_cpu ? AHEAD_NS : 0);
}

static int next_allowed(const cpu_set_t *allowed, int cpu)
{
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, allowed))
        cpu++;
    return cpu;
}

/* The caller stays on its CPU, so that its clock does not jump. */
static void play(int here, int there)
{
    struct court_score score;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(court_play(here, there, ROUNDS, LIMIT_NS, &score), COURT_PLAYED);
    assert_true(score.range.low_ticks != INT64_MIN);
    assert_true(score.range.high_ticks != INT64_MAX);
}

static void two_cpus_are_measured_whichever_is_ahead_for_the_kernel(void **state)
{
    cpu_set_t allowed;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    if (CPU_COUNT(&allowed) < 2)
        skip_because("one CPU");
    int first = next_allowed(&allowed, 0), second = next_allowed(&allowed, first + 1);
    ahead_cpu = second;
    play(first, second);
    play(second, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cpus_are_measured_whichever_is_ahead_for_the_kernel),
    };
    return run_all(tests);
}
