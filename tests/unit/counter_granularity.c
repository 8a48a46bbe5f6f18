/* SPDX-License-Identifier: MIT */
/* The counter's step: greatest common divisor, smallest step, and steps back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "clock/counter/probe.h"
#include "dice.h"

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

/* ---- steps that are no whole number of ticks ---------------------------------------------- */

enum { ROUND = 1024 };

/* Reads some ns apart, rounded down, of which one in `odd` comes a tick late. */
static void read_steps(struct dice *dice, double step, unsigned odd, uint64_t reads[ROUND])
{
    double phase = step * (double)dice_below(dice, 1000) / 1000;
    double instant = (double)dice_below(dice, 1u << 30);
    for (int i = 0; i < ROUND; i++) {
        instant += 30 + (double)dice_below(dice, 60);
        reads[i] = (uint64_t)(phase + floor(instant / step) * step);
        reads[i] += odd > 0 && dice_below(dice, odd) == 0;
    }
}

/* 2450 MHz counted at 100 MHz, 2000 MHz, and 2600 MHz as a hypervisor scales them. */
static void test_even_steps_are_found_whatever_their_length(void **state)
{
    static const double steps[] = {24.5, 20, 22.25, 26, 26 * 0.94173, 26 * 1.0712, 12.3, 37.0001};
    struct dice dice = dice_new();
    uint64_t reads[ROUND];
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        for (int round = 0; round < 50; round++) {
            read_steps(&dice, steps[i], round % 2 ? 100 : 0, reads);
            double found = counter_even_step(reads, ROUND);
            if (fabs(found - steps[i]) > 0.002)
                fail_msg("%f for %f", found, steps[i]);
            if (steps[i] == floor(steps[i]))
                assert_true(found == steps[i]);
        }
}

/* A pause is as good as no pause if the reads before tell how many steps it was, and else nothing
 * is told: never another step. */
static void test_a_pause_between_reads_tells_no_other_step(void **state)
{
    struct dice dice = dice_new();
    uint64_t reads[ROUND];
    int none = 0, found = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        read_steps(&dice, 24.5, 0, reads);
        for (int i = 1 + (int)dice_below(&dice, ROUND - 1); i < ROUND; i++)
            reads[i] += 24500; /* 1000 steps */
        double step = counter_even_step(reads, ROUND);
        none += step == 0;
        found += fabs(step - 24.5) < 0.002;
    }
    assert_int_equal(none + found, 200);
    assert_true(none > 0 && found > 0);
}

static void test_a_fine_counter_has_no_even_steps(void **state)
{
    struct dice dice = dice_new();
    uint64_t reads[ROUND];
    (void)state;
    for (unsigned step = 1; step < 12; step++)
        for (int round = 0; round < 50; round++) {
            read_steps(&dice, step, 0, reads);
            assert_true(counter_even_step(reads, ROUND) == 0);
        }
}

static void test_too_few_reads_have_no_even_steps(void **state)
{
    static const uint64_t reads[] = {1000};
    (void)state;
    assert_true(counter_even_step(reads, 0) == 0);
    assert_true(counter_even_step(reads, 1) == 0);
}

static void test_reads_that_go_back_have_no_even_steps(void **state)
{
    uint64_t reads[ROUND];
    (void)state;
    for (int i = 0; i < ROUND; i++)
        reads[i] = UINT64_MAX - 24 * (uint64_t)i;
    assert_true(counter_even_step(reads, ROUND) == 0);
}

static void test_this_machine(void **state)
{
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    double step = counter_find_granularity(&counter);
    assert_true(counter.granularity_ticks >= 1);
    assert_true((double)counter.granularity_ticks >= step);
    assert_true((double)counter.granularity_ticks < step + 1);
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
        cmocka_unit_test(test_even_steps_are_found_whatever_their_length),
        cmocka_unit_test(test_a_pause_between_reads_tells_no_other_step),
        cmocka_unit_test(test_a_fine_counter_has_no_even_steps),
        cmocka_unit_test(test_too_few_reads_have_no_even_steps),
        cmocka_unit_test(test_reads_that_go_back_have_no_even_steps),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_cost_arithmetic),
        cmocka_unit_test(test_cost_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
