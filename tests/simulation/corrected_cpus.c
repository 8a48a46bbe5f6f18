/* SPDX-License-Identifier: MIT */
/*
 * Counters corrected by CPU on a host that holds everybody up: who has seen a reading, on whichever
 * CPU, reads no less. Three CPUs: the reference, one with an offset and a drift, and one of which
 * nothing is ever known. The thread that renews the table can be stopped at each of its steps, for
 * longer than any lead, while others read: its own process, and another one by copies of the table, of
 * whatever age. Another daemon goes on from the table that one has left. TIMEBASE_TEST_WORLDS for more
 * of them: 1,200 make ten million readings and more in each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <timebase/cpus.h>

#include "clock/counter/by_cpu_here.h"
#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "../unit/dice.h"
#include "sync/correct.h"
#include "sync/drift.h"
#include "sync/handle.h"

enum { CPUS = 3, MEASURED = 2, SKIPPED = 77 };
enum { WORLDS = 12, RENEWALS = 60, CHAINS = 6, CHAIN = 6 };
/* A tick of the reference is a nanosecond. */
#define MS 1000000
#define SECOND (1000 * (uint64_t)MS)
#define WAY 200        /* no CPU sees another's reading sooner */
#define OS_READ 600    /* a reading of the kernel's clock */
#define OS_OLD 20000   /* and so old may be one that another CPU hands on */
#define ANCHOR_ERROR 400

static struct {
    struct dice dice;
    uint64_t now;
    unsigned reader;       /* this CPU reads; the renewing thread is on the reference */
    uint64_t offset[CPUS];
    double rate[CPUS];
    uint64_t os_free;      /* when the last CPU at the kernel's timer was through with it */
    uint64_t highest;      /* that anybody has read */
    uint64_t held_up_most; /* in one step of a renewal */
    uint64_t late_most;    /* from one renewal to the next, beyond what was asked for */
    bool is_handed_on;     /* readings of the kernel's clock */
    bool is_shared;      /* half of the readings are another process' */
    bool is_reading;
    uint64_t back, most, readings, by_lines, by_copy;
} world;

/* The other process' copy. */
static struct by_cpu_entry copied_entries[2][CPUS];
static struct by_cpu_table copied;

static struct skew_cpu skews[MEASURED];
static struct timebase_cpus cpus;

static uint64_t below(uint64_t limit)
{
    return limit > 0 ? dice_below(&world.dice, limit) : 0;
}

/* ---- readers ------------------------------------------------------------------------------- */

static uint64_t raw_of(unsigned cpu, uint64_t now)
{
    double drifted = world.rate[cpu] * (double)now;
    return now + world.offset[cpu] + (uint64_t)(int64_t)drifted;
}

uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = world.reader;
    return raw_of(world.reader, world.now);
}

uint64_t __wrap_by_cpu_read(unsigned *cpu);
uint64_t __wrap_by_cpu_read(unsigned *cpu)
{
    return by_cpu_here(cpu);
}

/*
 * Who finds another CPU at the kernel's timer is handed what that one reads. This may have been
 * before he asked, but not before the one before was through with the timer.
 */
static uint64_t os_clock_ns(void)
{
    uint64_t age = world.is_handed_on && below(4) == 0 ? below(OS_OLD) : 0;
    uint64_t handed_on = world.now - age, asked = world.now;
    bool is_handed_on = age > 0 && handed_on > world.os_free;
    world.now += OS_READ;
    world.os_free = is_handed_on ? asked : world.now;
    return is_handed_on ? handed_on : asked + OS_READ / 2;
}

void __real_by_cpu_publish(struct by_cpu_table *table);

/* As by_cpu_shared.c takes it from the file. */
static void copy_table(void)
{
    const struct by_cpu_copy *from = &cpus.table->copy[cpus.table->seq & 1];
    struct by_cpu_copy *next = by_cpu_next(&copied);
    for (unsigned cpu = 0; cpu < cpus.table->cpus && cpu < CPUS; cpu++)
        by_cpu_set_entry(next, cpu, &from->entries[cpu]);
    by_cpu_set_anchor(next, &from->anchor);
    __real_by_cpu_publish(&copied);
}

/* One look in four finds time to copy; the other process may also sleep for long. */
static const struct by_cpu_table *table_of_reader(void)
{
    if (!world.is_shared || below(2) == 0)
        return cpus.table;
    if (copied.seq == 0 || below(4) == 0)
        copy_table();
    world.by_copy++;
    return &copied;
}

static void read_once(unsigned cpu)
{
    const struct by_cpu_table *table = table_of_reader();
    world.reader = cpu;
    uint64_t before = world.now;
    uint64_t seen = world.highest;
    uint64_t ticks = by_cpu_ticks(table, os_clock_ns);
    world.reader = 0;
    world.readings++;
    world.by_lines += cpu == 1 && world.now == before;
    if ((int64_t)(ticks - seen) < 0) {
        world.back++;
        world.most = seen - ticks > world.most ? seen - ticks : world.most;
    } else {
        world.highest = ticks;
    }
}

/* Each sees the reading before, as soon as can be. */
static void read_in_turn(void)
{
    unsigned last = CPUS;
    for (int i = 0; i < CHAIN; i++) {
        unsigned cpu = (unsigned)below(CPUS);
        world.now += cpu == last ? 1 : WAY;
        read_once(cpu);
        last = cpu;
    }
}

/* Others read in this time. */
static void pass(uint64_t ticks)
{
    uint64_t end = world.now + ticks;
    bool is_first = cpus.table == NULL || cpus.table->seq == 0;
    for (int i = 0; i < CHAINS && !world.is_reading && !is_first; i++) {
        world.is_reading = true;
        world.now += below((end - world.now) / 2 + 1);
        read_in_turn();
        world.is_reading = false;
        if ((int64_t)(end - world.now) <= 0)
            return;
    }
    world.now = end;
}

/* ---- the thread that renews ---------------------------------------------------------------- */

/* Mostly not at all. */
static void hold_up(void)
{
    pass(below(8) == 0 ? below(world.held_up_most + 1) : below(2000));
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
    (void)left;
    pass((uint64_t)length->tv_nsec);
    return 0;
}

/* So it is called where seconds have 64 bits and words 32. */
int __wrap___nanosleep64(const struct timespec *length, struct timespec *left);
int __wrap___nanosleep64(const struct timespec *length, struct timespec *left)
{
    return __wrap_nanosleep(length, left);
}

enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available);
enum counter_opinion __wrap_counter_judge_clocksource(int id, const char *current,
                                                      const char *available)
{
    (void)id, (void)current, (void)available;
    return COUNTER_OPINION_DISTRUSTS;
}

/* As skew.c remembers it; nothing is ever wide here. */
int __wrap_timebase_cpus_measure(timebase_cpus *of);
int __wrap_timebase_cpus_measure(timebase_cpus *of)
{
    struct skew_cpu *cpu = &of->map.cpus[1];
    hold_up();
    int64_t offset = (int64_t)(raw_of(1, world.now) - world.now);
    cpu->is_measured = true;
    cpu->range = (struct skew_range){offset - WAY - (int64_t)below(WAY / 4),
                                     offset + WAY + (int64_t)below(WAY / 4)};
    skew_narrow(&cpu->narrowest, skew_width(&cpu->range));
    drift_add(&cpu->drift, world.now, &cpu->range);
    pass(2 * MS);
    hold_up();
    return 0;
}

enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out);
enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out)
{
    (void)anchor, (void)cpu;
    uint64_t error = below(ANCHOR_ERROR);
    *out = (struct by_cpu_anchor){.os_ns = world.now,
                                  .ticks = world.now - ANCHOR_ERROR / 2 + error,
                                  .ticks_per_ns = 1,
                                  .error_ns = ANCHOR_ERROR};
    pass(MS);
    hold_up();
    return ANCHOR_TAKEN;
}

void __real_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry);
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry)
{
    __real_by_cpu_set_entry(copy, cpu, entry);
    if (copy == &cpus.table->copy[(cpus.table->seq + 1) & 1])
        hold_up();
}

/* A step where one table follows another is the size of an error: read right before and after. */
void __wrap_by_cpu_publish(struct by_cpu_table *table);
void __wrap_by_cpu_publish(struct by_cpu_table *table)
{
    bool is_first = table->seq == 0;
    hold_up();
    for (unsigned i = 0; i < 2; i++) {
        world.now += i == 0 ? WAY : 1;
        if (!is_first)
            read_once(1);
        if (i == 0)
            __real_by_cpu_publish(table);
    }
}

/* ---- worlds -------------------------------------------------------------------------------- */

static void measure_anew(void)
{
    skews[0] = (struct skew_cpu){.is_measured = true};
    skews[1] = (struct skew_cpu){.number = 1, .narrowest = {UINT64_MAX, UINT64_MAX}};
    cpus = (struct timebase_cpus){.map = {.cpus = skews, .count = MEASURED}};
}

static void begin_world(void)
{
    measure_anew();
    copied = (struct by_cpu_table){.cpus = CPUS};
    copied.copy[0].entries = copied_entries[0];
    copied.copy[1].entries = copied_entries[1];
    world.now += 100 * SECOND;
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        world.offset[cpu] = dice_roll(&world.dice) >> 20;
        world.rate[cpu] = below(2) ? ((double)below(201) - 100) * 1e-6 : 0;
    }
}

static unsigned long worlds(void)
{
    const char *wanted = getenv("TIMEBASE_TEST_WORLDS");
    return wanted != NULL ? strtoul(wanted, NULL, 10) : WORLDS;
}

/* No leak: tables are never freed, for readers may hold them. */
static void keep(struct by_cpu_table *table)
{
    static struct kept {
        struct by_cpu_table *table;
        struct kept *next;
    } *all;
    struct kept *one = malloc(sizeof(*one));
    assert_non_null(one);
    *one = (struct kept){table, all};
    all = one;
}

/* It knows nothing but what lies in the file. Until it has begun, readers have the old one's table. */
static void restart_daemon(void)
{
    static union {
        struct by_cpu_file_copy copy;
        unsigned char bytes[sizeof(struct by_cpu_file_copy) + CPUS * sizeof(struct by_cpu_entry)];
    } file;
    struct by_cpu_table *old = cpus.table;
    const struct by_cpu_file_head head = {.cpus = old->cpus < CPUS ? old->cpus : CPUS};
    const struct by_cpu_copy *present = &old->copy[old->seq & 1];
    file.copy.anchor = present->anchor;
    file.copy.spread_ticks = old->spread_ticks;
    for (unsigned cpu = 0; cpu < head.cpus; cpu++)
        file.copy.entries[cpu] = present->entries[cpu];
    measure_anew();
    assert_true(correct_adopt(&cpus, &head, &file.copy));
    keep(old);
}

static void run_world(void)
{
    int64_t again_ns;
    begin_world();
    for (int i = 0; i < RENEWALS; i++) {
        if (world.is_shared && i % 20 == 19)
            restart_daemon();
        assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
        uint64_t late = below(4) == 0 ? below(world.late_most + 1) : 0;
        pass(below((uint64_t)again_ns + 1) + late);
    }
    keep(cpus.table);
}

static void run_worlds(uint64_t held_up_most, uint64_t late_most, bool is_handed_on, bool is_shared)
{
    memset(&world, 0, sizeof(world));
    world.dice = dice_new();
    world.is_shared = is_shared;
    world.held_up_most = held_up_most;
    world.late_most = late_most;
    world.is_handed_on = is_handed_on;
    for (unsigned long i = 0; i < worlds(); i++)
        run_world();
    print_message("%llu of %llu went back, by %llu at most; CPU 1 by its lines %llu times\n",
                  (unsigned long long)world.back, (unsigned long long)world.readings,
                  (unsigned long long)world.most, (unsigned long long)world.by_lines);
    assert_int_equal(world.back, 0);
    assert_true(world.by_lines > world.readings / 20);
    assert_true(!is_shared || world.by_copy > world.readings / 4);
}

static void run(uint64_t held_up_most, uint64_t late_most, bool is_handed_on)
{
    run_worlds(held_up_most, late_most, is_handed_on, false);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void nothing_goes_back_where_nobody_is_held_up(void **state)
{
    (void)state;
    run(0, 0, false);
}

static void nor_where_a_renewal_is_held_up_between_any_two_steps(void **state)
{
    (void)state;
    run(400 * MS, 0, false);
}

static void nor_where_renewals_come_late(void **state)
{
    (void)state;
    run(0, 60 * SECOND, false);
}

static void nor_where_the_kernel_hands_on_what_another_cpu_has_read(void **state)
{
    (void)state;
    run(0, 0, true);
}

static void nor_where_all_of_this_happens(void **state)
{
    (void)state;
    run(2 * SECOND, 20 * SECOND, true);
}

static void nor_in_a_process_that_has_old_copies_nor_when_another_daemon_goes_on(void **state)
{
    (void)state;
    run_worlds(0, 0, false, true);
    run_worlds(2 * SECOND, 20 * SECOND, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_back_where_nobody_is_held_up),
        cmocka_unit_test(nor_where_a_renewal_is_held_up_between_any_two_steps),
        cmocka_unit_test(nor_where_renewals_come_late),
        cmocka_unit_test(nor_where_the_kernel_hands_on_what_another_cpu_has_read),
        cmocka_unit_test(nor_where_all_of_this_happens),
        cmocka_unit_test(nor_in_a_process_that_has_old_copies_nor_when_another_daemon_goes_on),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
