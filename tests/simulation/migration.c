/* SPDX-License-Identifier: MIT */
/* Other CPUs, another host: counters that are not quite the same. */
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

/* Every look is from any CPU, and so is every sample. */
static void cpus_that_differ_are_within_the_bound(void **state)
{
    (void)state;
    for (uint64_t spread = 10; spread <= 100000; spread *= 10) {
        struct world world = watch_begin(&watch, 37);
        world.spread_ticks = spread;
        watch_run(&watch, &world, 5 * SECOND, 0.7 * MILLISECOND);
        watch_expect_sound(&watch, 37);
        watch_print(&watch, "CPUs apart");
        assert_true(spread < 1000 || watch.tightest_share >= 0.3);
    }
}

/* A guest comes to another host: another count, another frequency. Seen with the next sample. */
static void migrate_to(double factor, uint64_t ahead_ticks)
{
    struct world world = watch_begin(&watch, 38);
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world.counter_hz *= factor;
    world.counter_origin += ahead_ticks;
    watch.is_excused = true;
    watch_run(&watch, &world, 101 * MILLISECOND, MILLISECOND);
    watch.is_excused = false;
    watch_run(&watch, &world, 5 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, 38);
    watch_print(&watch, "migrated");
    assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void another_counter_is_learnt_and_the_bound_says_how_well(void **state)
{
    (void)state;
    migrate_to(1.00004, 0); /* within the allowance */
    migrate_to(1.0, 52000000000);
    migrate_to(1.3, 52000000000);
    migrate_to(0.9, (uint64_t)-52000000000);
}

/*
 * A guest is stopped whose kernel goes by the counter itself, as it does for a process' own clock:
 * nobody inside has noticed. The clock is the kernel's as before, which is all that maxerror
 * promises; UTC is off, and was never more than an estimate.
 */
static void a_stop_that_stops_the_kernel_too_leaves_an_estimate(void **state)
{
    struct world world = watch_begin(&watch, 39);
    (void)state;
    world.claim_flags = TIMEBASE_LINE_ESTIMATE;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world.now_ns += 3 * SECOND;
    world.claim_bias_ns = 3 * SECOND; /* nor does who makes the claim know */
    for (int i = 0; i < 1000; i++) {
        world_advance(&world, MILLISECOND);
        struct reading reading = watch_read(&watch, &world);
        assert_true(reading.instant.flags & TIMEBASE_LINE_ESTIMATE);
        assert_true(fabs(reading.utc_error_ns) <= (double)reading.instant.maxerror_ns);
    }
    assert_int_equal(watch.outside, 0);
    assert_int_equal(watch.untrue, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_that_differ_are_within_the_bound),
        cmocka_unit_test(another_counter_is_learnt_and_the_bound_says_how_well),
        cmocka_unit_test(a_stop_that_stops_the_kernel_too_leaves_an_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
