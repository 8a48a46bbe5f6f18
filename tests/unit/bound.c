/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/assumptions.h"
#include "clock/discipline/bound.h"

#define HALF ((uint64_t)1 << 63)

static struct fixed fixed_of(int64_t ns, uint64_t frac)
{
    struct fixed value = {ns, frac};
    return value;
}

/* 1 ns a tick; the newest sample 20 ns wide, at tick 1,000,000. */
static struct discipline known_discipline(void)
{
    struct discipline discipline = {0};
    discipline.estimator.ready = true;
    discipline.estimator.period = fixed_from_ns(1);
    discipline.estimator.error_ns = 20;
    discipline.estimator.newest.ticks = 1000000;
    return discipline;
}

static void a_rate_is_parts_in_a_million_of_a_tick_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(bound_rate(fixed_from_ns(1), 500), 4294967296u / 2000 + 1);
    assert_int_equal(bound_rate(fixed_of(0, HALF), 500), 4294967296u / 4000 + 1);
    assert_int_equal(bound_rate(fixed_from_ns(41), 1), 176093 + 1);
    assert_int_equal(bound_rate(fixed_of(0, HALF), 0), 1);
}

static void a_rate_too_large_for_its_field_is_the_largest(void **state)
{
    (void)state;
    assert_int_equal(bound_rate(fixed_from_ns(3000), 500), UINT32_MAX);
}

static void the_drift_is_the_oscillator_s_and_the_slope_s(void **state)
{
    struct discipline discipline = known_discipline();
    uint32_t oscillator = bound_rate(fixed_from_ns(1), ASSUME_DRIFT_PPM);
    (void)state;
    assert_in_range(bound_drift_rate(&discipline), oscillator, oscillator + 2);
    discipline.estimator.period_error_frac = (uint64_t)1000 << 32;
    assert_in_range(bound_drift_rate(&discipline), oscillator + 1000, oscillator + 1002);
    discipline.estimator.period_error_frac = UINT64_MAX;
    assert_int_equal(bound_drift_rate(&discipline), UINT32_MAX);
}

static void the_oscillator_s_allowance_is_the_user_s_if_there_is_one(void **state)
{
    struct discipline discipline = known_discipline();
    uint32_t assumed = bound_drift_rate(&discipline);
    (void)state;
    discipline_allow_drift(&discipline, ASSUME_DRIFT_PPM);
    assert_int_equal(bound_drift_rate(&discipline), assumed);
    discipline_allow_drift(&discipline, 200);
    assert_in_range(bound_drift_rate(&discipline) - assumed, 644245, 644246); /* 150 ppm */
    discipline_reset(&discipline);
    assert_int_equal(estimator_drift_ppm(&discipline.estimator), 200);
    discipline_allow_drift(&discipline, 0);
    assert_int_equal(estimator_drift_ppm(&discipline.estimator), ASSUME_DRIFT_PPM);
}

/* Parts in a million of 1 ns, as 2^-64 ns. */
static uint64_t ppm(uint64_t parts)
{
    return UINT64_MAX / 1000000 * parts;
}

/* What the claim about UTC grows by is in both bounds, and not twice in that of the reference. */
static void a_claim_s_growth_widens_utc_and_takes_the_place_of_the_slew(void **state)
{
    struct discipline discipline = known_discipline();
    uint64_t drift = bound_drift_rate(&discipline), slew = bound_slew_rate(&discipline);
    (void)state;
    assert_in_range(slew, bound_rate(fixed_from_ns(1), ASSUME_SLEW_PPM),
                    bound_rate(fixed_from_ns(1), ASSUME_SLEW_PPM) + 1);
    discipline.estimator.growth_frac = ppm(200);
    assert_in_range(bound_drift_rate(&discipline) - drift, 858993, 858994); /* 200 ppm */
    assert_in_range(slew - bound_slew_rate(&discipline), 858992, 858994);
    discipline.estimator.growth_frac = ppm(900);
    assert_in_range(bound_drift_rate(&discipline) - drift, 3865470, 3865471);
    assert_int_equal(bound_slew_rate(&discipline), 1);
}

static void the_reference_s_slews_are_as_it_tells_or_as_assumed(void **state)
{
    struct discipline discipline = known_discipline();
    (void)state;
    assert_in_range(bound_slew_rate(&discipline), 2147483, 2147485); /* 500 ppm */
    discipline.sample.slew_limit_ppm = 20;
    assert_in_range(bound_slew_rate(&discipline), 85899, 85901);
    discipline.sample.slew_limit_ppm = 90000;
    assert_in_range(bound_slew_rate(&discipline), 386547056, 386547058);
}

static void a_growth_too_fast_for_its_field_is_not_told(void **state)
{
    struct discipline discipline = known_discipline();
    (void)state;
    assert_true(bound_is_told(&discipline));
    discipline.estimator.growth_frac = ppm(100000);
    assert_true(bound_is_told(&discipline));
    discipline.estimator.growth_frac = UINT64_MAX; /* 1 ns or more */
    assert_false(bound_is_told(&discipline));
}

static void at_the_sample_the_bound_is_what_it_did_not_know(void **state)
{
    struct discipline discipline = known_discipline();
    (void)state;
    uint64_t nothing_off = bound_at(&discipline, fixed_from_ns(0), 1000000);
    assert_int_equal(nothing_off, 20 + 1 + ASSUME_ROUNDING_NS);
    assert_true(bound_at(&discipline, fixed_from_ns(300), 1000000) == nothing_off + 300);
    assert_true(bound_at(&discipline, fixed_from_ns(-300), 1000000) == nothing_off + 300);
    assert_true(bound_at(&discipline, fixed_of(-300, HALF), 1000000) >= nothing_off + 299);
}

static void the_bound_grows_with_the_sample_s_age(void **state)
{
    struct discipline discipline = known_discipline();
    uint64_t fresh = bound_at(&discipline, fixed_from_ns(0), 1000000);
    uint64_t aged = bound_at(&discipline, fixed_from_ns(0), 101000000); /* 100 ms: 550 ppm */
    (void)state;
    assert_in_range(aged - fresh, 55000, 55100);
}

static void a_line_from_before_the_sample_is_known_no_better_than_the_sample(void **state)
{
    struct discipline discipline = known_discipline();
    (void)state;
    assert_true(bound_at(&discipline, fixed_from_ns(0), 900000) >=
                bound_at(&discipline, fixed_from_ns(0), 1000000));
}

/* Widths of 16 ns and a step, scatter of 3, changes of pace of 2 ppm. */
static struct discipline scattered_discipline(void)
{
    struct discipline discipline = known_discipline();
    discipline.estimator.best_width_ns = discipline.estimator.newest.width_ns = 16 + 1;
    discipline.estimator.scatter.usual = (uint64_t)6 << 24;
    discipline.estimator.scatter.pace = ppm(2);
    return discipline;
}

static void the_estimated_error_has_scatter_and_place_in_the_bracket(void **state)
{
    struct discipline discipline = scattered_discipline();
    (void)state;
    uint64_t place = 16 / 4, scatter = 3, rounding = 2;
    uint64_t known = place + scatter + rounding;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), known);
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(-70), 1000000), 70 + known);
}

/* The counter's step is in the scatter alone; what the reference's has beyond it, in the place. */
static void the_estimated_error_has_steps_once(void **state)
{
    struct discipline discipline = scattered_discipline();
    uint64_t bare = bound_esterror(&discipline, fixed_from_ns(0), 1000000);
    (void)state;
    discipline.sample.step_ticks = 17; /* all of the width, so no place; of 6 corrected, half */
    uint64_t stepping = bound_esterror(&discipline, fixed_from_ns(0), 1000000);
    assert_int_equal(stepping, bare - 16 / 4 + 3);
    discipline.sample.reference_step_ns = 17;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), stepping);
    discipline.sample.reference_step_ns = 57;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), stepping + 10);
}

/* What was measured is mostly the time in which two CPUs see each other. */
static void the_estimated_error_has_a_part_of_the_cpus_spread(void **state)
{
    struct discipline discipline = scattered_discipline();
    uint64_t bare = bound_esterror(&discipline, fixed_from_ns(0), 1000000);
    (void)state;
    discipline.sample.spread_ticks = 160;
    discipline.estimator.best_width_ns += 160;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), bare + 160 / 16);
}

/* The estimate stops short of it by the excess. */
static void the_estimated_error_has_what_a_wide_point_left(void **state)
{
    struct discipline discipline = scattered_discipline();
    uint64_t usual = bound_esterror(&discipline, fixed_from_ns(0), 1000000);
    (void)state;
    discipline.estimator.newest.width_ns += 10;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), usual + 10);
    discipline.estimator.newest.width_ns += 10000;
    assert_int_equal(bound_esterror(&discipline, fixed_from_ns(0), 1000000), usual + 17);
}

static void the_estimated_error_grows_by_the_slope_s_error_and_changes_of_pace(void **state)
{
    struct discipline discipline = scattered_discipline();
    uint64_t fresh = bound_esterror(&discipline, fixed_from_ns(0), 1000000);
    (void)state;
    assert_in_range(bound_esterror_rate(&discipline), 8589, 8592); /* 2 ppm */
    assert_in_range(bound_esterror(&discipline, fixed_from_ns(0), 101000000) - fresh, 200, 202);
    discipline.estimator.period_error_frac = ppm(1);
    assert_in_range(bound_esterror_rate(&discipline), 12884, 12888);
    discipline.is_holding = true; /* a sixteenth of 50 ppm more */
    assert_in_range(bound_esterror_rate(&discipline), 12884 + 13421, 12888 + 13422);
    discipline.estimator.scatter.pace = UINT64_MAX;
    assert_int_equal(bound_esterror_rate(&discipline), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_parts_in_a_million_of_a_tick_rounded_up),
        cmocka_unit_test(a_rate_too_large_for_its_field_is_the_largest),
        cmocka_unit_test(the_drift_is_the_oscillator_s_and_the_slope_s),
        cmocka_unit_test(the_oscillator_s_allowance_is_the_user_s_if_there_is_one),
        cmocka_unit_test(a_claim_s_growth_widens_utc_and_takes_the_place_of_the_slew),
        cmocka_unit_test(the_reference_s_slews_are_as_it_tells_or_as_assumed),
        cmocka_unit_test(a_growth_too_fast_for_its_field_is_not_told),
        cmocka_unit_test(at_the_sample_the_bound_is_what_it_did_not_know),
        cmocka_unit_test(the_bound_grows_with_the_sample_s_age),
        cmocka_unit_test(a_line_from_before_the_sample_is_known_no_better_than_the_sample),
        cmocka_unit_test(the_estimated_error_has_scatter_and_place_in_the_bracket),
        cmocka_unit_test(the_estimated_error_has_steps_once),
        cmocka_unit_test(the_estimated_error_has_a_part_of_the_cpus_spread),
        cmocka_unit_test(the_estimated_error_has_what_a_wide_point_left),
        cmocka_unit_test(the_estimated_error_grows_by_the_slope_s_error_and_changes_of_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
