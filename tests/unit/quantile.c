/* SPDX-License-Identifier: MIT */
/* Order statistics against qsort and by their definitions. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stepped.h"
#include "timing/learn/quantile.h"

#define MOST 300
#define CASES 2000

/* Few different values in half of all cases: equal ones are common in ticks. */
static void fill(double *values, int count, struct dice *dice)
{
    int coarse = (int)dice_below(dice, 2);
    for (int i = 0; i < count; i++) {
        double value = dice_between(dice, -1000, 2000);
        values[i] = coarse ? (int)(value / 300) : value;
    }
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void sorting_is_what_qsort_does(void **state)
{
    struct dice dice = dice_new();
    double values[MOST], wanted[MOST];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        int count = (int)dice_below(&dice, MOST + 1);
        fill(values, count, &dice);
        memcpy(wanted, values, sizeof(wanted));
        qsort(wanted, (size_t)count, sizeof(wanted[0]), compare);
        quantile_sort(values, count);
        for (int k = 0; k < count; k++)
            assert_true(values[k] == wanted[k]);
    }
}

static void infinite_values_are_the_first_and_the_last(void **state)
{
    double values[] = {3, INFINITY, -7, -INFINITY, INFINITY, 0};
    const double wanted[] = {-INFINITY, -7, 0, 3, INFINITY, INFINITY};
    (void)state;
    quantile_sort(values, 6);
    for (int i = 0; i < 6; i++)
        assert_true(values[i] == wanted[i]);
}

static void nothing_beside_the_values_is_written(void **state)
{
    double values[] = {-1e300, 5, 4, 3, 2, 1, 1e300};
    (void)state;
    quantile_sort(values + 1, 5);
    quantile_sort(values + 1, 0);
    quantile_sort(values + 6, 1);
    for (int i = 1; i < 6; i++)
        assert_true(values[i] == i);
    assert_true(values[0] == -1e300 && values[6] == 1e300);
}

static void the_ends_are_the_lowest_and_the_highest_and_the_half_is_the_median(void **state)
{
    double values[MOST];
    (void)state;
    for (int count = 1; count <= MOST; count++) {
        for (int i = 0; i < count; i++)
            values[i] = i;
        assert_true(quantile_at(values, count, 0) == 0);
        assert_true(quantile_at(values, count, 1) == count - 1);
        assert_true(fabs(quantile_at(values, count, 0.5) - (count - 1) / 2.0) <= 0.5);
        assert_true(fabs(quantile_at(values, count, 0.99) - (count - 1) * 0.99) <= 0.5 + 1e-9);
    }
}

static void a_higher_quantile_is_never_below_a_lower_one(void **state)
{
    struct dice dice = dice_new();
    double values[MOST];
    (void)state;
    fill(values, MOST, &dice);
    quantile_sort(values, MOST);
    for (int i = 0; i < CASES; i++) {
        double low = dice_between(&dice, 0, 1), high = low + (1 - low) * dice_between(&dice, 0, 1);
        assert_true(quantile_at(values, MOST, low) <= quantile_at(values, MOST, high));
    }
}

static void the_trimmed_mean_of_few_is_their_mean(void **state)
{
    double one[] = {42}, three[] = {9, -3, 0}, seven[] = {1, 2, 3, 4, 5, 6, 700};
    (void)state;
    assert_true(quantile_trimmed_mean(one, 1) == 42);
    assert_true(quantile_trimmed_mean(three, 3) == 2);
    assert_true(quantile_trimmed_mean(seven, 7) == 103);
}

static void the_trimmed_mean_leaves_out_an_eighth_at_each_end(void **state)
{
    double sixteen[16];
    (void)state;
    for (int i = 0; i < 16; i++)
        sixteen[15 - i] = i < 2 ? -1e9 : i >= 14 ? 1e15 : i;
    assert_true(quantile_trimmed_mean(sixteen, 16) == 7.5);
}

/* Interrupts hit some trials, and lengthen them by any amount. */
static void an_eighth_of_outliers_does_not_leave_the_range_of_the_others(void **state)
{
    struct dice dice = dice_new();
    double values[MOST];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        int count = 8 + (int)dice_below(&dice, MOST - 8);
        for (int k = 0; k < count; k++)
            values[k] = dice_between(&dice, 100, 10);
        for (int k = 0; k < count / 8; k++)
            values[dice_below(&dice, (uint64_t)count)] = dice_below(&dice, 2) ? 1e12 : -1e12;
        double mean = quantile_trimmed_mean(values, count);
        assert_true(mean >= 100 && mean <= 110);
    }
}

/* A counter that steps shows one of two neighbouring values; a third of all is held up besides. */
static void the_mean_about_the_median_minds_neither_steps_nor_what_was_held_up(void **state)
{
    (void)state;
    for (int high = 0; high <= 60; high++) {
        double values[96];
        for (int i = 0; i < 96; i++)
            values[i] = i >= 64 ? 2600 + 100.0 * i : i < high ? 2626 : 2600;
        double wanted = 2600 + 26.0 * high / 64;
        assert_true(fabs(quantile_mean_about(values, 96, 47) - wanted) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_is_what_qsort_does),
        cmocka_unit_test(infinite_values_are_the_first_and_the_last),
        cmocka_unit_test(nothing_beside_the_values_is_written),
        cmocka_unit_test(the_ends_are_the_lowest_and_the_highest_and_the_half_is_the_median),
        cmocka_unit_test(a_higher_quantile_is_never_below_a_lower_one),
        cmocka_unit_test(the_trimmed_mean_of_few_is_their_mean),
        cmocka_unit_test(the_trimmed_mean_leaves_out_an_eighth_at_each_end),
        cmocka_unit_test(an_eighth_of_outliers_does_not_leave_the_range_of_the_others),
        cmocka_unit_test(the_mean_about_the_median_minds_neither_steps_nor_what_was_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
