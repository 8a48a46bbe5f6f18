/* SPDX-License-Identifier: MIT */
/*
 * The estimator's errors are promises: whatever straight line the reference is, and however
 * badly it is looked at, the truth lies within them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "clock/discipline/estimator.h"
#include "simulated_line.h"

#define LINES 400
#define SAMPLES 60

static struct estimator_point point_of(const struct discipline_sample *sample, struct fixed period)
{
    uint64_t bracket = sample->ticks_after - sample->ticks_before;
    struct estimator_point point = {sample->ticks_before + bracket / 2, sample->mono_ns, 0, 0, 0};
    point.width_ns = (uint64_t)fixed_times(period, (bracket + 1) / 2).ns + 1;
    return point;
}

static void assert_value_within(const struct estimator *estimator,
                                const struct simulated_line *line, int sample)
{
    struct fixed truth = simulated_truth(line, estimator->newest.ticks);
    struct fixed off = fixed_abs(fixed_subtract(estimator->value, truth));
    if (fixed_less(fixed_from_ns((int64_t)estimator->error_ns), off))
        fail_msg("sample %d: %lld ns off, promised %llu", sample, (long long)off.ns,
                 (unsigned long long)estimator->error_ns);
}

static void assert_period_within(const struct estimator *estimator,
                                 const struct simulated_line *line, int sample)
{
    struct fixed off = fixed_abs(fixed_subtract(estimator->period, line->period));
    if (off.ns != 0 || off.frac > estimator->period_error_frac)
        fail_msg("sample %d: period %lld + %#llx / 2^64 ns off, promised %#llx", sample,
                 (long long)off.ns, (unsigned long long)off.frac,
                 (unsigned long long)estimator->period_error_frac);
}

static struct simulated_line random_line(struct dice *dice)
{
    uint32_t period_ns = dice_below(dice, 2) ? 0 : (uint32_t)dice_below(dice, 100);
    uint64_t period_frac = dice_roll(dice) | (uint64_t)1 << 62;
    return simulated_new(period_ns, period_frac);
}

static void follow(struct dice *dice, uint64_t wait_ns)
{
    struct simulated_line line = random_line(dice);
    struct estimator estimator = {0};
    for (int i = 0; i < SAMPLES; i++) {
        struct discipline_sample sample = simulated_disturbed_sample(&line, dice);
        struct estimator_point point = point_of(&sample, line.period);
        enum estimator_event event = estimator_observe(&estimator, &point);
        assert_true(event != ESTIMATOR_BACKWARDS && event != ESTIMATOR_JUMPED);
        if (estimator.ready) {
            assert_value_within(&estimator, &line, i);
            assert_period_within(&estimator, &line, i);
        }
        simulated_wait(&line, dice_below(dice, wait_ns));
    }
}

static void the_truth_is_within_the_errors_with_samples_close_together(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < LINES; i++)
        follow(&dice, 2000000);
}

static void the_truth_is_within_the_errors_with_samples_far_apart(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < LINES; i++)
        follow(&dice, 3000000000);
}

/*
 * After a change of pace the prediction is off by less than the bracket is wide, to the side
 * where the truth is not: the value stays at the prediction, and the error must say how far away
 * the truth can be.
 */
static void the_truth_is_within_the_error_of_a_disturbed_point_after_a_change_of_pace(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        struct simulated_line line = simulated_new(1, 0);
        struct estimator estimator = {0};
        for (int i = 0; i < 30; i++) {
            struct discipline_sample sample = simulated_sample(&line, 100, 50);
            struct estimator_point point = point_of(&sample, line.period);
            estimator_observe(&estimator, &point);
            simulated_wait(&line, 100000000);
        }
        struct fixed change = fixed_over(line.period, 2500); /* 400 ppm: 40 us in 100 ms */
        simulated_change_pace(
            &line, side ? fixed_add(line.period, change) : fixed_subtract(line.period, change));
        simulated_wait(&line, 100000000);
        struct discipline_sample wide = simulated_sample(&line, 90000, side ? 0 : 90000);
        struct estimator_point point = point_of(&wide, line.period);
        estimator_observe(&estimator, &point);
        assert_value_within(&estimator, &line, 30);
    }
}

static void assert_trusted_to_500_ppm(uint32_t period_ns, uint64_t period_frac)
{
    struct simulated_line line = simulated_new(period_ns, period_frac);
    struct estimator estimator = {0};
    for (int i = 0; i < 10; i++) {
        struct discipline_sample sample = simulated_sample(&line, 10, 5);
        struct estimator_point point = point_of(&sample, line.period);
        if (i == 9)
            point.ns += 5000000000;
        estimator_observe(&estimator, &point);
        simulated_wait(&line, 100000000);
    }
    struct fixed least = fixed_over(line.period, 2002);
    struct fixed told = {0, estimator.period_error_frac};
    assert_int_equal(estimator.count, 1);
    if (fixed_less(told, least))
        fail_msg("%u + %#llx / 2^64 ns: error %#llx is below 500 ppm", (unsigned)period_ns,
                 (unsigned long long)period_frac, (unsigned long long)told.frac);
}

static void a_jump_leaves_500_ppm_of_doubt_at_any_period(void **state)
{
    (void)state;
    assert_trusted_to_500_ppm(0, (uint64_t)5 << 61);   /* 1.6 GHz */
    assert_trusted_to_500_ppm(1, 0);                   /* 1 GHz */
    assert_trusted_to_500_ppm(16, 0);                  /* 62.5 MHz */
    assert_trusted_to_500_ppm(1, (uint64_t)0xf << 60); /* 516 MHz */
    assert_trusted_to_500_ppm(41, UINT64_MAX / 3 * 2); /* 24 MHz */
    assert_trusted_to_500_ppm(100, (uint64_t)1 << 62);
}

/* A slew that nobody told, of more than is allowed for, and a wide point that shows it. */
static void the_past_says_nothing_if_the_point_contradicts_it(void **state)
{
    struct estimator estimator = {0};
    struct estimator_point point = {0, 0, 20, 0, 0};
    (void)state;
    for (int i = 0; i < 20; i++) {
        point.ticks += 100000000;
        point.ns += 100000000;
        estimator_observe(&estimator, &point);
    }
    point.ticks += 100000000;
    int64_t truth = point.ns + 100000000 + 500000;
    point.ns = truth - 100000;
    point.width_ns = 110000;
    estimator_observe(&estimator, &point);
    int64_t off = fixed_round(estimator.value) - truth;
    assert_true((uint64_t)(off < 0 ? -off : off) <= estimator.error_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_within_the_errors_with_samples_close_together),
        cmocka_unit_test(the_truth_is_within_the_errors_with_samples_far_apart),
        cmocka_unit_test(the_truth_is_within_the_error_of_a_disturbed_point_after_a_change_of_pace),
        cmocka_unit_test(a_jump_leaves_500_ppm_of_doubt_at_any_period),
        cmocka_unit_test(the_past_says_nothing_if_the_point_contradicts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
