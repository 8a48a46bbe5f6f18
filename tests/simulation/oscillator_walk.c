/* SPDX-License-Identifier: MIT */
/*
 * The oscillator goes where it may, up to its allowance, with the reference and UTC at peace: what
 * the bound says of the oscillator is all there is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

/* Between two samples, on one line. */
static void stray(double allowed_ppm, double ppm, bool holds)
{
    struct world world = watch_begin(&watch, 44);
    world.claim_error_ns = 0;
    if (allowed_ppm != 50)
        discipline_allow_drift(&world.servo.discipline, (uint32_t)allowed_ppm);
    watch_run(&watch, &world, 5 * SECOND, MILLISECOND);
    world.counter_hz *= 1 + ppm * 1e-6;
    world.lost_share = 1;
    watch_run(&watch, &world, 4.8 * SECOND, 10 * MILLISECOND); /* not lost yet */
    print_message("%.0f ppm of %.0f, ", ppm, allowed_ppm);
    watch_print(&watch, "strayed");
    assert_true(!holds || watch.tightest_true >= 0.5);
    assert_true((watch.untrue == 0) == holds);
    assert_true(watch.backwards == 0);
}

static void an_oscillator_within_its_allowance_is_within_the_bound(void **state)
{
    (void)state;
    stray(50, 49.9, true);
    stray(50, -49.9, true);
    stray(200, 199, true);
    stray(10, 9.9, true);
}

static void the_allowance_is_what_the_user_says_and_no_more(void **state)
{
    (void)state;
    stray(50, 60, false);
    stray(10, -20, false);
}

static void a_random_walk_with_samples_is_within_the_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world world = watch_begin(&watch, seed);
        world.claim_error_ns = 100;
        world.wander_ppm = 10;
        watch_run(&watch, &world, 5 * SECOND, 3 * MILLISECOND);
        watch_expect_sound(&watch, seed);
    }
    watch_print(&watch, "walk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_within_its_allowance_is_within_the_bound),
        cmocka_unit_test(the_allowance_is_what_the_user_says_and_no_more),
        cmocka_unit_test(a_random_walk_with_samples_is_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
