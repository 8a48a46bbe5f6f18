/* SPDX-License-Identifier: MIT */
/*
 * The machine of those who correct its counters by CPU (src/sync/correct.h): what a test that is this
 * machine puts in the place of measuring, reading and publishing. Its kernel has given the counter up.
 * Include it in one file of a program.
 */
#ifndef TEST_CORRECTING_H
#define TEST_CORRECTING_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/cpus.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/probe.h"
#include "sync/anchor.h"
#include "sync/skew.h"

uint64_t __wrap_by_cpu_read(unsigned *cpu);
int __wrap_timebase_cpus_measure(timebase_cpus *of);
bool __wrap_skew_is_outdated(const struct skew_map *map);
void __wrap_cpus_begin(timebase_cpus *of);
bool __wrap_cpus_go_on(timebase_cpus *of, int64_t budget_ns);
enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out);
void __real_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __real_by_cpu_publish(struct by_cpu_table *table);
void __wrap_by_cpu_publish(struct by_cpu_table *table);

enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available);
enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available)
{
    (void)id, (void)current, (void)available;
    return COUNTER_OPINION_DISTRUSTS;
}

#endif
