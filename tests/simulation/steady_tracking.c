/* SPDX-License-Identifier: MIT */
/* The goal figure: p50 <= 10 ns, p99.9 <= 50 ns from 1 s to 300 s after the start. */
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

static void check(struct world *world)
{
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, world, SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, world, 299 * SECOND, 3 * MILLISECOND);
    print_message("p50 %.1f ns, p99.9 %.1f ns, largest share of the bound %.2f\n",
                  watch_percentile(&watch, 0.5), watch_percentile(&watch, 0.999),
                  watch.tightest_share);
    watch_expect_sound(&watch, world->seed);
    assert_true(watch_percentile(&watch, 0.5) <= 10);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

static void a_quiet_machine_is_tracked(void **state)
{
    struct world world = world_make(1);
    (void)state;
    check(&world);
}

static void a_wandering_oscillator_is_tracked(void **state)
{
    struct world world = world_make(2);
    (void)state;
    world.wander_ppm = 0.05;
    check(&world);
}

/* A busy machine: one sample in five is interrupted for up to 20 µs on one side. */
static void interrupted_samples_do_not_disturb(void **state)
{
    struct world world = world_make(3);
    (void)state;
    world.disturbed_share = 0.2;
    world.disturbance_ns = 20000;
    check(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_machine_is_tracked),
        cmocka_unit_test(a_wandering_oscillator_is_tracked),
        cmocka_unit_test(interrupted_samples_do_not_disturb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
