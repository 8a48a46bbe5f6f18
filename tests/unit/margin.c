/* SPDX-License-Identifier: MIT */
/* What holds of a margin whatever it is fed; how well it learns is seen in simulation/sleep_*. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../repeats.h"
#include "dice.h"
#include "timing/sleep/margin.h"

#define MILLISECOND 1000000
#define LEAD_NS 4000

static struct margin fresh(void)
{
    struct margin margin;
    margin_init(&margin);
    return margin;
}

static void before_anything_is_known_it_is_the_start_value(void **state)
{
    struct margin margin = fresh();
    (void)state;
    assert_int_equal(margin_ns(&margin, LEAD_NS), MARGIN_START_NS);
    assert_int_equal(margin_choose(&margin, MILLISECOND, LEAD_NS), MARGIN_START_NS);
}

static void numbers_out_of_range_are_refused_and_change_nothing(void **state)
{
    const double bad[] = {-1, 0, 1.0000001, 1e300, INFINITY, -INFINITY, NAN};
    struct margin margin = fresh(), before = margin;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(margin_set(&margin, bad[i], 0.05));
        assert_false(margin_set(&margin, 0.99, bad[i]));
    }
    assert_false(margin_set(&margin, 1, 0.05));
    assert_memory_equal(&margin, &before, sizeof(margin));
}

static void new_numbers_leave_what_was_learnt(void **state)
{
    struct margin margin = fresh();
    (void)state;
    for (int i = 0; i < 100; i++)
        margin_observe(&margin, 200000, margin_ns(&margin, LEAD_NS));
    int64_t learnt_ns = margin_ns(&margin, LEAD_NS);
    assert_true(margin_set(&margin, 0.9, 1));
    assert_int_equal(margin_ns(&margin, LEAD_NS), learnt_ns);
    assert_int_equal(margin.samples, 100);
}

static void a_late_wake_up_lengthens_it_and_any_other_shortens_it(void **state)
{
    struct margin margin = fresh();
    (void)state;
    margin_observe(&margin, MARGIN_START_NS, MARGIN_START_NS);
    assert_true(margin.wake_ns < MARGIN_START_NS);
    assert_int_equal(margin.late, 0);
    margin = fresh();
    margin_observe(&margin, MARGIN_START_NS + 1, MARGIN_START_NS);
    assert_true(margin.wake_ns > MARGIN_START_NS);
    assert_int_equal(margin.late, 1);
}

/* 1 late and 199 others cancel: that is what makes 1 of 200 late. */
static void expect_cancelled(double quantile, int others)
{
    struct margin margin = fresh();
    assert_true(margin_set(&margin, quantile, 1));
    double product = margin.rise;
    for (int i = 0; i < others; i++)
        product *= margin.fall;
    assert_true(fabs(product - 1) < 1e-6);
}

static void the_steps_are_in_the_proportion_of_the_quantile(void **state)
{
    (void)state;
    expect_cancelled(0.5, 1);
    expect_cancelled(0.9, 9);
    expect_cancelled(0.99, 99);
    expect_cancelled(0.995, 199);
    expect_cancelled(0.999, 999);
}

static void an_outlier_counts_no_more_than_a_late_one(void **state)
{
    struct margin a = fresh(), b = a;
    (void)state;
    margin_observe(&a, MARGIN_START_NS + 1000, MARGIN_START_NS);
    margin_observe(&b, INT64_MAX, MARGIN_START_NS);
    assert_true(a.wake_ns == b.wake_ns);
    assert_true(b.mean_ns <= MARGIN_START_NS * 1.3);
}

static void a_wait_too_short_for_a_nap_is_polled_and_is_no_skip(void **state)
{
    struct margin margin = fresh();
    (void)state;
    for (int64_t left = -MILLISECOND; left < LEAD_NS + MARGIN_NAP_MIN_NS + MARGIN_MIN_NS; left += 7)
        assert_int_equal(margin_choose(&margin, left, LEAD_NS), -1);
    assert_int_equal(margin.skipped, 0);
}

static void one_skip_in_two_hundred_is_a_probe(void **state)
{
    struct margin margin = fresh();
    int64_t left_ns = LEAD_NS + MARGIN_START_NS;
    (void)state;
    for (int i = 0; i < 200; i++)
        assert_int_equal(margin_choose(&margin, left_ns, LEAD_NS), -1);
    assert_int_equal(margin_choose(&margin, left_ns, LEAD_NS), MARGIN_START_NS - MARGIN_NAP_MIN_NS);
}

/* In time, it stands for all of them: ln falls by a whole step instead of a 200th. */
static void a_probe_counts_for_those_skipped(void **state)
{
    struct margin margin = fresh();
    (void)state;
    for (int i = 0; i <= 200; i++)
        margin_choose(&margin, LEAD_NS + MARGIN_START_NS, LEAD_NS);
    margin_observe(&margin, 10000, MARGIN_START_NS - MARGIN_NAP_MIN_NS);
    assert_true(fabs(margin.wake_ns - MARGIN_START_NS * 0.77880) < 1);
    assert_int_equal(margin.skipped, 0);
}

static void a_wait_that_is_dear_to_poll_sleeps_with_what_room_there_is(void **state)
{
    struct margin margin = fresh();
    (void)state;
    for (int i = 0; i < 10; i++)
        margin_begin(&margin, i * 20000, 20000);
    assert_int_equal(margin_choose(&margin, 20000, LEAD_NS), 20000 - LEAD_NS - MARGIN_NAP_MIN_NS);
}

static void what_the_kernel_takes_is_part_of_the_cap(void **state)
{
    struct margin margin = fresh();
    (void)state;
    margin_begin(&margin, 0, MILLISECOND);
    margin_begin(&margin, MILLISECOND, MILLISECOND);
    margin_observe(&margin, 10000, margin_ns(&margin, LEAD_NS));
    int64_t before_ns = margin_ns(&margin, LEAD_NS);
    margin_charge(&margin, 13000);
    assert_int_equal(margin_ns(&margin, LEAD_NS), before_ns - 13000);
    for (int i = 0; i < 1000; i++)
        margin_charge(&margin, 9000);
    assert_in_range(margin_ns(&margin, LEAD_NS), before_ns - 9010, before_ns - 8990);
    margin_charge(&margin, INT64_C(1) << 60); /* an interrupt's is not the sleep's */
    assert_true(margin_ns(&margin, LEAD_NS) > before_ns - 10000);
}

/* One that is longer than those before it has more to poll of: it is not late for them. */
static void the_cap_is_that_of_the_wait_itself_if_it_is_longer(void **state)
{
    enum { SHORT_NS = 100000 };
    struct margin margin = fresh(), only_long = fresh();
    (void)state;
    for (int i = 0; i < 100; i++) {
        margin_begin(&margin, i * SHORT_NS, SHORT_NS);
        margin_observe(&margin, 10000, margin_ns(&margin, LEAD_NS));
    }
    for (int i = 0; i < 2; i++)
        margin_begin(&only_long, i * MILLISECOND, MILLISECOND);
    only_long.mean_ns = margin.mean_ns;
    margin.wake_ns = only_long.wake_ns = MARGIN_START_NS; /* the cap is all that counts */
    int64_t short_ns = margin_ns(&margin, LEAD_NS);
    margin_begin(&margin, 100 * SHORT_NS + MILLISECOND, MILLISECOND);
    assert_int_equal(margin_ns(&margin, LEAD_NS), margin_ns(&only_long, LEAD_NS));
    assert_true(short_ns < margin_ns(&margin, LEAD_NS));
}

static void a_target_that_goes_back_teaches_no_period(void **state)
{
    struct margin margin = fresh();
    (void)state;
    margin_begin(&margin, MILLISECOND, 1000);
    margin_begin(&margin, 2 * MILLISECOND, 1000);
    assert_true(margin.period_ns == MILLISECOND);
    margin_begin(&margin, -MILLISECOND, 1000);
    margin_begin(&margin, -MILLISECOND, 1000);
    assert_true(margin.period_ns == MILLISECOND);
}

static void expect_sound(const struct margin *margin, int64_t left_ns, int64_t chosen_ns)
{
    assert_true(margin->wake_ns >= MARGIN_MIN_NS && margin->wake_ns <= MARGIN_MAX_NS);
    assert_in_range(margin_ns(margin, LEAD_NS), MARGIN_MIN_NS, MARGIN_MAX_NS);
    assert_true(margin->period_ns >= 0);
    assert_true(margin->rarity >= 1 && margin->rarity <= 64);
    assert_true(chosen_ns == -1 || chosen_ns >= MARGIN_MIN_NS);
    assert_true(chosen_ns == -1 || left_ns - LEAD_NS - chosen_ns >= MARGIN_NAP_MIN_NS);
}

static void it_stays_within_its_range_whatever_happens(void **state)
{
    struct dice dice = dice_new();
    struct margin margin = fresh();
    (void)state;
    for (int i = 0; i < repeats(1000000); i++) {
        int64_t left_ns = (int64_t)dice_wide(&dice);
        if (dice_below(&dice, 1000) == 0)
            margin_set(&margin, (double)dice_below(&dice, 1001) / 1000,
                       (double)dice_below(&dice, 1001) / 1000);
        margin_begin(&margin, (int64_t)dice_wide(&dice), (int64_t)dice_wide(&dice));
        int64_t chosen_ns = margin_choose(&margin, left_ns, LEAD_NS);
        expect_sound(&margin, left_ns, chosen_ns);
        if (chosen_ns >= 0)
            margin_observe(&margin, (int64_t)dice_wide(&dice), chosen_ns);
    }
    assert_true(margin.samples > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_anything_is_known_it_is_the_start_value),
        cmocka_unit_test(numbers_out_of_range_are_refused_and_change_nothing),
        cmocka_unit_test(new_numbers_leave_what_was_learnt),
        cmocka_unit_test(a_late_wake_up_lengthens_it_and_any_other_shortens_it),
        cmocka_unit_test(the_steps_are_in_the_proportion_of_the_quantile),
        cmocka_unit_test(an_outlier_counts_no_more_than_a_late_one),
        cmocka_unit_test(a_wait_too_short_for_a_nap_is_polled_and_is_no_skip),
        cmocka_unit_test(one_skip_in_two_hundred_is_a_probe),
        cmocka_unit_test(a_probe_counts_for_those_skipped),
        cmocka_unit_test(a_wait_that_is_dear_to_poll_sleeps_with_what_room_there_is),
        cmocka_unit_test(what_the_kernel_takes_is_part_of_the_cap),
        cmocka_unit_test(the_cap_is_that_of_the_wait_itself_if_it_is_longer),
        cmocka_unit_test(a_target_that_goes_back_teaches_no_period),
        cmocka_unit_test(it_stays_within_its_range_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
