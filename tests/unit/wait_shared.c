/* SPDX-License-Identifier: MIT */
/* A core shared with another thread is told by its polls. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tracked.h"

static struct dice dice;

static int polls_took(struct world *world, unsigned polls, double each)
{
    world->waiter.approach.polls = polls;
    world->waiter.approach.polled_ticks = (uint64_t)(polls * each + 0.5);
    return waiter_shares_core(&world->waiter);
}

static void steady_polls_are_those_of_a_core_alone(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 20000; wait++)
        assert_false(polls_took(world, 100, dice_between(&dice, 40, 0.3)));
}

static void polls_slower_than_lately_are_those_of_a_shared_core(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 100; wait++)
        polls_took(world, 100, 40);
    for (int wait = 0; wait < 100; wait++)
        assert_true(polls_took(world, 100, 50));
    assert_false(polls_took(world, 100, 40));
}

static void few_polls_say_nothing(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 100; wait++)
        polls_took(world, 100, 40);
    struct waiter_learnt before = world->waiter.learnt;
    for (unsigned polls = 0; polls < 24; polls++)
        assert_false(polls_took(world, polls, 80));
    assert_memory_equal(&world->waiter.learnt, &before, sizeof(before));
}

static void a_clock_that_is_slower_for_good_is_believed_in_time(void **state)
{
    struct world *world = new_world(26);
    (void)state;
    for (int wait = 0; wait < 100; wait++)
        polls_took(world, 100, 40);
    for (int wait = 0; wait < 5000; wait++)
        polls_took(world, 100, 50);
    assert_false(polls_took(world, 100, 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_polls_are_those_of_a_core_alone),
        cmocka_unit_test(polls_slower_than_lately_are_those_of_a_shared_core),
        cmocka_unit_test(few_polls_say_nothing),
        cmocka_unit_test(a_clock_that_is_slower_for_good_is_believed_in_time),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
