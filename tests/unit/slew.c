/* SPDX-License-Identifier: MIT */
/* What clock.h promises in plain numbers, whatever the constants in plan.h say: 500 ppm. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/servo/cadence.h"
#include "clock/discipline/plan.h"

#define START 1000000000
#define MS 1000000

/* 2 ns a tick, so that 500 ppm of it are 2^-64 ns times 2^64 / 1000. */
static struct estimator estimator_of_2_ns(void)
{
    struct estimator estimator = {0};
    estimator.ready = true;
    estimator.newest.ticks = START;
    estimator.period = fixed_from_ns(2);
    estimator.value = fixed_from_ns(5000LL * MS);
    return estimator;
}

/* The next plan of a clock that is so far ahead of its reference. */
static struct plan plan_with_error(int64_t ahead_ns)
{
    struct estimator estimator = estimator_of_2_ns();
    struct cadence cadence = cadence_own(false);
    struct schedule schedule =
        cadence_schedule(&cadence, 100 * MS, START, false, 0);
    struct fixed value = fixed_from_ns(estimator.value.ns + ahead_ns);
    struct plan plan = plan_begin(&estimator, START, value, 0);
    return plan_next(&plan, &estimator, &schedule);
}

/* Parts in a million of the slew's pace, rounded up. */
static uint64_t slew_ppm(const struct plan *plan)
{
    struct fixed off = fixed_abs(fixed_subtract(plan->slew.period, fixed_from_ns(2)));
    return (uint64_t)fixed_times(off, 1000000).ns / 2 + 1;
}

static void a_large_error_is_slewed_at_500_ppm_and_not_faster(void **state)
{
    (void)state;
    for (int64_t ns = 50000; ns <= 1000LL * MS; ns *= 3) {
        struct plan ahead = plan_with_error(ns), behind = plan_with_error(-ns);
        assert_in_range(slew_ppm(&ahead), 499, 501);
        assert_in_range(slew_ppm(&behind), 499, 501);
    }
}

static void a_small_error_is_slewed_more_gently(void **state)
{
    (void)state;
    for (int64_t ns = 1; ns < 10000; ns *= 3) {
        struct plan ahead = plan_with_error(ns), behind = plan_with_error(-ns);
        assert_true(slew_ppm(&ahead) < 501 && slew_ppm(&behind) < 501);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_error_is_slewed_at_500_ppm_and_not_faster),
        cmocka_unit_test(a_small_error_is_slewed_more_gently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
