/* SPDX-License-Identifier: MIT */
/* The machine sleeps: the reference stands still, the counter may not. */
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

static void sleep_for(double ns, bool counter_is_reset)
{
    struct world world = world_make(12);
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world_suspend(&world, ns);
    if (counter_is_reset) {
        world.counter_origin = 77;
        world.ticks = 0;
    }
    watch_read(&watch, &world);
    assert_true(world.events & DISCIPLINE_SUSPENDED);
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

static void a_night_asleep_with_a_running_counter(void **state)
{
    (void)state;
    sleep_for(8 * 3600 * SECOND, false);
}

static void a_second_asleep_with_a_running_counter(void **state)
{
    (void)state;
    sleep_for(SECOND, false);
}

static void a_night_asleep_with_a_counter_reset(void **state)
{
    (void)state;
    sleep_for(8 * 3600 * SECOND, true);
}

/* A reference may slew by 10 %, and so what was slept is little against the hour; it is no slew. */
static void five_minutes_asleep_in_an_hour_of_idleness_are_not_slewed_away(void **state)
{
    struct world world = world_make(13);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world_advance(&world, 3300 * SECOND);
    world_suspend(&world, 300 * SECOND);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, 13);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
}

/* Taken for the rate of a counter 5 times as fast, it would make a jump of the sample after it. */
static void a_sleep_right_after_a_jump_is_no_new_rate(void **state)
{
    struct world world = world_make(14);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world_jump(&world, 26000000000); /* 10 s */
    watch_read(&watch, &world);
    world_advance(&world, 5 * SECOND);
    world_suspend(&world, 20 * SECOND);
    watch_read(&watch, &world);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    assert_int_equal(world.event_count[3], 2);
    watch_expect_sound(&watch, 14);
    struct reading reading = watch_read(&watch, &world);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_night_asleep_with_a_running_counter),
        cmocka_unit_test(a_second_asleep_with_a_running_counter),
        cmocka_unit_test(a_night_asleep_with_a_counter_reset),
        cmocka_unit_test(five_minutes_asleep_in_an_hour_of_idleness_are_not_slewed_away),
        cmocka_unit_test(a_sleep_right_after_a_jump_is_no_new_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
