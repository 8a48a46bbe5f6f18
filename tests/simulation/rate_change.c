/* SPDX-License-Identifier: MIT */
/* The reference starts to slew: followed within a second, without overshoot. */
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

/* The usual error of a sample; a clock that swings by more than this has overshot. */
#define NOISE_NS 30

static void change_rate(double ppm, double phase_ns)
{
    struct world world = world_make(4);
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, &world, 5 * SECOND + phase_ns, MILLISECOND);
    watch_reset_errors(&watch);
    world.reference_rate = 1 + ppm * 1e-6;
    watch_run(&watch, &world, SECOND, MILLISECOND);
    /* A faster reference leaves the clock behind, a slower one ahead; never the other way round. */
    double overshoot = ppm > 0 ? watch.largest_ns : -watch.smallest_ns;
    struct reading reading = watch_read(&watch, &world);
    print_message("%+.0f ppm: after 1 s %.1f ns, worst on the way %.0f ns, overshoot %.1f ns\n",
                  ppm, reading.mono_error_ns, ppm > 0 ? watch.smallest_ns : watch.largest_ns,
                  overshoot);
    watch_expect_sound(&watch, world.seed);
    assert_true(fabs(reading.mono_error_ns) <= 1000);
    assert_true(overshoot <= NOISE_NS);

    watch_run(&watch, &world, 4 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

/* Early, in the middle and late in the interval between two samples. */
static void change_rate_at_any_phase(double ppm)
{
    for (int i = 0; i < 10; i++)
        change_rate(ppm, 11 * i * MILLISECOND);
}

static void a_reference_that_speeds_up_is_followed(void **state)
{
    (void)state;
    change_rate_at_any_phase(400);
}

static void a_reference_that_slows_down_is_followed(void **state)
{
    (void)state;
    change_rate_at_any_phase(-400);
}

static void the_end_of_a_slew_is_followed(void **state)
{
    struct world world = world_make(5);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    world.reference_rate = 1 + 500e-6;
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    world.reference_rate = 1;
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    struct reading reading = watch_read(&watch, &world);
    watch_expect_sound(&watch, world.seed);
    assert_true(fabs(reading.mono_error_ns) <= 1000);
    assert_true(-watch.smallest_ns <= NOISE_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_that_speeds_up_is_followed),
        cmocka_unit_test(a_reference_that_slows_down_is_followed),
        cmocka_unit_test(the_end_of_a_slew_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
