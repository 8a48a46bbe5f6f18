/* SPDX-License-Identifier: MIT */
/* Samples interrupted on one side for long: the bound holds, the clock hardly moves. */
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

static void nine_of_ten_samples_are_interrupted_for_up_to_a_millisecond(void **state)
{
    struct world world = world_make(21);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    world.disturbed_share = 0.9;
    world.disturbance_ns = 1e6;
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 60 * SECOND, MILLISECOND);
    print_message("p50 %.0f ns, p99.9 %.0f ns\n", watch_percentile(&watch, 0.5),
                  watch_percentile(&watch, 0.999));
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 0.5) <= 100);
}

static void a_wide_bracket_alone_does_not_move_the_clock(void **state)
{
    struct world world = world_make(22);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    world.disturbed_share = 1;
    world.disturbance_ns = 20000;
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 1) <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_of_ten_samples_are_interrupted_for_up_to_a_millisecond),
        cmocka_unit_test(a_wide_bracket_alone_does_not_move_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
