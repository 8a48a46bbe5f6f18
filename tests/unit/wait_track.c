/* SPDX-License-Identifier: MIT */
/* A waiter's latency follows the core clock by what each wait's stamp shows. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tracked.h"

static struct dice dice;

static void wait_and_track(struct world *world)
{
    uint64_t target = 1000000 + dice_below(&dice, 1 << 30);
    wait_in(world, target, SHORTEST + dice_between(&dice, 10, 70));
    waiter_track(&world->waiter);
}

static double error_of(const struct world *world)
{
    return world->waiter.learnt.shortest_ticks - world->shortest;
}

/* Up to what a core clock that changes by an eighth does to the shortest latency. */
static const double shifts[] = {-50, -12, -3, 0.7, 5, 12, 50};
#define SHIFTS (sizeof(shifts) / sizeof(shifts[0]))

static void on_a_fine_counter_a_changed_latency_is_learnt_soon(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHIFTS; i++) {
        struct world *world = new_world(1);
        world->shortest += shifts[i];
        for (int wait = 0; wait < 2000; wait++)
            wait_and_track(world);
        assert_true(fabs(error_of(world)) < 0.7);
    }
}

/* Only waits that contradict the numbers teach: the nearer, the fewer. */
static void on_a_stepped_counter_a_changed_latency_is_learnt_in_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHIFTS; i++) {
        struct world *world = new_world(26);
        world->shortest += shifts[i];
        for (int wait = 0; wait < 30000; wait++)
            wait_and_track(world);
        assert_true(fabs(error_of(world)) < 0.5);
    }
}

static void the_longest_latency_moves_along_with_the_shortest(void **state)
{
    struct world *world = new_world(1);
    (void)state;
    world->waiter.learnt.longest_ticks = 900;
    world->shortest += 9;
    for (int wait = 0; wait < 2000; wait++)
        wait_and_track(world);
    double moved = world->waiter.learnt.shortest_ticks - SHORTEST;
    assert_true(moved > 8);
    assert_true(fabs(world->waiter.learnt.longest_ticks - 900 - moved) < 1e-6);
}

static void right_numbers_are_not_pulled_to_either_side(void **state)
{
    static const uint64_t steps[] = {1, 2, 8, 26, 100};
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct world *world = new_world(steps[i]);
        double sum = 0;
        for (int wait = 0; wait < 50000; wait++) {
            wait_and_track(world);
            sum += error_of(world);
        }
        assert_true(fabs(sum / 50000) < 0.3);
    }
}

/* A periodic task may see one phase of the counter's step for ever. */
static void where_the_stamps_agree_nothing_moves_whatever_the_phase(void **state)
{
    int phases = 0;
    (void)state;
    for (unsigned phase = 0; phase < 26; phase++) {
        struct world *world = new_world(26);
        double event = wait_in(world, 26000000 + phase, SHORTEST + 33);
        uint64_t position = (uint64_t)(26000000 + phase + event - STAMP - 0.5 + 26 - 5) % 26;
        if (position == 0 || position == 25)
            continue; /* half a tick of the step's ends is beyond its readings */
        for (int wait = 0; wait < 1000; wait++) {
            wait_in(world, 26000000 + phase, SHORTEST + 33);
            waiter_track(&world->waiter);
        }
        assert_true(world->waiter.learnt.shortest_ticks == SHORTEST);
        phases++;
    }
    assert_true(phases >= 23);
}

static void one_wild_stamp_moves_by_a_quarter_of_a_tick_at_most(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 20000; wait++) {
        double before = world->waiter.learnt.shortest_ticks;
        wait_in(world, 26000000, SHORTEST + 33);
        world->waiter.approach.event_ticks = 26000000 + dice_wide(&dice);
        waiter_track(&world->waiter);
        assert_true(fabs(world->waiter.learnt.shortest_ticks - before) <= 0.25 + 1e-9);
    }
}

/* The event is where numbers and stamp both allow it. */
static void an_event_is_told_within_the_step_of_its_stamp(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 20000; wait++) {
        uint64_t target = 1000000 + dice_below(&dice, 1 << 30);
        world->shortest = SHORTEST + dice_between(&dice, -60, 120);
        double event = wait_in(world, target, SHORTEST + 33);
        double told = waiter_event(&world->waiter, 1);
        int64_t stamp = (int64_t)(world->waiter.approach.event_ticks - target);
        assert_true(told >= (double)stamp + STAMP - 1e-9);
        assert_true(told <= (double)stamp + STAMP + 25 + 1e-9);
        assert_true(fabs(told - event) <= 26);
        assert_true(waiter_event(&world->waiter, 0) == (double)stamp + 12.5 + STAMP);
    }
}

/* With the believed latency the event is known much better than to a step. */
static void an_event_is_told_by_the_numbers_where_the_stamp_allows_it(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 20000; wait++) {
        uint64_t target = 1000000 + dice_below(&dice, 1 << 30);
        double event = wait_in(world, target, SHORTEST + dice_between(&dice, 10, 70));
        assert_true(fabs(waiter_event(&world->waiter, 1) + 0.5 - event) < 0.6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_fine_counter_a_changed_latency_is_learnt_soon),
        cmocka_unit_test(on_a_stepped_counter_a_changed_latency_is_learnt_in_time),
        cmocka_unit_test(the_longest_latency_moves_along_with_the_shortest),
        cmocka_unit_test(right_numbers_are_not_pulled_to_either_side),
        cmocka_unit_test(where_the_stamps_agree_nothing_moves_whatever_the_phase),
        cmocka_unit_test(one_wild_stamp_moves_by_a_quarter_of_a_tick_at_most),
        cmocka_unit_test(an_event_is_told_within_the_step_of_its_stamp),
        cmocka_unit_test(an_event_is_told_by_the_numbers_where_the_stamp_allows_it),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
