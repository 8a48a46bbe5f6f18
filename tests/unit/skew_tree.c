/* SPDX-License-Identifier: MIT */
/*
 * All CPUs of a simulated machine against the first: whom each is measured against, and what comes
 * of it. Two packages of two caches of two cores of two threads; the threads of a core are numbered
 * n and n + 8, as firmware does.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/counter/probe.h"
#include "dice.h"
#include "sync/court.h"
#include "sync/drift.h"

enum { CPUS = 16, CORES = 8, THROWS = 200 };
#define BUDGET_NS 1000000000

static char root[] = "/tmp/timebase-tree-XXXXXX";
static struct dice dice;

/* ---- the machine --------------------------------------------------------------------------- */

static struct {
    int64_t offset[CPUS];
    double rate[CPUS];
    uint64_t now;
    int busy, refused; /* a CPU with which nothing is to be had; -1: none */
    int set;           /* halfway through its measurement, by more than half the ways; -1: none */
    int plays;
} machine;

/* The quickest way between two CPUs, by what they share. */
static uint64_t way(int a, int b)
{
    if (a % CORES == b % CORES)
        return 30;
    return a % CORES / 2 == b % CORES / 2 ? 100 : a % CORES / 4 == b % CORES / 4 ? 150 : 400;
}

static int64_t offset_now(int cpu)
{
    return machine.offset[cpu] + (int64_t)(machine.rate[cpu] * (double)machine.now);
}

enum court_result __wrap_court_play(int here, int there, uint32_t rounds, int64_t limit_ns,
                                    struct court_score *score);
enum court_result __wrap_court_play(int here, int there, uint32_t rounds, int64_t limit_ns,
                                    struct court_score *score)
{
    *score = (struct court_score){.range = SKEW_UNKNOWN};
    assert_true(limit_ns > 0);
    machine.plays++;
    machine.now += 1000000;
    if (there == machine.refused)
        return COURT_REFUSED;
    if (here == machine.busy || there == machine.busy)
        return COURT_PLAYED;
    int64_t ahead = offset_now(there) - offset_now(here);
    uint64_t now = machine.now + (uint64_t)offset_now(here);
    score->ticks = now;
    for (uint32_t i = 0; i < rounds; i++) {
        if (there == machine.set && i == rounds / 2)
            ahead -= (int64_t)(way(here, there) * 3 / 2);
        uint64_t takes = way(here, there) + dice_below(&dice, 1000);
        skew_there(&score->range, now, now + takes + (uint64_t)ahead);
        takes = way(here, there) + dice_below(&dice, 1000);
        skew_here(&score->range, now + (uint64_t)ahead, now + takes);
    }
    return COURT_PLAYED;
}

/* ---- its /sys ------------------------------------------------------------------------------ */

static void make_folders(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

static void put(const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/%s", root, name);
    make_folders(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void put_group(int cpu, const char *group, int size)
{
    char name[64], list[64];
    int core = cpu % CORES, lowest = core - core % size;
    snprintf(name, sizeof(name), "cpu%d/%s", cpu, group);
    if (size == 1)
        snprintf(list, sizeof(list), "%d,%d", core, core + CORES);
    else
        snprintf(list, sizeof(list), "%d-%d,%d-%d", lowest, lowest + size - 1, lowest + CORES,
                 lowest + CORES + size - 1);
    put(name, list);
}

static int make_machine(void **state)
{
    (void)state;
    dice = dice_new();
    if (mkdtemp(root) == NULL)
        return -1;
    put("online", "0-15");
    for (int cpu = 0; cpu < CPUS; cpu++) {
        put_group(cpu, "topology/thread_siblings_list", 1);
        put_group(cpu, "cache/index2/shared_cpu_list", 1);
        put_group(cpu, "cache/index3/shared_cpu_list", 2);
        put_group(cpu, "topology/core_siblings_list", 4);
    }
    counter_set_root(root);
    return 0;
}

static int remove_machine(void **state)
{
    char command[64];
    (void)state;
    counter_set_root("");
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command) == 0 ? 0 : -1;
}

static int begin(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    machine.busy = machine.refused = machine.set = -1;
    for (int cpu = 1; cpu < CPUS; cpu++)
        machine.offset[cpu] = (int64_t)dice_below(&dice, 2000001) - 1000000;
    return 0;
}

static void finish(struct skew_map *map)
{
    while (!map->is_done)
        skew_round(map, BUDGET_NS);
}

/* ---- the tests ----------------------------------------------------------------------------- */

static void relatives_are_the_lowest_of_what_is_shared(void **state)
{
    int relatives[SKEW_RELATIVES];
    (void)state;
    assert_int_equal(skew_relatives(0, relatives), 0);
    assert_int_equal(skew_relatives(8, relatives), 1);
    assert_int_equal(relatives[0], 0);
    assert_int_equal(skew_relatives(15, relatives), 3);
    assert_int_equal(relatives[0], 7);
    assert_int_equal(relatives[1], 6);
    assert_int_equal(relatives[2], 4);
    assert_int_equal(skew_relatives(4, relatives), 0); /* the lowest of its package */
    assert_int_equal(skew_relatives(99, relatives), 0);
}

static void siblings_are_measured_with_each_other(void **state)
{
    static const int against[CPUS] = {0, 0, 0, 2, 0, 4, 4, 6, 0, 1, 2, 3, 4, 5, 6, 7};
    struct skew_map map = {.cpus = NULL};
    (void)state;
    skew_open(&map, THROWS);
    finish(&map);
    for (int cpu = 1; cpu < CPUS; cpu++)
        assert_int_equal(map.cpus[cpu].against, against[cpu]);
    assert_int_equal(machine.plays, CPUS - 1);
    skew_close(&map);
}

static void each_range_contains_its_offset_and_is_as_wide_as_its_way(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    skew_open(&map, THROWS);
    finish(&map);
    for (int cpu = 1; cpu < CPUS; cpu++) {
        const struct skew_cpu *found = &map.cpus[cpu];
        assert_true(found->is_measured);
        assert_true(found->range.low_ticks <= machine.offset[cpu]);
        assert_true(machine.offset[cpu] <= found->range.high_ticks);
        int64_t width = found->pair.high_ticks - found->pair.low_ticks;
        assert_true(width >= 2 * (int64_t)way(cpu, found->against));
        assert_true(width < 2 * (int64_t)way(cpu, found->against) + 200);
    }
    skew_close(&map);
}

static void who_is_busy_is_passed_by(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    machine.busy = 7;
    skew_open(&map, THROWS);
    finish(&map);
    assert_false(map.cpus[7].is_measured);
    /* it stands for its core, and the core's other thread finds the next relative */
    assert_true(map.cpus[15].is_measured);
    assert_true(map.cpus[15].against != 7);
    assert_true(map.cpus[15].range.low_ticks <= machine.offset[15]);
    assert_true(machine.offset[15] <= map.cpus[15].range.high_ticks);
    skew_close(&map);
}

static void who_is_hidden_is_known_to_be_unknown(void **state)
{
    struct skew_map map = {.cpus = NULL};
    struct skew skew;
    (void)state;
    machine.refused = 5;
    skew_open(&map, THROWS);
    finish(&map);
    skew_of_map(&map, &skew);
    assert_false(map.cpus[5].is_measured);
    assert_int_equal(skew.refused_cpus, 1);
    assert_int_equal(skew.measured_cpus, CPUS - 1);
    skew_close(&map);
}

static void a_drift_is_found_by_measuring_again(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    machine.rate[9] = 50e-6;
    skew_open(&map, THROWS);
    for (int i = 0; i < 5; i++) {
        skew_again(&map, false);
        finish(&map);
        machine.now += 260000000;
    }
    for (int cpu = 1; cpu < CPUS; cpu++) {
        struct drift_rate rate = drift_of(&map.cpus[cpu].drift);
        assert_true(rate.low - 1e-8 <= machine.rate[cpu]);
        assert_true(machine.rate[cpu] <= rate.high + 1e-8);
        assert_true(rate.high - rate.low < 5e-6);
    }
    assert_true(drift_of(&map.cpus[9].drift).low > 40e-6);
    skew_close(&map);
}

/* Such a range has no offset in it, and is narrower than the ways are long. */
static void a_range_of_a_counter_that_was_set_meanwhile_is_no_measurement(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    skew_open(&map, THROWS * 10);
    for (int i = 0; i < 3; i++) {
        skew_again(&map, false);
        finish(&map);
        machine.now += 260000000;
    }
    assert_true(skew_is_settled(&map.cpus[4].narrowest));
    struct skew_cpu before = map.cpus[4];
    machine.set = 4;
    skew_again(&map, false);
    finish(&map);
    assert_memory_equal(&map.cpus[4].range, &before.range, sizeof(before.range));
    assert_true(map.cpus[4].narrowest.first_ticks == before.narrowest.first_ticks);
    assert_int_equal(map.cpus[4].drift.count, before.drift.count);
    machine.set = -1;
    skew_again(&map, false);
    finish(&map);
    assert_int_equal(map.cpus[4].drift.count, before.drift.count + 1);
    skew_close(&map);
}

static void a_jump_begins_the_drift_anew(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    skew_open(&map, THROWS);
    finish(&map);
    machine.now += 260000000;
    skew_again(&map, false);
    finish(&map);
    assert_int_equal(map.cpus[3].drift.count, 2);
    /* more than all of that time can have made of it */
    machine.offset[3] -= 300000000;
    machine.now += 1000;
    skew_again(&map, false);
    finish(&map);
    assert_int_equal(map.cpus[3].drift.count, 1);
    assert_int_equal(map.cpus[3].jumps, 1);
    assert_int_equal(map.cpus[2].drift.count, 3);
    assert_int_equal(map.cpus[2].jumps, 0);
    assert_true(map.cpus[3].range.low_ticks <= machine.offset[3]);
    skew_close(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relatives_are_the_lowest_of_what_is_shared),
        cmocka_unit_test_setup(siblings_are_measured_with_each_other, begin),
        cmocka_unit_test_setup(each_range_contains_its_offset_and_is_as_wide_as_its_way, begin),
        cmocka_unit_test_setup(who_is_busy_is_passed_by, begin),
        cmocka_unit_test_setup(who_is_hidden_is_known_to_be_unknown, begin),
        cmocka_unit_test_setup(a_drift_is_found_by_measuring_again, begin),
        cmocka_unit_test_setup(
            a_range_of_a_counter_that_was_set_meanwhile_is_no_measurement, begin),
        cmocka_unit_test_setup(a_jump_begins_the_drift_anew, begin),
    };
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
