/* SPDX-License-Identifier: MIT */
/* The reference does not always answer: the lines are followed, the bound grows. */
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

static void half_of_the_samples_are_lost(void **state)
{
    struct world world = world_make(19);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    world.lost_share = 0.5;
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 60 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

static void a_minute_without_any_sample_is_holdover(void **state)
{
    struct world world = world_make(20);
    struct timebase_instant last, now;
    (void)state;
    for (int i = 0; i < 10000; i++) {
        world_advance(&world, MILLISECOND);
        world_read(&world);
    }
    world.lost_share = 1;
    timebase_page_convert(&world.page, world_ticks(&world), &last);
    for (int i = 0; i < 600; i++) {
        world_advance(&world, 100 * MILLISECOND);
        timebase_page_convert(&world.page, world_ticks(&world), &now);
        assert_true(now.mono_ns > last.mono_ns);
        assert_true(now.maxerror_ns >= last.maxerror_ns);
        assert_true(fabs((double)(now.mono_ns - world.reference_ns)) <= (double)now.maxerror_ns);
        last = now;
    }
    /* 0.1 ppm is what the last slope may have been off. */
    assert_true(fabs((double)(now.mono_ns - world.reference_ns)) <= 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_samples_are_lost),
        cmocka_unit_test(a_minute_without_any_sample_is_holdover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
