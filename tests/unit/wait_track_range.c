/* SPDX-License-Identifier: MIT */
/* When a wait's tracking is to be left alone; and where the polling loop is made to end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tracked.h"

#define WAITS 20000

static struct dice dice;

/* A wait whose stamp is three ticks off. */
static struct world *wait_of_a_changed_core(void)
{
    struct world *world = new_world(1);
    world->shortest += 3;
    wait_in(world, 1000000, SHORTEST + 33);
    return world;
}

static void assert_not_learnt(struct world *world)
{
    waiter_track(&world->waiter);
    assert_true(world->waiter.learnt.shortest_ticks == SHORTEST);
}

static void a_changed_core_is_learnt_from(void **state)
{
    struct world *world = wait_of_a_changed_core();
    (void)state;
    waiter_track(&world->waiter);
    assert_true(world->waiter.learnt.shortest_ticks > SHORTEST);
}

static void a_disturbed_wait_is_not_learnt_from(void **state)
{
    struct world *world = wait_of_a_changed_core();
    struct waiter_learnt before = world->waiter.learnt;
    (void)state;
    world->waiter.can_track = 0;
    waiter_track(&world->waiter);
    assert_memory_equal(&world->waiter.learnt, &before, sizeof(before));
}

static void a_wait_is_learnt_from_once(void **state)
{
    struct world *world = wait_of_a_changed_core();
    (void)state;
    waiter_track(&world->waiter);
    struct waiter_learnt after = world->waiter.learnt;
    waiter_track(&world->waiter);
    assert_memory_equal(&world->waiter.learnt, &after, sizeof(after));
}

static void uneven_readings_say_nothing_of_the_latency(void **state)
{
    struct world *world = wait_of_a_changed_core();
    (void)state;
    world->waiter.approach.allowed_256 = -1;
    assert_not_learnt(world);
}

/* What the table cut off is not what the time left asked for. */
static void a_run_at_the_low_end_of_the_table_says_nothing_of_the_latency(void **state)
{
    struct world *world = wait_of_a_changed_core();
    (void)state;
    world->waiter.approach.run = TABLE_SHORTEST_RUN;
    assert_not_learnt(world);
}

/* There the turns before the run are known less well than the run. */
static void more_time_than_the_table_covers_says_nothing_of_the_latency(void **state)
{
    struct world *world = new_world(1);
    (void)state;
    world->shortest += 3;
    wait_in(world, 1000000, SHORTEST + 150);
    assert_true(waiter_turns(&world->waiter) > 0);
    assert_not_learnt(world);
}

static void the_first_turn_tells_how_long_a_turn_is(void **state)
{
    struct world *world = new_world(1);
    (void)state;
    world->turn += 5;
    for (int wait = 0; wait < 5000; wait++) {
        wait_in(world, 1000000, SHORTEST + dice_between(&dice, 140, 40));
        waiter_track(&world->waiter);
    }
    assert_true(fabs(world->waiter.learnt.longer_quarters - 4 * world->turn) < 4);
    assert_true(world->waiter.approach.longer_quarters > 4 * TURN);
    assert_true(world->waiter.learnt.shortest_ticks == SHORTEST);
}

static void the_turns_are_those_that_the_approach_took(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < WAITS; wait++) {
        waiter_aim(&world->waiter, 1000000, 0, 1);
        int turns = sample_and_look_up(world, dice_between(&dice, -SHORTEST - 2000, 3000));
        assert_int_equal(waiter_turns(&world->waiter), turns);
    }
}

/* ---- where the polling loop ends ---------------------------------------------------------- */

/* Its last reading is up to a turn of the loop after the threshold. */
static int is_below_table(struct world *world, double turn_ticks)
{
    struct approach *a = &world->waiter.approach;
    double coarse = world->waiter.learnt.coarse_ticks;
    wait_in(world, 1000000, coarse - dice_between(&dice, 0, turn_ticks));
    int is_below = -a->middle_256 < a->base_256;
    waiter_track(&world->waiter);
    return is_below;
}

/* For loops from quick to slow. Not never: what is left for safety is filled with instructions. */
static void few_samples_find_less_time_than_the_shortest_run_takes(void **state)
{
    static const double turns[] = {5, 20, 80};
    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        struct world *world = new_world(26);
        int below = 0;
        world->waiter.learnt.coarse_ticks = SHORTEST;
        for (int wait = 0; wait < 5 * WAITS; wait++)
            below += is_below_table(world, turns[i]) && wait >= WAITS;
        assert_in_range(below, 1, 4 * WAITS / 50);
    }
}

static void the_loop_ends_no_earlier_than_calibration_allowed(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < WAITS; wait++) {
        is_below_table(world, 5000);
        double coarse = world->waiter.learnt.coarse_ticks;
        assert_true(coarse <= world->waiter.learnt.coarse_most_ticks + 4);
    }
}

static void the_loop_ends_no_later_than_the_shortest_run_needs(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 20 * WAITS; wait++) {
        is_below_table(world, 1);
        assert_true(world->waiter.learnt.coarse_ticks > SHORTEST - 4);
    }
}

static void the_loop_ends_later_and_later_while_all_find_more_than_enough(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 5000; wait++) {
        double before = world->waiter.learnt.coarse_ticks;
        if (!is_below_table(world, 1))
            assert_true(world->waiter.learnt.coarse_ticks < before);
    }
    assert_true(world->waiter.learnt.coarse_ticks < SHORTEST + 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_core_is_learnt_from),
        cmocka_unit_test(a_disturbed_wait_is_not_learnt_from),
        cmocka_unit_test(a_wait_is_learnt_from_once),
        cmocka_unit_test(uneven_readings_say_nothing_of_the_latency),
        cmocka_unit_test(a_run_at_the_low_end_of_the_table_says_nothing_of_the_latency),
        cmocka_unit_test(more_time_than_the_table_covers_says_nothing_of_the_latency),
        cmocka_unit_test(the_first_turn_tells_how_long_a_turn_is),
        cmocka_unit_test(the_turns_are_those_that_the_approach_took),
        cmocka_unit_test(few_samples_find_less_time_than_the_shortest_run_takes),
        cmocka_unit_test(the_loop_ends_no_earlier_than_calibration_allowed),
        cmocka_unit_test(the_loop_ends_no_later_than_the_shortest_run_needs),
        cmocka_unit_test(the_loop_ends_later_and_later_while_all_find_more_than_enough),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
