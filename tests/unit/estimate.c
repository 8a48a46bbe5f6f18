/* SPDX-License-Identifier: MIT */
/*
 * How far apart readings are, and how long a delay's instructions: shown by themselves, followed
 * when the neighbour comes and goes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "../repeats.h"
#include "stepped.h"
#include "timing/learn/estimate.h"
#include "timing/learn/vernier.h"

#define CYCLE 0.7 /* ticks */
#define MEAN 256
#define QUIET 66.6 /* cycles, on Zen 4 */
#define BUSY 77.5
#define FAR 1.3 /* ticks */

static struct dice dice;

/* A series at a random phase of a counter that steps by 26, or by `step`. */
static double show(double ticks_apart, uint64_t step)
{
    uint32_t readings[APPROACH_FINE];
    struct stepped counter = {step, dice_below(&dice, step)};
    stepped_series(&counter, dice_between(&dice, 1e6, 1e6), ticks_apart, readings);
    return vernier_slope(readings, APPROACH_VERNIER);
}

static void the_slope_is_that_of_the_readings(void **state)
{
    static const uint64_t steps[] = {1, 2, 10, 26};
    (void)state;
    for (int i = 0; i < repeats(4000); i++) {
        uint64_t step = steps[i % 4];
        double apart = dice_between(&dice, 20, 60);
        assert_true(fabs(show(apart, step) - apart) <= 0.13 * (double)step);
    }
}

/* Readings across a carry out of the lower 32 bits. */
static void the_slope_minds_no_carry(void **state)
{
    uint32_t readings[APPROACH_VERNIER];
    (void)state;
    for (uint32_t k = 0; k < APPROACH_VERNIER; k++)
        readings[k] = UINT32_MAX - 200 + 40 * k;
    assert_true(fabs(vernier_slope(readings, APPROACH_VERNIER) - 40) < 1e-9);
}

static void learn(struct estimate *spacing, double cycles, int series)
{
    for (int i = 0; i < series; i++)
        estimate_learn(spacing, show(cycles * CYCLE, 26), CYCLE, FAR);
}

static void a_quiet_core_leaves_it_as_it_is(void **state)
{
    struct estimate spacing;
    (void)state;
    estimate_init(&spacing, QUIET, MEAN);
    for (int i = 0; i < repeats(20000); i++) {
        learn(&spacing, QUIET, 1);
        assert_true(fabs(spacing.value - QUIET) < 0.25);
    }
}

/* A calibration beside a busy neighbour, or one that was held up, is mended too. */
static void a_neighbour_that_comes_or_goes_is_believed_after_four(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(500); i++) {
        struct estimate spacing;
        estimate_init(&spacing, QUIET, MEAN);
        learn(&spacing, BUSY, 4);
        assert_true(fabs(spacing.value - BUSY) < 2);
        learn(&spacing, BUSY, 40);
        assert_true(fabs(spacing.value - BUSY) < 0.7);
        learn(&spacing, QUIET, 4);
        assert_true(fabs(spacing.value - QUIET) < 2);
    }
}

static void three_that_were_held_up_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(2000); i++) {
        struct estimate spacing;
        estimate_init(&spacing, QUIET, MEAN);
        for (int k = 0; k < 3; k++)
            estimate_learn(&spacing, dice_between(&dice, 60, 1e6), CYCLE, FAR);
        assert_true(spacing.value == QUIET);
        learn(&spacing, QUIET, 8);
        assert_true(fabs(spacing.value - QUIET) < 0.25);
    }
}

/* One is enough, and no series on a quiet core is taken for it. */
static void what_is_shorter_is_believed_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(2000); i++) {
        struct estimate spacing;
        estimate_init(&spacing, QUIET, MEAN);
        assert_false(estimate_is_shorter(&spacing, show(QUIET * CYCLE, 26), CYCLE, FAR));
        assert_false(estimate_is_shorter(&spacing, dice_between(&dice, 60, 1e6), CYCLE, FAR));
        assert_true(spacing.value == QUIET);
        estimate_init(&spacing, BUSY, MEAN);
        assert_true(estimate_is_shorter(&spacing, show(QUIET * CYCLE, 26), CYCLE, FAR));
        assert_true(fabs(spacing.value - QUIET) < 2);
        learn(&spacing, QUIET, 40);
        assert_true(fabs(spacing.value - QUIET) < 0.7);
    }
}

/* The others were held up besides: some of the four by microseconds. */
static void of_four_the_nearest_is_believed(void **state)
{
    struct estimate spacing;
    (void)state;
    estimate_init(&spacing, QUIET, MEAN);
    estimate_learn(&spacing, 9000, CYCLE, FAR);
    estimate_learn(&spacing, BUSY * CYCLE, CYCLE, FAR);
    estimate_learn(&spacing, 80000, CYCLE, FAR);
    estimate_learn(&spacing, BUSY * CYCLE + 3, CYCLE, FAR);
    assert_true(fabs(spacing.value - BUSY) < 1e-9);
}

/* What is wrong by less than a series shows is a mean of few, once it is doubted. */
static void doubt_makes_it_follow_what_is_near(void **state)
{
    struct estimate trusted, doubted;
    (void)state;
    estimate_init(&trusted, 60, MEAN);
    estimate_init(&doubted, 60, MEAN);
    estimate_doubt(&doubted);
    for (int i = 0; i < 8; i++) {
        estimate_learn(&trusted, 60.5, 1, FAR);
        estimate_learn(&doubted, 60.5, 1, FAR);
    }
    assert_true(trusted.value < 60.05);
    assert_true(doubted.value > 60.2);
}

static void what_was_right_in_between_is_no_row(void **state)
{
    struct estimate spacing;
    (void)state;
    estimate_init(&spacing, 60, MEAN);
    for (int i = 0; i < 20; i++) {
        estimate_learn(&spacing, 80, 1, FAR);
        if (i % 3 == 2)
            estimate_confirm(&spacing);
    }
    assert_true(spacing.value == 60);
}

/* A change of the core clock is no change of it. */
static void a_clock_step_changes_nothing(void **state)
{
    struct estimate spacing;
    (void)state;
    estimate_init(&spacing, QUIET, MEAN);
    for (int i = 0; i < repeats(4000); i++) {
        double cycle = i / 100 % 2 ? CYCLE * 1.3 : CYCLE;
        estimate_learn(&spacing, show(QUIET * cycle, 26), cycle, FAR);
        assert_true(fabs(spacing.value - QUIET) < 0.25);
    }
}

/*
 * Delays of 1 us, 3,700 instructions, by readings of a counter that steps by 26: a tenth of them
 * held up by 0.1 us or more. A calibration that was 4 % wrong, 40 ns, is mended by the first few.
 * Four held up in a row are believed, too, until four others come.
 */
static void a_delay_is_as_long_as_it_should_be_though_some_are_held_up(void **state)
{
    const double count = 3700, instruction = 0.7;
    const struct stepped counter = {26, 3};
    (void)state;
    for (int wrong = -4; wrong <= 4; wrong += 4) {
        struct estimate run;
        int wrong_ones = 0;
        estimate_init(&run, instruction * (1 + wrong / 100.0), MEAN);
        for (int i = 0; i < 2000; i++) {
            double held_up = dice_below(&dice, 10) == 0 ? dice_between(&dice, 260, 1000) : 0;
            double first = dice_between(&dice, 1e6, 1e3),
                   last = first + count * instruction + held_up;
            uint64_t seen = stepped_read(&counter, last) - stepped_read(&counter, first);
            estimate_learn(&run, (double)seen, count, 34);
            wrong_ones += fabs(run.value - instruction) * count > 15;
        }
        assert_in_range(wrong_ones, 0, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slope_is_that_of_the_readings),
        cmocka_unit_test(the_slope_minds_no_carry),
        cmocka_unit_test(a_quiet_core_leaves_it_as_it_is),
        cmocka_unit_test(a_neighbour_that_comes_or_goes_is_believed_after_four),
        cmocka_unit_test(three_that_were_held_up_change_nothing),
        cmocka_unit_test(what_is_shorter_is_believed_at_once),
        cmocka_unit_test(of_four_the_nearest_is_believed),
        cmocka_unit_test(doubt_makes_it_follow_what_is_near),
        cmocka_unit_test(what_was_right_in_between_is_no_row),
        cmocka_unit_test(a_clock_step_changes_nothing),
        cmocka_unit_test(a_delay_is_as_long_as_it_should_be_though_some_are_held_up),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
