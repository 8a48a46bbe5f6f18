/* SPDX-License-Identifier: MIT */
/* A process that reads its clock now and then: each reading starts with a sample. */
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

static void rare_readings_stay_within_the_bound(void **state)
{
    struct world world = world_make(15);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    world.wander_ppm = 0.02;
    for (int i = 0; i < 300; i++) {
        world_advance(&world, 10 * SECOND * world_random(&world));
        watch_run(&watch, &world, 3 * MILLISECOND, MILLISECOND);
    }
    watch_expect_sound(&watch, world.seed);
    assert_int_equal(world.events & DISCIPLINE_DISRUPTED, 0);
}

static void after_an_hour_of_silence_the_clock_comes_back(void **state)
{
    struct world world = world_make(16);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    world_advance(&world, 3600 * SECOND);
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_int_equal(world.events & DISCIPLINE_DISRUPTED, 0);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

/* Before the second sample of its life there is no slope; a long first pause makes a good one. */
static void a_first_pause_of_ten_seconds_gives_a_good_slope(void **state)
{
    struct world world = world_make(17);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_read(&watch, &world);
    world_advance(&world, 10 * SECOND);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_readings_stay_within_the_bound),
        cmocka_unit_test(after_an_hour_of_silence_the_clock_comes_back),
        cmocka_unit_test(a_first_pause_of_ten_seconds_gives_a_good_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
