/* SPDX-License-Identifier: MIT */
/* The distances of the readings, learnt from series at random phases. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stepped.h"
#include "timing/wait/vernier.h"

#define SERIES_FIT 4000
#define SPACING 27.3
#define PAD 0.71

static const struct stepped steps_of_26 = {26, 11};

static double greatest_error(const struct vernier *vernier, const double truth[APPROACH_FINE],
                             int count)
{
    double greatest = 0;
    for (int k = 0; k < count; k++)
        greatest = fmax(greatest, fabs(vernier->offsets[k] - truth[k]));
    return greatest;
}

static int fit(struct vernier *vernier, const struct stepped *counter,
               const double truth[APPROACH_FINE], struct dice *dice)
{
    struct vernier_sums sums;
    uint32_t readings[APPROACH_FINE];
    memset(&sums, 0, sizeof(sums));
    for (int i = 0; i < SERIES_FIT; i++) {
        stepped_series(counter, dice_between(dice, 1e6, 1e10), truth, readings);
        vernier_add(&sums, readings);
    }
    return vernier_fit(vernier, &sums);
}

/* The mean of 4,000 has a standard error of 0.17 ticks. */
static void the_fit_finds_the_distances_at_any_spacing_and_pad(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 50; i++) {
        double truth[APPROACH_FINE];
        struct vernier vernier = {.step_ticks = 26};
        stepped_distances(truth, dice_between(&dice, 5, 80), dice_between(&dice, 0.2, 2));
        assert_int_equal(fit(&vernier, &steps_of_26, truth, &dice), 0);
        assert_true(vernier.offsets[0] == 0);
        assert_true(greatest_error(&vernier, truth, APPROACH_FINE) < 1.5);
    }
}

static void the_fit_is_exact_where_the_counter_is(void **state)
{
    const struct stepped fine = {1, 0};
    double truth[APPROACH_FINE];
    struct vernier_sums sums;
    struct vernier vernier = {.step_ticks = 1};
    uint32_t readings[APPROACH_FINE];
    (void)state;
    memset(&sums, 0, sizeof(sums));
    stepped_distances(truth, 30, 2);
    stepped_series(&fine, 4294967000.0, truth, readings);
    vernier_add(&sums, readings);
    assert_int_equal(vernier_fit(&vernier, &sums), 0);
    assert_true(greatest_error(&vernier, truth, APPROACH_FINE) < 1e-6);
}

static void assert_refused(const struct vernier_sums *sums)
{
    struct vernier vernier = {.step_ticks = 26, .readings = 1};
    stepped_distances(vernier.offsets, SPACING, PAD);
    struct vernier before = vernier;
    assert_int_equal(vernier_fit(&vernier, sums), 1);
    assert_memory_equal(&vernier, &before, sizeof(vernier));
}

/* As of seven series. */
static struct vernier_sums sums_of(double spacing, double pad)
{
    struct vernier_sums sums;
    memset(&sums, 0, sizeof(sums));
    sums.count = 7;
    for (int k = 0; k < APPROACH_FINE; k++)
        sums.elapsed[k] = 7 * stepped_distance(spacing, pad, k);
    return sums;
}

static void sums_that_make_no_sense_are_refused_and_change_nothing(void **state)
{
    struct vernier_sums none, still = sums_of(0, 0), back = sums_of(-20, 1);
    struct vernier_sums ever_closer = sums_of(40, -1);
    (void)state;
    memset(&none, 0, sizeof(none));
    assert_refused(&none);
    assert_refused(&still);
    assert_refused(&back);
    assert_refused(&ever_closer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fit_finds_the_distances_at_any_spacing_and_pad),
        cmocka_unit_test(the_fit_is_exact_where_the_counter_is),
        cmocka_unit_test(sums_that_make_no_sense_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
