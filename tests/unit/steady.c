/* SPDX-License-Identifier: MIT */
/* When a waiter polls instead of trusting the core, and for how long. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/wait/steady.h"

/* Exact ones among so many waits, all of which are disturbed or none. */
static int exact_of(struct steady *steady, int waits, int disturbed)
{
    int exact = 0;
    for (int i = 0; i < waits; i++) {
        if (!steady_enough(steady))
            continue;
        exact++;
        steady_learn(steady, disturbed);
    }
    return exact;
}

static void a_quiet_core_is_always_trusted(void **state)
{
    struct steady steady = {0};
    (void)state;
    assert_int_equal(exact_of(&steady, 10000, 0), 10000);
}

static void a_disturbance_now_and_then_changes_nothing(void **state)
{
    struct steady steady = {0};
    int exact = 0;
    (void)state;
    for (int i = 0; i < 1000; i++)
        exact += exact_of(&steady, 3, 0) + exact_of(&steady, 1, 1);
    assert_int_equal(exact, 4000);
}

static void a_busy_core_is_soon_not_trusted(void **state)
{
    struct steady steady = {0};
    (void)state;
    assert_in_range(exact_of(&steady, STEADY_MEMORY + STEADY_SHORTEST_REST, 1), 1, STEADY_MEMORY);
}

static void a_core_that_stays_busy_is_tried_seldom(void **state)
{
    struct steady steady = {0};
    (void)state;
    exact_of(&steady, 10000, 1);
    assert_in_range(exact_of(&steady, 100 * STEADY_LONGEST_REST, 1), 90, 220);
}

static void a_core_that_becomes_quiet_is_trusted_again(void **state)
{
    struct steady steady = {0};
    (void)state;
    exact_of(&steady, 10000, 1);
    exact_of(&steady, STEADY_LONGEST_REST, 0);
    assert_int_equal(exact_of(&steady, 1000, 0), 1000);
    assert_int_equal(steady.next_rest, 0);
}

static void the_rest_after_a_quiet_time_is_short_again(void **state)
{
    struct steady steady = {0};
    (void)state;
    exact_of(&steady, 10000, 1);
    exact_of(&steady, STEADY_LONGEST_REST + 1000, 0);
    while (steady.rest == 0)
        exact_of(&steady, 1, 1);
    assert_int_equal(steady.rest, STEADY_SHORTEST_REST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_core_is_always_trusted),
        cmocka_unit_test(a_disturbance_now_and_then_changes_nothing),
        cmocka_unit_test(a_busy_core_is_soon_not_trusted),
        cmocka_unit_test(a_core_that_stays_busy_is_tried_seldom),
        cmocka_unit_test(a_core_that_becomes_quiet_is_trusted_again),
        cmocka_unit_test(the_rest_after_a_quiet_time_is_short_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
