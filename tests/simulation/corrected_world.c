/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "corrected_world.h"

#include "../correcting.h"
#include "clock/counter/by_cpu_here.h"
#include "clock/counter/readable.h"
#include "sync/court.h"
#include "sync/drift.h"

enum { WORLDS = 12, CHAINS = 6, CHAIN = 6 };
#define WAY 200        /* no CPU sees another's reading sooner */
#define OS_READ 600    /* a reading of the kernel's clock */
#define OS_OLD 20000   /* and so old may be one that another CPU hands on */
#define ANCHOR_ERROR 400

struct corrected_world world;
struct timebase_cpus cpus;

/* The other process' copy. */
static struct by_cpu_entry copied_entries[2][CPUS];
static struct by_cpu_table copied;

static struct skew_cpu skews[MEASURED];

uint64_t world_below(uint64_t limit)
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
    uint64_t age = world.is_handed_on && world_below(4) == 0 ? world_below(OS_OLD) : 0;
    uint64_t handed_on = world.now - age, asked = world.now;
    bool is_handed_on = age > 0 && handed_on > world.os_free;
    world.now += OS_READ;
    world.os_free = is_handed_on ? asked : world.now;
    return is_handed_on ? handed_on : asked + OS_READ / 2;
}


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
    if (!world.is_shared || world_below(2) == 0)
        return cpus.table;
    if (copied.seq == 0 || world_below(4) == 0)
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
    if (world.is_broken) {
        world.back_while_broken += (int64_t)(ticks - seen) < 0;
        world.highest = ticks;
    } else if ((int64_t)(ticks - seen) < 0) {
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
        unsigned cpu = (unsigned)world_below(CPUS);
        world.now += cpu == last ? 1 : WAY;
        read_once(cpu);
        last = cpu;
    }
}

void world_pass(uint64_t ticks)
{
    uint64_t end = world.now + ticks;
    bool is_first = cpus.table == NULL || cpus.table->seq == 0;
    for (int i = 0; i < CHAINS && !world.is_reading && !is_first; i++) {
        world.is_reading = true;
        world.now += world_below((end - world.now) / 2 + 1);
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
    world_pass(world_below(8) == 0 ? world_below(world.held_up_most + 1) : world_below(2000));
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
    (void)left;
    world_pass((uint64_t)length->tv_nsec);
    return 0;
}

/* So it is called where seconds have 64 bits and words 32. */
int __wrap___nanosleep64(const struct timespec *length, struct timespec *left);
int __wrap___nanosleep64(const struct timespec *length, struct timespec *left)
{
    return __wrap_nanosleep(length, left);
}

/* As skew.c remembers it. */
static void remember(struct skew_cpu *cpu)
{
    drift_add(&cpu->drift, world.now, &cpu->range);
    struct drift_rate rate = drift_of(&cpu->drift);
    if (rate.low <= rate.high)
        return;
    cpu->jumps++;
    cpu->drift.count = 0;
    drift_add(&cpu->drift, world.now, &cpu->range);
}

/* Nothing is ever wide here. */
int __wrap_timebase_cpus_measure(timebase_cpus *of)
{
    struct skew_cpu *cpu = &of->map.cpus[1];
    hold_up();
    int64_t offset = (int64_t)(raw_of(1, world.now) - world.now);
    cpu->is_measured = true;
    cpu->range = (struct skew_range){offset - WAY - (int64_t)world_below(WAY / 4),
                                     offset + WAY + (int64_t)world_below(WAY / 4)};
    skew_narrow(&cpu->narrowest, skew_width(&cpu->range));
    remember(cpu);
    world_pass(2 * MS);
    hold_up();
    return 0;
}

/* ---- between two measurements -------------------------------------------------------------- */

bool __wrap_skew_is_outdated(const struct skew_map *map)
{
    (void)map;
    hold_up();
    return world.was_away;
}

void __wrap_cpus_begin(timebase_cpus *of)
{
    (void)of;
    if (world.was_away)
        skews[1] = (struct skew_cpu){.number = 1, .narrowest = SKEW_NARROWEST_UNKNOWN};
    world.was_away = false;
}

bool world_has_lines(void)
{
    const struct by_cpu_entry *entry = &cpus.table->copy[cpus.table->seq & 1].entries[1];
    return entry->is_known != 0 && (int64_t)(raw_of(1, world.now) - entry->end_ticks) < 0;
}

/* From the moment on when its lines are withdrawn all is in order again. */
static void note_withdrawal(void)
{
    if (!world.is_broken || world_has_lines())
        return;
    world.is_broken = false;
    world.highest = 0;
}

bool __wrap_cpus_go_on(timebase_cpus *of, int64_t budget_ns)
{
    (void)budget_ns;
    return __wrap_timebase_cpus_measure(of) == 0;
}

static uint64_t read_there(unsigned cpu)
{
    world.now += WAY + world_below(WAY);
    world.reader = cpu;
    uint64_t ticks = by_cpu_ticks(cpus.table, os_clock_ns);
    world.reader = 0;
    return ticks;
}

enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score);
enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score)
{
    uint64_t sent = read_there((unsigned)here);
    (void)limit_ns;
    hold_up();
    score->range = SKEW_UNKNOWN;
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t received = read_there((unsigned)there);
        skew_there(&score->range, sent, received);
        sent = read_there((unsigned)here);
        skew_here(&score->range, received, sent);
    }
    return COURT_PLAYED;
}

enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out)
{
    (void)anchor, (void)cpu;
    uint64_t error = world_below(ANCHOR_ERROR);
    *out = (struct by_cpu_anchor){.os_ns = world.now,
                                  .ticks = world.now - ANCHOR_ERROR / 2 + error,
                                  .ticks_per_ns = 1,
                                  .error_ns = ANCHOR_ERROR};
    world_pass(MS);
    hold_up();
    return ANCHOR_TAKEN;
}

void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry)
{
    __real_by_cpu_set_entry(copy, cpu, entry);
    if (copy == &cpus.table->copy[(cpus.table->seq + 1) & 1])
        hold_up();
}

/* A step where one table follows another is the size of an error: read right before and after. */
void __wrap_by_cpu_publish(struct by_cpu_table *table)
{
    bool is_first = table->seq == 0;
    hold_up();
    for (unsigned i = 0; i < 2; i++) {
        world.now += i == 0 ? WAY : 1;
        if (!is_first)
            read_once(1);
        if (i == 0) {
            __real_by_cpu_publish(table);
            note_withdrawal();
        }
    }
}

/* ---- worlds -------------------------------------------------------------------------------- */

void world_measure_anew(void)
{
    skews[0] = (struct skew_cpu){.is_measured = true};
    skews[1] = (struct skew_cpu){.number = 1, .narrowest = SKEW_NARROWEST_UNKNOWN};
    cpus = (struct timebase_cpus){.map = {.cpus = skews, .count = MEASURED}};
}

void world_begin(void)
{
    world_measure_anew();
    copied = (struct by_cpu_table){.cpus = CPUS};
    copied.copy[0].entries = copied_entries[0];
    copied.copy[1].entries = copied_entries[1];
    world.now += 100 * SECOND;
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        world.offset[cpu] = dice_roll(&world.dice) >> 20;
        world.rate[cpu] = world_below(2) ? ((double)world_below(201) - 100) * 1e-6 : 0;
    }
}

unsigned long worlds(void)
{
    const char *wanted = getenv("TIMEBASE_TEST_WORLDS");
    return wanted != NULL ? strtoul(wanted, NULL, 10) : WORLDS;
}

void world_keep(struct by_cpu_table *table)
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

void world_begin_all(void)
{
    memset(&world, 0, sizeof(world));
    world.dice = dice_new();
}

int world_is_skipped(void)
{
    if (by_cpu_is_possible() && timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER)
        return 0;
    printf("nothing here tells which CPU the counter was read on\n");
    return SKIPPED;
}
