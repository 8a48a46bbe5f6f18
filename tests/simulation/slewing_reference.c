/* SPDX-License-Identifier: MIT */
/* The reference is slewed: at 500 ppm as adjtime does it, at 10 % as ADJ_TICK can. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/timex.h>
#include <unistd.h>

#include "clock/reference/slew.h"
#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

/*
 * The source of the claim tells how far the reference's pace is from UTC's. Whoever compares with
 * the reference is excused until a change of more than 500 ppm has been sampled (A4); whoever
 * wants true UTC is not.
 */
static void slew(double ppm, bool is_excused)
{
    struct world world = watch_begin(&watch, 40);
    world.claim_error_ns = 1000;
    watch_run(&watch, &world, 3 * SECOND + 33 * MILLISECOND, MILLISECOND);
    for (int change = 0; change < 6; change++) {
        bool is_on = change % 2 == 0;
        world.reference_rate = is_on ? 1 + ppm * 1e-6 : 1;
        world.claim_ppb = is_on ? (uint32_t)(fabs(ppm) * 1000) + 1 : 0;
        watch.is_slewing = is_excused;
        watch_run(&watch, &world, 101 * MILLISECOND, MILLISECOND);
        watch.is_slewing = false;
        watch_run(&watch, &world, (1 + change) * 0.7 * SECOND, MILLISECOND);
    }
    watch_expect_sound(&watch, 40);
    print_message("%+.0f ppm, ", ppm);
    watch_print(&watch, "slewing");
    assert_true(is_excused || fabs(ppm) < 400 || watch.tightest_share >= 0.5);
}

static void a_slew_of_adjtime_is_within_both_bounds(void **state)
{
    (void)state;
    slew(499, false);
    slew(-499, false);
    slew(100, false);
}

static void a_slew_of_adj_tick_is_within_both_bounds_once_it_is_seen(void **state)
{
    (void)state;
    slew(100000, true);
    slew(-100000, true);
    slew(83333, true);
}

/*
 * The kernel tells its tick, and so that it may be changed back: then nobody is excused at the end
 * of the slew, only at its beginning.
 */
static void the_end_of_a_slew_that_the_kernel_tells_is_within_both_bounds(void **state)
{
    struct world world = watch_begin(&watch, 42);
    (void)state;
    world.claim_error_ns = 1000;
    for (int change = 0; change < 20; change++) {
        bool is_on = change % 2 == 0;
        struct timex timex = {.tick = 1000000 / sysconf(_SC_CLK_TCK), .status = STA_NANO};
        timex.tick += is_on ? timex.tick / 12 : 0;
        double ppm = (double)slew_of(&timex, 0).rate_ppb * 1e-3;
        uint64_t most_ppb = slew_of(&timex, 0).most_ppb;
        world.reference_rate = 1 + ppm * 1e-6;
        world.claim_ppb = (uint32_t)most_ppb;
        world.slew_limit_ppm = (uint32_t)(most_ppb / 1000);
        watch.is_slewing = is_on;
        watch_run(&watch, &world, 101 * MILLISECOND, MILLISECOND);
        watch.is_slewing = false;
        watch_run(&watch, &world, (1 + change) * 0.1773 * SECOND, MILLISECOND);
    }
    watch_expect_sound(&watch, 42);
    watch_print(&watch, "told by the kernel");
    assert_true(watch.tightest_share >= 0.5);
}

/* And from the beginning on it is nothing at all: a pace is a pace. */
static void a_clock_that_is_10_percent_fast_is_known_as_well_as_any(void **state)
{
    struct world world = watch_begin(&watch, 41);
    (void)state;
    world.reference_rate = 1.1;
    world.claim_ppb = 100000001;
    watch_run(&watch, &world, 5 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, 41);
    assert_true(watch_percentile(&watch, 0.99) <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slew_of_adjtime_is_within_both_bounds),
        cmocka_unit_test(a_slew_of_adj_tick_is_within_both_bounds_once_it_is_seen),
        cmocka_unit_test(the_end_of_a_slew_that_the_kernel_tells_is_within_both_bounds),
        cmocka_unit_test(a_clock_that_is_10_percent_fast_is_known_as_well_as_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
