/* SPDX-License-Identifier: MIT */
/* The counter's step: greatest common divisor, smallest step, and steps back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "clock/counter/probe.h"

static struct counter_steps steps_of(const uint64_t *reads, size_t count)
{
    struct counter_steps steps;
    memset(&steps, 0, sizeof(steps));
    counter_add_steps(&steps, reads, count);
    return steps;
}

static void test_tsc_that_steps_by_two(void **state)
{
    static const uint64_t reads[] = {1000, 1018, 1036, 1058, 1076, 1100};
    struct counter_steps steps = steps_of(reads, 6);
    (void)state;
    assert_int_equal(counter_common_step(&steps), 2);
    assert_int_equal(steps.smallest, 18);
    assert_int_equal(steps.count, 5);
    assert_int_equal(steps.backwards, 0);
}

/* Most reads of a slow counter see no step at all. */
static void test_coarse_counter(void **state)
{
    static const uint64_t reads[] = {7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 9, 9};
    struct counter_steps steps = steps_of(reads, 12);
    (void)state;
    assert_int_equal(counter_common_step(&steps), 1);
    assert_int_equal(steps.smallest, 1);
    assert_int_equal(steps.count, 2);
}

static void test_counter_in_large_steps(void **state)
{
    static const uint64_t reads[] = {400, 440, 440, 520, 640};
    struct counter_steps steps = steps_of(reads, 5);
    (void)state;
    assert_int_equal(counter_common_step(&steps), 40);
    assert_int_equal(steps.smallest, 40);
}

enum { MANY = 600 };

/* Steps of 1 to 5 times 26; `odd` reads of the many come 1 tick late. */
static struct counter_steps steps_with_odd_reads(int odd)
{
    static uint64_t reads[MANY];
    uint32_t seed = 1;
    uint64_t now = 1u << 20;
    for (int i = 0; i < MANY; i++) {
        seed = seed * 1664525 + 1013904223;
        now += 26 * (1 + (seed >> 24) % 5);
        reads[i] = now + (odd > 0 && i % (MANY / odd) == MANY / odd - 1);
    }
    return steps_of(reads, MANY);
}

/* A processor that tells two reads of one step apart by adding 1. */
static void test_odd_reads_do_not_hide_the_step(void **state)
{
    (void)state;
    for (int odd = 0; odd <= 10; odd++) {
        struct counter_steps steps = steps_with_odd_reads(odd);
        assert_int_equal(counter_common_step(&steps), 26);
        assert_int_equal(steps.groups, COUNTER_GROUPS);
        assert_int_equal(steps.count, MANY - 1);
    }
}

/* When every fourth read is odd, the counter does count by ones. */
static void test_many_odd_reads_are_the_step(void **state)
{
    struct counter_steps steps = steps_with_odd_reads(MANY / 4);
    (void)state;
    assert_int_equal(counter_common_step(&steps), 1);
}

static void test_counter_that_stands_still(void **state)
{
    static const uint64_t reads[] = {5, 5, 5};
    struct counter_steps steps = steps_of(reads, 3);
    (void)state;
    assert_int_equal(steps.count, 0);
    assert_int_equal(steps.smallest, 0);
    assert_int_equal(counter_common_step(&steps), 1);
}

static void test_steps_back_are_counted_apart(void **state)
{
    static const uint64_t reads[] = {100, 110, 109, 119};
    struct counter_steps steps = steps_of(reads, 4);
    (void)state;
    assert_int_equal(steps.backwards, 1);
    assert_int_equal(steps.count, 2);
    assert_int_equal(counter_common_step(&steps), 10);
}

static void test_wrapping_is_a_step_forward(void **state)
{
    static const uint64_t reads[] = {UINT64_MAX - 5, 4};
    struct counter_steps steps = steps_of(reads, 2);
    (void)state;
    assert_int_equal(steps.backwards, 0);
    assert_int_equal(steps.smallest, 10);
}

static void test_too_few_reads(void **state)
{
    static const uint64_t reads[] = {5};
    (void)state;
    assert_int_equal(steps_of(reads, 0).count, 0);
    assert_int_equal(steps_of(reads, 1).count, 0);
}

static void test_this_machine(void **state)
{
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    counter_find_granularity(&counter);
    assert_true(counter.granularity_ticks >= 1);
    assert_true(counter.smallest_step_ticks >= 1);
    assert_int_equal(counter.reasons & ~(uint32_t)TIMEBASE_REASON_WENT_BACKWARDS, 0);
}

static void test_cost_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(counter_cost_ps(2600, 100, 2600000000), 10000); /* 10 ns */
    assert_int_equal(counter_cost_ps(0, 100, 2600000000), 0);
    assert_int_equal(counter_cost_ps(UINT64_MAX, 1, 1), UINT32_MAX);
}

static void test_cost_of_this_machine(void **state)
{
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    counter.frequency_hz = 1000000000;
    counter_find_cost(&counter);
    assert_true(counter.cost_ordered_ps > 0 || counter.cost_ps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tsc_that_steps_by_two),
        cmocka_unit_test(test_coarse_counter),
        cmocka_unit_test(test_counter_in_large_steps),
        cmocka_unit_test(test_odd_reads_do_not_hide_the_step),
        cmocka_unit_test(test_many_odd_reads_are_the_step),
        cmocka_unit_test(test_counter_that_stands_still),
        cmocka_unit_test(test_steps_back_are_counted_apart),
        cmocka_unit_test(test_wrapping_is_a_step_forward),
        cmocka_unit_test(test_too_few_reads),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_cost_arithmetic),
        cmocka_unit_test(test_cost_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
