/* SPDX-License-Identifier: MIT */
/* What cpus.h promises, on this machine: whatever its counters do, the list is sane. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include <timebase/clock.h>
#include <timebase/cpus.h>

#include "clock/counter/readable.h"

enum { CPUS_MAX = 8192 };

static struct timebase_cpu found[CPUS_MAX];

static void what_is_null_is_refused(void **state)
{
    (void)state;
    assert_int_equal(timebase_cpus_open(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_cpus_measure(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_cpus_list(NULL, found, 1), 0);
    timebase_cpus_close(NULL);
}

static void nothing_is_known_before_the_first_measurement(void **state)
{
    timebase_cpus *cpus;
    (void)state;
    assert_int_equal(timebase_cpus_open(&cpus), TIMEBASE_OK);
    unsigned count = timebase_cpus_list(cpus, found, CPUS_MAX);
    assert_true(count >= 1);
    unsigned known = 0;
    for (unsigned i = 0; i < count; i++)
        known += found[i].state == TIMEBASE_CPU_MEASURED;
    assert_int_equal(known, 1); /* the reference is 0 from itself */
    timebase_cpus_close(cpus);
}

static void more_than_there_is_room_for_are_counted(void **state)
{
    timebase_cpus *cpus;
    (void)state;
    assert_int_equal(timebase_cpus_open(&cpus), TIMEBASE_OK);
    unsigned count = timebase_cpus_list(cpus, NULL, 0);
    found[1].cpu = -7;
    assert_int_equal(timebase_cpus_list(cpus, found, 1), count);
    assert_int_equal(found[1].cpu, -7);
    timebase_cpus_close(cpus);
}

static void judge(const struct timebase_cpu *cpu, int64_t begin_ns)
{
    print_message("CPU %d against %d, state %d: %" PRId64 " +/- %" PRIu64 " ticks, %" PRId64
                  " +/- %" PRIu64 " ppb, %u jumps\n",
                  cpu->cpu, cpu->against, cpu->state, cpu->offset_ticks, cpu->error_ticks,
                  cpu->drift_ppb, cpu->drift_error_ppb, cpu->jumps);
    if (cpu->state != TIMEBASE_CPU_MEASURED) {
        assert_true(cpu->offset_ticks == 0 && cpu->drift_error_ppb == UINT64_MAX);
        return;
    }
    if (cpu->against == cpu->cpu) {
        assert_true(cpu->offset_ticks == 0 && cpu->error_ticks == 0);
        return;
    }
    assert_true(cpu->against < cpu->cpu);
    assert_true(cpu->measured_ns >= begin_ns);
    assert_true(cpu->measured_ns <= counter_clock_ns(CLOCK_MONOTONIC));
}

static void a_measurement_here_is_sane(void **state)
{
    timebase_cpus *cpus;
    (void)state;
    assert_int_equal(timebase_cpus_open(&cpus), TIMEBASE_OK);
    for (int i = 0; i < 3; i++) {
        int64_t begin_ns = i == 0 ? counter_clock_ns(CLOCK_MONOTONIC) : 0;
        int error = timebase_cpus_measure(cpus);
        if (error == TIMEBASE_E_UNSUPPORTED)
            break; /* the kernel's clock is the counter here */
        assert_int_equal(error, TIMEBASE_OK);
        unsigned count = timebase_cpus_list(cpus, found, CPUS_MAX);
        assert_true(count <= CPUS_MAX);
        for (unsigned j = 0; j < count; j++)
            judge(&found[j], begin_ns);
    }
    timebase_cpus_close(cpus);
}

/* Whatever is found: either nothing has changed, or the counter is another one and told so. */
static void a_correction_is_in_force_or_nothing_has_changed(void **state)
{
    timebase_cpus *cpus;
    int64_t again_ns = 0;
    (void)state;
    int before = timebase_counter_id();
    assert_int_equal(timebase_cpus_open(&cpus), TIMEBASE_OK);
    assert_int_equal(timebase_cpus_correct(NULL, &again_ns), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_cpus_correct(cpus, NULL), TIMEBASE_E_INVALID);
    int result = timebase_cpus_correct(cpus, &again_ns);
    print_message("%d, again in %" PRId64 " ns\n", result, again_ns);
    assert_int_equal(timebase_counter_id(), result == 0 ? TIMEBASE_COUNTER_BY_CPU : before);
    if (result >= 0)
        assert_true(again_ns >= 100000000 && again_ns <= 10000000000);
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    timebase_cpus_close(cpus);
}

static void the_kernel_s_clock_has_no_offsets(void **state)
{
    timebase_cpus *cpus;
    (void)state;
    assert_int_equal(timebase_counter_select(TIMEBASE_COUNTER_OS), TIMEBASE_OK);
    assert_int_equal(timebase_cpus_open(&cpus), TIMEBASE_OK);
    assert_int_equal(timebase_cpus_measure(cpus), TIMEBASE_E_UNSUPPORTED);
    timebase_cpus_close(cpus);
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_null_is_refused),
        cmocka_unit_test(nothing_is_known_before_the_first_measurement),
        cmocka_unit_test(more_than_there_is_room_for_are_counted),
        cmocka_unit_test(a_measurement_here_is_sane),
        cmocka_unit_test(a_correction_is_in_force_or_nothing_has_changed),
        cmocka_unit_test(the_kernel_s_clock_has_no_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
