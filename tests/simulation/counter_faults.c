/* SPDX-License-Identifier: MIT */
/* The counter jumps or goes back: told, and no tight bound around a wrong time. */
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

static struct world running(uint64_t seed)
{
    struct world world = world_make(seed);
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    return world;
}

/* After the next sample the clock is right again, and says UNRELIABLE for a while. */
static void expect_recovery(struct world *world, unsigned event)
{
    struct reading reading = watch_read(&watch, world);
    assert_int_equal(world->events & event, event);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNRELIABLE);
    watch_run(&watch, world, 5 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, world, 2 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, world->seed);
    assert_true(watch_percentile(&watch, 0.999) <= 50);
    reading = watch_read(&watch, world);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_counter_that_jumps_ahead_is_noticed(void **state)
{
    struct world world = running(8);
    (void)state;
    world.counter_origin += 26000000000; /* 10 s */
    expect_recovery(&world, DISCIPLINE_JUMPED);
}

static void a_counter_that_starts_again_from_zero_is_noticed(void **state)
{
    struct world world = running(9);
    (void)state;
    world.counter_origin = 0;
    world.ticks = 0;
    expect_recovery(&world, DISCIPLINE_BACKWARDS);
}

static void a_counter_that_goes_back_an_hour_is_noticed(void **state)
{
    struct world world = running(10);
    (void)state;
    world.counter_origin -= (uint64_t)3600 * 2600000000;
    expect_recovery(&world, DISCIPLINE_BACKWARDS);
}

/* As where a guest has moved: a witness tells, and the counter of the other host is another one. */
static void a_counter_that_goes_back_as_was_told_is_noticed_too(void **state)
{
    struct world world = running(13);
    (void)state;
    world_move(&world);
    world_jump(&world, -(int64_t)7 * 2600000000);
    expect_recovery(&world, DISCIPLINE_BACKWARDS);
}

/*
 * Idle for an hour, read once, and idle again. Where the counter lands, the last line but one was
 * in force, and has been replaced.
 */
static void a_counter_that_goes_back_into_idle_time_is_noticed(void **state)
{
    struct world world = running(37);
    (void)state;
    world_advance(&world, 3600 * SECOND);
    watch_read(&watch, &world);
    world_advance(&world, 600 * SECOND);
    world_jump(&world, -(int64_t)1200 * 2600000000);
    watch.is_excused = true;
    struct reading reading = watch_read(&watch, &world);
    watch.is_excused = false;
    assert_false(watch_is_promised(&reading));
    assert_true(fabs(reading.utc_error_ns) < SECOND / 10);
    expect_recovery(&world, DISCIPLINE_BACKWARDS);
}

/* The same where the counter had leapt ahead. */
static void a_counter_that_goes_back_to_where_it_never_was_is_noticed(void **state)
{
    struct world world = running(38);
    (void)state;
    world_jump(&world, (int64_t)3600 * 2600000000);
    watch_read(&watch, &world);
    world_jump(&world, -(int64_t)1800 * 2600000000);
    struct reading reading = watch_read(&watch, &world);
    assert_int_equal(world.events & DISCIPLINE_BACKWARDS, DISCIPLINE_BACKWARDS);
    assert_false(watch_is_promised(&reading));
    assert_true(fabs(reading.mono_error_ns) < 10 * SECOND); /* ahead by the bound of an hour */
    assert_int_equal(watch.backwards, 0);
}

/* A guest that moves to a host with another counter: a new rate, not only a new count. */
static void change_frequency(double factor, double pause_ns)
{
    struct world world = running(12);
    world.counter_hz *= factor;
    world_advance(&world, pause_ns);
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    struct reading reading = watch_read(&watch, &world);
    print_message("rate x %.2f: %u disruptions\n", factor, world.event_count[3]);
    assert_int_equal(watch.backwards, 0);
    assert_in_range(world.event_count[3], 1, 2);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_counter_that_changes_its_rate_is_learnt_anew(void **state)
{
    (void)state;
    change_frequency(1.2, 100 * MILLISECOND);
    change_frequency(0.8, 100 * MILLISECOND);
    change_frequency(2.0, SECOND);
    change_frequency(0.4, SECOND);
}

static void a_counter_that_wraps_is_no_fault(void **state)
{
    struct world world = world_make(11);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    world.counter_origin = -(uint64_t)(5 * 2600000000u);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, world.seed);
    assert_int_equal(world.events, 0);
    assert_true(watch_percentile(&watch, 1) <= 50);
}

/* Each millisecond, so that it is never further from the kernel's clock than it strays in that. */
static void a_counter_that_the_kernel_distrusts_is_compared_as_often_as_can_be(void **state)
{
    struct world world = running(36);
    (void)state;
    double own_hz = world.counter_hz;
    assert_true(world.servo.interval_ns == 100 * MILLISECOND);
    world.claim_flags = TIMEBASE_LINE_COUNTER_DISTRUSTED;
    watch_run(&watch, &world, SECOND, MILLISECOND);
    for (int i = 0; i < 20; i++) {
        world.counter_hz = own_hz * (1 + 0.0004 * world_random(&world));
        watch_run(&watch, &world, 100 * MILLISECOND, MILLISECOND);
        assert_true(world.servo.interval_ns == MILLISECOND);
        struct reading reading = watch_read(&watch, &world);
        assert_false(watch_is_promised(&reading));
        assert_true(fabs(reading.utc_error_ns) < 2000); /* 400 ppm of 100 ms are 40,000 */
    }
    world.claim_flags = 0;
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    assert_true(world.servo.interval_ns == 100 * MILLISECOND);
    watch_expect_sound(&watch, world.seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_jumps_ahead_is_noticed),
        cmocka_unit_test(a_counter_that_starts_again_from_zero_is_noticed),
        cmocka_unit_test(a_counter_that_goes_back_an_hour_is_noticed),
        cmocka_unit_test(a_counter_that_goes_back_as_was_told_is_noticed_too),
        cmocka_unit_test(a_counter_that_goes_back_into_idle_time_is_noticed),
        cmocka_unit_test(a_counter_that_goes_back_to_where_it_never_was_is_noticed),
        cmocka_unit_test(a_counter_that_changes_its_rate_is_learnt_anew),
        cmocka_unit_test(a_counter_that_wraps_is_no_fault),
        cmocka_unit_test(a_counter_that_the_kernel_distrusts_is_compared_as_often_as_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
