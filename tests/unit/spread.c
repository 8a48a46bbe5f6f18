/* SPDX-License-Identifier: MIT */
/* The spread between CPUs: ranges from simulated throws, and one real measurement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include <timebase/error.h>

#include "dice.h"
#include "kernel_now.h"
#include "sync/skew.h"

#define WORLDS 2000
#define THROWS 50

/* Two counters, one ahead of the other by a constant; throws that take what they take. */
static struct spread_range play(struct dice *dice, int64_t offset_ticks, uint64_t least_ticks)
{
    struct spread_range range = SPREAD_UNKNOWN;
    uint64_t now = dice_roll(dice); /* anywhere: counters wrap */
    for (int i = 0; i < THROWS; i++) {
        uint64_t sent = now;
        now += least_ticks + dice_below(dice, 1000);
        spread_there(&range, sent, now + (uint64_t)offset_ticks);
        sent = now + (uint64_t)offset_ticks;
        now += least_ticks + dice_below(dice, 1000);
        spread_here(&range, sent, now);
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
        struct spread_range range = play(&dice, offset, least);
        assert_true(range.low_ticks <= offset && offset <= range.high_ticks);
        /* no wider than the quickest throws: half of them are quicker than this */
        assert_true(range.high_ticks - range.low_ticks <= (int64_t)(2 * least + 2000));
    }
}

static void only_the_quickest_throws_count(void **state)
{
    struct spread_range range = SPREAD_UNKNOWN;
    (void)state;
    spread_there(&range, 100, 500);
    spread_there(&range, 1000, 1300);
    spread_there(&range, 2000, 9000);
    assert_true(range.high_ticks == 300);
    spread_here(&range, 5000, 5900);
    spread_here(&range, 6000, 6200);
    spread_here(&range, 7000, 9900);
    assert_true(range.low_ticks == -200);
}

static void two_cpus_differ_by_the_larger_end(void **state)
{
    struct spread_range range = {-303, 375};
    (void)state;
    assert_true(spread_of(&range, 2) == 375);
    range = (struct spread_range){-400, 375};
    assert_true(spread_of(&range, 2) == 400);
    range = (struct spread_range){100, 375}; /* zero is excluded; the bound is the same */
    assert_true(spread_of(&range, 2) == 375);
    range = (struct spread_range){-375, -100};
    assert_true(spread_of(&range, 2) == 375);
}

static void others_than_the_first_are_compared_too(void **state)
{
    struct spread_range ranges[] = {{-10, 300}, {-200, 5}};
    (void)state;
    assert_true(spread_of(ranges, 3) == 500);
    struct spread_range reversed[] = {{-200, 5}, {-10, 300}};
    assert_true(spread_of(reversed, 3) == 500);
}

static void one_cpu_differs_from_none(void **state)
{
    (void)state;
    assert_true(spread_of(NULL, 1) == 0);
    assert_true(spread_of(NULL, 0) == 0);
}

static void what_is_not_known_is_not_bounded(void **state)
{
    struct spread_range ranges[] = {{-10, 10}, SPREAD_UNKNOWN};
    (void)state;
    assert_true(spread_of(ranges, 3) == UINT64_MAX);
    ranges[1] = (struct spread_range){5, 4}; /* contradicts itself */
    assert_true(spread_of(ranges, 3) == UINT64_MAX);
    ranges[1] = (struct spread_range){INT64_MIN, 4};
    assert_true(spread_of(ranges, 3) == UINT64_MAX);
    ranges[1] = (struct spread_range){-4, INT64_MAX};
    assert_true(spread_of(ranges, 3) == UINT64_MAX);
}

/* ---- the real one -------------------------------------------------------------------------- */

static void assert_sane(const struct spread *spread)
{
    assert_true(spread->measured_cpus <= spread->cpus);
    assert_int_not_equal(spread->measured_cpus, 1);
    if (spread->is_measured)
        assert_int_equal(spread->measured_cpus, spread->cpus);
    if (spread->measured_cpus == 0)
        assert_true(spread->spread_ticks == 0 && !spread->is_measured);
}

/* Busy: threads of the measurement before may not have had their CPU yet. */
static struct spread measured(void)
{
    struct spread spread;
    for (;;) {
        int error = spread_measure(&spread);
        if (error != TIMEBASE_E_BUSY) {
            assert_int_equal(error, TIMEBASE_OK);
            return spread;
        }
        sched_yield();
    }
}

static void a_measurement_here_is_sane(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct spread spread = measured();
        print_message("%u of %u CPUs, %llu ticks%s%s\n", spread.measured_cpus, spread.cpus,
                      (unsigned long long)spread.spread_ticks,
                      spread.excludes_zero ? ", zero excluded" : "",
                      spread.is_inconsistent ? ", inconsistent" : "");
        assert_sane(&spread);
    }
}

static void a_process_on_one_cpu_has_none_to_compare(void **state)
{
    cpu_set_t kept, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(kept), &kept), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &kept))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    struct spread spread = measured();
    sched_setaffinity(0, sizeof(kept), &kept);
    assert_int_equal(spread.cpus, 1);
    assert_false(spread.is_measured);
    assert_true(spread.spread_ticks == 0);
}

static void the_caller_s_affinity_is_left_alone(void **state)
{
    cpu_set_t before, after;
    (void)state;
    sched_getaffinity(0, sizeof(before), &before);
    measured();
    sched_getaffinity(0, sizeof(after), &after);
    assert_true(CPU_EQUAL(&before, &after));
}

static void *measure_often(void *unused)
{
    for (int i = 0; i < 20; i++) {
        struct spread spread;
        int error = spread_measure(&spread);
        assert_true(error == TIMEBASE_OK || error == TIMEBASE_E_BUSY);
        assert_sane(&spread);
    }
    return unused;
}

static void two_that_measure_at_once_do_not_mix(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, measure_often, NULL), 0);
    measure_often(NULL);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_contains_the_offset),
        cmocka_unit_test(only_the_quickest_throws_count),
        cmocka_unit_test(two_cpus_differ_by_the_larger_end),
        cmocka_unit_test(others_than_the_first_are_compared_too),
        cmocka_unit_test(one_cpu_differs_from_none),
        cmocka_unit_test(what_is_not_known_is_not_bounded),
        cmocka_unit_test(a_measurement_here_is_sane),
        cmocka_unit_test(a_process_on_one_cpu_has_none_to_compare),
        cmocka_unit_test(the_caller_s_affinity_is_left_alone),
        cmocka_unit_test(two_that_measure_at_once_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
