/* SPDX-License-Identifier: MIT */
/* The corrections of a process: when its lines begin. The machine, its time and its CPUs are made up. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include <timebase/cpus.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "sync/handle.h"
#include "sync/drift.h"

enum { CPUS = 2, SKIPPED = 77 };
/* A tick a nanosecond. */
#define MS 1000000
#define OFFSET 5000000000

static struct {
    uint64_t now;        /* ticks of the reference */
    uint64_t held_up;    /* in the next planning */
    uint64_t slew_start; /* of the last that was planned for CPU 1, to some hundred ticks */
    uint64_t published;  /* then */
} machine;

static struct skew_cpu two_cpus[CPUS];
static struct timebase_cpus cpus;

/* ---- the machine --------------------------------------------------------------------------- */

uint64_t __wrap_by_cpu_read(unsigned *cpu);
uint64_t __wrap_by_cpu_read(unsigned *cpu)
{
    *cpu = 0;
    return machine.now;
}

enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available);
enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available)
{
    (void)id, (void)current, (void)available;
    return COUNTER_OPINION_DISTRUSTS;
}

/* The first one 400 ticks off, the others 200 more. */
int __wrap_timebase_cpus_measure(timebase_cpus *of);
int __wrap_timebase_cpus_measure(timebase_cpus *of)
{
    struct skew_cpu *cpu = &of->map.cpus[1];
    int64_t middle = OFFSET + (of->table == NULL ? 400 : 600);
    cpu->is_measured = true;
    cpu->range = (struct skew_range){middle - 300, middle + 300};
    machine.now += 60 * MS;
    drift_add(&cpu->drift, machine.now, &cpu->range);
    return 0;
}

enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out);
enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out)
{
    (void)anchor, (void)cpu;
    *out = (struct by_cpu_anchor){.ticks = machine.now, .ticks_per_ns = 1, .error_ns = 100};
    return ANCHOR_TAKEN;
}

/* While the lines are planned. */
void __real_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry)
{
    __real_by_cpu_set_entry(copy, cpu, entry);
    if (cpu != 1 || !entry->is_known)
        return;
    machine.slew_start = entry->slew.start_ticks - OFFSET;
    machine.now += machine.held_up;
    machine.held_up = 0;
}

void __real_by_cpu_publish(struct by_cpu_table *table);
void __wrap_by_cpu_publish(struct by_cpu_table *table);
void __wrap_by_cpu_publish(struct by_cpu_table *table)
{
    machine.published = machine.now;
    __real_by_cpu_publish(table);
}

/* ---- tests --------------------------------------------------------------------------------- */

static int begin(void **state)
{
    int64_t again_ns;
    (void)state;
    two_cpus[1].number = 1;
    two_cpus[0].is_measured = true;
    cpus.map = (struct skew_map){.cpus = two_cpus, .count = CPUS};
    machine.now = 1000 * MS;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    return 0;
}

static void correct_again(uint64_t held_up)
{
    int64_t again_ns;
    machine.held_up = held_up;
    machine.now += 200 * MS;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_true(machine.held_up == 0);
}

static void lines_begin_after_they_are_published(void **state)
{
    (void)state;
    correct_again(1);
    assert_true((int64_t)(machine.slew_start - machine.published) > 0);
    assert_true((int64_t)(machine.slew_start - machine.published) <= 21 * MS);
}

static void lines_that_became_too_late_are_planned_again(void **state)
{
    (void)state;
    correct_again(300 * MS);
    assert_true((int64_t)(machine.slew_start - machine.published) > 0);
}

static void so_are_those_that_are_nearly_too_late(void **state)
{
    (void)state;
    correct_again(19 * MS);
    assert_true((int64_t)(machine.slew_start - machine.published) > 21 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_begin_after_they_are_published),
        cmocka_unit_test(lines_that_became_too_late_are_planned_again),
        cmocka_unit_test(so_are_those_that_are_nearly_too_late),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("no instruction of this processor reads the counter and names the CPU\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, begin, NULL);
}
