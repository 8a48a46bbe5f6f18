/* SPDX-License-Identifier: MIT */
/* The skew between CPUs: ranges from simulated throws, and one real measurement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <timebase/error.h>

#include "clock/counter/probe.h"
#include "dice.h"
#include "sync/skew.h"

#define WORLDS 2000
#define THROWS_OF_A_PAIR 200
#define THROWS 50

/* Two counters, one ahead of the other by a constant; throws that take what they take. */
static struct skew_range play(struct dice *dice, int64_t offset_ticks, uint64_t least_ticks)
{
    struct skew_range range = SKEW_UNKNOWN;
    uint64_t now = dice_roll(dice); /* anywhere: counters wrap */
    for (int i = 0; i < THROWS; i++) {
        uint64_t sent = now;
        now += least_ticks + dice_below(dice, 1000);
        skew_there(&range, sent, now + (uint64_t)offset_ticks);
        sent = now + (uint64_t)offset_ticks;
        now += least_ticks + dice_below(dice, 1000);
        skew_here(&range, sent, now);
    }
    return range;
}

static void the_range_contains_the_offset(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        int64_t offset = (int64_t)dice_below(&dice, 2000001) - 1000000;
        uint64_t least = dice_below(&dice, 400);
        struct skew_range range = play(&dice, offset, least);
        assert_true(range.low_ticks <= offset && offset <= range.high_ticks);
        /* no wider than the quickest throws: half of them are quicker than this */
        assert_true(range.high_ticks - range.low_ticks <= (int64_t)(2 * least + 2000));
    }
}

static void only_the_quickest_throws_count(void **state)
{
    struct skew_range range = SKEW_UNKNOWN;
    (void)state;
    skew_there(&range, 100, 500);
    skew_there(&range, 1000, 1300);
    skew_there(&range, 2000, 9000);
    assert_true(range.high_ticks == 300);
    skew_here(&range, 5000, 5900);
    skew_here(&range, 6000, 6200);
    skew_here(&range, 7000, 9900);
    assert_true(range.low_ticks == -200);
}

/* The most by which two of them differ: the first CPU, and those whose ranges against it these are. */
static uint64_t most_apart(const struct skew_range *others, unsigned count)
{
    struct skew_extremes extremes = {.is_any = false};
    skew_extend(&extremes, &(struct skew_range){0, 0});
    for (unsigned i = 0; i < count; i++)
        skew_extend(&extremes, &others[i]);
    return extremes.most_ticks;
}

static void two_cpus_differ_by_the_larger_end(void **state)
{
    struct skew_range range = {-303, 375};
    (void)state;
    assert_true(most_apart(&range, 1) == 375);
    range = (struct skew_range){-400, 375};
    assert_true(most_apart(&range, 1) == 400);
    range = (struct skew_range){100, 375}; /* zero is excluded; the bound is the same */
    assert_true(most_apart(&range, 1) == 375);
    range = (struct skew_range){-375, -100};
    assert_true(most_apart(&range, 1) == 375);
}

static void others_than_the_first_are_compared_too(void **state)
{
    struct skew_range ranges[] = {{-10, 300}, {-200, 5}};
    (void)state;
    assert_true(most_apart(ranges, 2) == 500);
    struct skew_range reversed[] = {{-200, 5}, {-10, 300}};
    assert_true(most_apart(reversed, 2) == 500);
}

static void what_is_not_known_is_not_usable(void **state)
{
    struct skew_range half_known[] = {SKEW_UNKNOWN, {5, 4}, {INT64_MIN, 4}, {-4, INT64_MAX}};
    struct skew_range known = {-10, 10};
    (void)state;
    assert_true(skew_is_usable(&known));
    for (unsigned i = 0; i < sizeof(half_known) / sizeof(half_known[0]); i++)
        assert_false(skew_is_usable(&half_known[i])); /* the second contradicts itself */
}

static void ranges_along_a_path_add_up(void **state)
{
    struct skew_range first = {-10, 20}, second = {100, 130}, unknown = SKEW_UNKNOWN;
    struct skew_range edge = {INT64_MAX - 5, INT64_MAX - 1};
    (void)state;
    struct skew_range sum = skew_chain(&first, &second);
    assert_true(sum.low_ticks == 90 && sum.high_ticks == 150);
    sum = skew_chain(&first, &unknown);
    assert_false(skew_is_usable(&sum));
    sum = skew_chain(&unknown, &second);
    assert_false(skew_is_usable(&sum));
    sum = skew_chain(&edge, &second);
    assert_false(skew_is_usable(&sum)); /* beyond what fits */
}

/* Whatever path: the truth is in the range, and the most by which two differ is in the bound. */
static void a_tree_of_ranges_contains_the_truth(void **state)
{
    enum { CPUS = 20 };
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS / 10; world++) {
        int64_t offset[CPUS] = {0}, most = 0;
        struct skew_range ranges[CPUS] = {{0, 0}};
        for (unsigned i = 1; i < CPUS; i++) {
            unsigned parent = (unsigned)dice_below(&dice, i);
            offset[i] = (int64_t)dice_below(&dice, 20001) - 10000;
            struct skew_range pair = play(&dice, offset[i] - offset[parent], 100);
            ranges[i] = skew_chain(&ranges[parent], &pair);
            assert_true(ranges[i].low_ticks <= offset[i] && offset[i] <= ranges[i].high_ticks);
            for (unsigned j = 0; j < i; j++)
                most = llabs(offset[i] - offset[j]) > most ? llabs(offset[i] - offset[j]) : most;
        }
        assert_true(most_apart(ranges + 1, CPUS - 1) >= (uint64_t)most);
    }
}

/* ---- which CPUs there are ------------------------------------------------------------------ */

static void a_kernel_s_list_is_read(void **state)
{
    static int cpus[SKEW_CPUS];
    (void)state;
    assert_int_equal(skew_parse_list("0", cpus, SKEW_CPUS), 1);
    assert_int_equal(skew_parse_list("0-3,8,10-11", cpus, SKEW_CPUS), 7);
    assert_int_equal(cpus[3], 3);
    assert_int_equal(cpus[4], 8);
    assert_int_equal(cpus[6], 11);
    assert_int_equal(skew_parse_list("0-2047", cpus, SKEW_CPUS), 2048);
    assert_int_equal(cpus[2047], 2047);
    assert_int_equal(skew_parse_list("0-99", cpus, 4), 100); /* no more are written */
}

static void what_is_no_such_list_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",    " ",     ",",   "0,",  "-1", "3-",   "3-2",    "1,1",
        "4,2", "0-3,2", "0 1", "0x1", "9-", "8192", "0-8192", "0-99999999999999999999",
        "a",   "0-3,a", "0--1"};
    static int cpus[SKEW_CPUS];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (skew_parse_list(wrong[i], cpus, SKEW_CPUS) != 0)
            fail_msg("accepted: \"%s\"", wrong[i]);
}

static char root[] = "/tmp/timebase-skew-XXXXXX";

/* As if the kernel had said so. */
static void set_online(const char *list)
{
    static const char *const parts[] = {"sys", "devices", "system", "cpu"};
    char path[128];
    size_t used = (size_t)snprintf(path, sizeof(path), "%s", root);
    for (size_t i = 0; i < 4; i++) {
        used += (size_t)snprintf(path + used, sizeof(path) - used, "/%s", parts[i]);
        mkdir(path, 0755);
    }
    snprintf(path + used, sizeof(path) - used, "/online");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", list);
    fclose(file);
    counter_set_root(root);
}

/* As the kernel does when the CPU comes online; the folder before is kept, so that its number is. */
static void bring_online(int cpu)
{
    static unsigned lives;
    char folder[128], topology[160], before[192];
    snprintf(folder, sizeof(folder), "%s/sys/devices/system/cpu/cpu%d", root, cpu);
    snprintf(topology, sizeof(topology), "%s/topology", folder);
    snprintf(before, sizeof(before), "%s/before%u", folder, lives++);
    mkdir(folder, 0755);
    rename(topology, before);
    assert_int_equal(mkdir(topology, 0755), 0);
}

static void finish(struct skew_map *map)
{
    while (!map->is_done)
        skew_round(map, 10000000);
}

/* More than a set of fixed size has, and more than there are: known to be unknown. */
static void cpus_that_are_hidden_are_counted_as_unknown(void **state)
{
    struct skew_map map = {.cpus = NULL};
    struct skew skew;
    (void)state;
    set_online("0-1,8000-8010");
    assert_int_equal(skew_open(&map, THROWS_OF_A_PAIR), TIMEBASE_OK);
    finish(&map);
    skew_of_map(&map, &skew);
    assert_int_equal(skew.cpus, 13);
    assert_true(skew.measured_cpus <= 2);
    assert_true(skew.refused_cpus >= 11);
    skew_close(&map);
    counter_set_root("");
}

static void cpus_that_come_are_measured_and_the_others_kept(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    set_online("0,3");
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_false(skew_is_outdated(&map));
    map.cpus[1].is_measured = true;
    map.cpus[1].range = (struct skew_range){-5, 7};
    map.is_done = true;
    set_online("0,2-3");
    assert_true(skew_is_outdated(&map));
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_false(map.is_done);
    assert_false(map.cpus[1].is_measured);
    assert_true(map.cpus[2].is_measured);
    assert_true(map.cpus[2].range.high_ticks == 7);
    set_online("2-3"); /* the first is gone, and with it what the others were measured against */
    assert_true(skew_is_outdated(&map));
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_int_equal(map.cpus[0].number, 2);
    assert_false(map.cpus[1].is_measured);
    set_online("2");
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_true(map.is_done);
    skew_close(&map);
    counter_set_root("");
}

static void know_all(struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++) {
        map->cpus[i].is_measured = true;
        map->cpus[i].range = (struct skew_range){-5, 7};
        map->cpus[i].jumps = 1;
    }
    map->is_done = true;
}

static void nothing_is_known_of_a_cpu_that_was_away_between_two_looks(void **state)
{
    struct skew_map map = {.cpus = NULL};
    (void)state;
    set_online("0-2");
    for (int cpu = 0; cpu <= 2; cpu++)
        bring_online(cpu);
    skew_open(&map, THROWS_OF_A_PAIR);
    know_all(&map);
    assert_false(skew_is_outdated(&map));
    bring_online(2);
    assert_true(skew_is_outdated(&map));
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_true(map.cpus[1].is_measured && map.cpus[1].jumps == 1);
    assert_false(map.cpus[2].is_measured);
    assert_int_equal(map.cpus[2].jumps, 0); /* they were of the life before */
    assert_false(map.is_done || skew_is_outdated(&map));
    know_all(&map);
    bring_online(0); /* the others were measured against it */
    assert_true(skew_is_outdated(&map));
    skew_open(&map, THROWS_OF_A_PAIR);
    assert_true(map.cpus[0].is_measured);
    assert_false(map.cpus[1].is_measured || map.cpus[2].is_measured);
    skew_close(&map);
    counter_set_root("");
}

/* ---- the real one -------------------------------------------------------------------------- */

static void a_measurement_here_is_sane(void **state)
{
    struct skew_map map = {.cpus = NULL};
    struct skew skew;
    (void)state;
    skew_open(&map, THROWS_OF_A_PAIR);
    for (int i = 0; i < 5; i++) {
        finish(&map);
        skew_of_map(&map, &skew);
        print_message("%u of %u CPUs, %llu ticks%s%s\n", skew.measured_cpus, skew.cpus,
                      (unsigned long long)skew.ticks, skew.excludes_zero ? ", zero excluded" : "",
                      skew.is_inconsistent ? ", inconsistent" : "");
        assert_true(skew.measured_cpus >= 1 && skew.measured_cpus <= skew.cpus);
        if (skew.measured_cpus == 1)
            assert_true(skew.ticks == 0);
        skew_again(&map, false);
    }
    skew_close(&map);
}

/* Not those of its own affinity alone: readers may be anywhere. */
static void the_caller_s_affinity_neither_counts_nor_changes(void **state)
{
    struct skew_map all = {.cpus = NULL}, one = {.cpus = NULL};
    cpu_set_t kept, first, after;
    (void)state;
    skew_open(&all, THROWS_OF_A_PAIR);
    assert_int_equal(sched_getaffinity(0, sizeof(kept), &kept), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &kept))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
    int error = skew_open(&one, THROWS_OF_A_PAIR);
    finish(&one);
    sched_getaffinity(0, sizeof(after), &after);
    sched_setaffinity(0, sizeof(kept), &kept);
    assert_true(CPU_EQUAL(&first, &after));
    if (error == TIMEBASE_OK) /* the kernel tells which are online */
        assert_int_equal(one.count, all.count);
    skew_close(&all);
    skew_close(&one);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command) == 0 ? 0 : -1;
}

static void two_narrowest_ranges_that_agree_are_settled(void **state)
{
    struct skew_narrowest narrowest = SKEW_NARROWEST_UNKNOWN;
    (void)state;
    assert_false(skew_is_settled(&narrowest));
    skew_narrow(&narrowest, 1000);
    assert_false(skew_is_settled(&narrowest));
    skew_narrow(&narrowest, 9000000);
    assert_false(skew_is_settled(&narrowest));
    skew_narrow(&narrowest, 1250);
    assert_true(skew_is_settled(&narrowest));
    skew_narrow(&narrowest, 700); /* so the ways are shorter still */
    assert_false(skew_is_settled(&narrowest));
    assert_true(narrowest.first_ticks == 700);
    skew_narrow(&narrowest, 600);
    assert_true(skew_is_settled(&narrowest) && narrowest.first_ticks == 600);
}

/* As of a counter that was set while it was measured. */
static void one_much_narrower_than_two_that_agree_is_refused_until_another_one_agrees(void **state)
{
    struct skew_narrowest narrowest = SKEW_NARROWEST_UNKNOWN;
    (void)state;
    assert_true(skew_narrow(&narrowest, 1200));
    assert_true(skew_narrow(&narrowest, 1140));
    assert_false(skew_narrow(&narrowest, 84));
    assert_false(skew_narrow(&narrowest, 154));
    assert_true(skew_is_settled(&narrowest) && narrowest.first_ticks == 1140);
    assert_true(skew_narrow(&narrowest, 570)); /* not by so much: the ways are shorter */
    assert_false(skew_is_settled(&narrowest));
    assert_true(skew_narrow(&narrowest, 600) && skew_is_settled(&narrowest));
    assert_false(skew_narrow(&narrowest, 200));
    assert_true(skew_narrow(&narrowest, 5000)); /* wide ones say nothing of it */
    assert_true(skew_narrow(&narrowest, 180));
    assert_true(skew_is_settled(&narrowest));
    assert_true(narrowest.first_ticks == 180 && narrowest.second_ticks == 200);
    assert_false(skew_narrow(&narrowest, 80)); /* who was refused before those is forgotten */
    assert_false(skew_narrow(&narrowest, 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_contains_the_offset),
        cmocka_unit_test(only_the_quickest_throws_count),
        cmocka_unit_test(two_cpus_differ_by_the_larger_end),
        cmocka_unit_test(others_than_the_first_are_compared_too),
        cmocka_unit_test(what_is_not_known_is_not_usable),
        cmocka_unit_test(ranges_along_a_path_add_up),
        cmocka_unit_test(a_tree_of_ranges_contains_the_truth),
        cmocka_unit_test(two_narrowest_ranges_that_agree_are_settled),
        cmocka_unit_test(
            one_much_narrower_than_two_that_agree_is_refused_until_another_one_agrees),
        cmocka_unit_test(a_kernel_s_list_is_read),
        cmocka_unit_test(what_is_no_such_list_is_refused),
        cmocka_unit_test(cpus_that_are_hidden_are_counted_as_unknown),
        cmocka_unit_test(cpus_that_come_are_measured_and_the_others_kept),
        cmocka_unit_test(nothing_is_known_of_a_cpu_that_was_away_between_two_looks),
        cmocka_unit_test(a_measurement_here_is_sane),
        cmocka_unit_test(the_caller_s_affinity_neither_counts_nor_changes),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
