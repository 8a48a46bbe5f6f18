/* SPDX-License-Identifier: MIT */
/* Sleeping towards a target in a world of its own: slices, moving targets, sleeps that fail. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "timing/sleep/sleep.h"

#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define LEAD_NS 4000

struct world {
    int64_t now_ns, latency_ns;
    int64_t until_ns[16]; /* what was asked for */
    int sleeps;
    int error;          /* of every sleep */
    int is_early;       /* sleeps return at once */
    int64_t held_up_ns; /* before the next sleep */
    struct sleeper sleeper;
};

static int64_t now_of_world(void *context)
{
    struct world *world = context;
    return world->now_ns += 30;
}

static int sleep_in_world(void *context, int64_t until_ns)
{
    struct world *world = context;
    world->until_ns[world->sleeps++ % 16] = until_ns;
    world->now_ns += world->held_up_ns;
    world->held_up_ns = 0;
    if (world->error == 0 && until_ns < world->now_ns)
        return SLEEP_HAS_PASSED;
    if (world->error == 0 && !world->is_early && until_ns > world->now_ns)
        world->now_ns = until_ns + world->latency_ns;
    return world->error;
}

static const struct sleep_ops ops = {.now_ns = now_of_world, .sleep_until = sleep_in_world};

static struct world *new_world(void)
{
    static struct world world;
    const struct world fresh = {.now_ns = SECOND, .latency_ns = 17000};
    world = fresh;
    sleeper_init(&world.sleeper, &ops, &world);
    return &world;
}

/* Until it says poll; at most 1,000 calls. */
static struct sleep_wait wait_for(struct world *world, int64_t target_ns)
{
    struct sleep_wait wait = {0};
    int calls = 0;
    while (sleep_towards(&wait, &world->sleeper, target_ns, LEAD_NS) == SLEEP_AGAIN)
        assert_true(++calls < 1000);
    return wait;
}

static void it_asks_to_be_woken_a_lead_and_a_margin_before_the_target(void **state)
{
    struct world *world = new_world();
    (void)state;
    struct sleep_wait wait = wait_for(world, 2 * SECOND - 1);
    assert_int_equal(world->sleeps, 1);
    assert_int_equal(world->until_ns[0], 2 * SECOND - 1 - LEAD_NS - MARGIN_START_NS);
    assert_int_equal(wait.margin_ns, MARGIN_START_NS);
    assert_in_range(wait.wake_ns, 17000, 17100);
    assert_int_equal(world->sleeper.margin.samples, 1);
    assert_int_equal(world->sleeper.margin.late, 0);
}

static void a_late_wake_up_is_told_and_counted(void **state)
{
    struct world *world = new_world();
    (void)state;
    world->latency_ns = MARGIN_START_NS + 15000;
    struct sleep_wait wait = wait_for(world, SECOND + 5 * MILLISECOND);
    assert_true(wait.wake_ns > wait.margin_ns);
    assert_int_equal(world->sleeper.margin.late, 1);
}

static void a_long_wait_looks_up_every_second_and_learns_at_the_end(void **state)
{
    struct world *world = new_world();
    (void)state;
    int64_t before_ns = world->now_ns;
    wait_for(world, SECOND + 5 * SECOND / 2);
    assert_true(world->sleeps >= 3 && world->sleeps <= 4);
    for (int i = 0; i < world->sleeps; i++) {
        assert_true(world->until_ns[i] - before_ns <= SLEEP_SLICE_NS + 1000);
        before_ns = world->until_ns[i] + world->latency_ns;
    }
    assert_int_equal(world->until_ns[world->sleeps - 1],
                     SECOND + 5 * SECOND / 2 - LEAD_NS - MARGIN_START_NS);
    assert_int_equal(world->sleeper.margin.samples, 1);
}

/* However the wait is divided, the last sleep is one to learn from. */
static void no_slice_leaves_less_than_a_sleep(void **state)
{
    (void)state;
    for (int64_t extra = -MILLISECOND; extra <= MILLISECOND; extra += 999) {
        struct world *world = new_world();
        struct sleep_wait wait = wait_for(world, 2 * SECOND + extra);
        assert_int_equal(wait.margin_ns, MARGIN_START_NS);
        assert_int_equal(world->sleeper.margin.samples, 1);
    }
}

static void a_target_that_moves_away_is_slept_for_again(void **state)
{
    struct world *world = new_world();
    struct sleep_wait wait = {0};
    int64_t target_ns = SECOND + 5 * MILLISECOND;
    (void)state;
    assert_int_equal(sleep_towards(&wait, &world->sleeper, target_ns, LEAD_NS), SLEEP_AGAIN);
    target_ns += SECOND / 2;
    assert_int_equal(sleep_towards(&wait, &world->sleeper, target_ns, LEAD_NS), SLEEP_AGAIN);
    assert_int_equal(world->until_ns[1], target_ns - LEAD_NS - wait.margin_ns);
    assert_int_equal(sleep_towards(&wait, &world->sleeper, target_ns, LEAD_NS), SLEEP_POLL);
    assert_true(world->sleeper.margin.period_ns == 0); /* one wait, so far */
}

static void a_target_that_has_passed_is_not_slept_for(void **state)
{
    struct world *world = new_world();
    (void)state;
    struct sleep_wait wait = wait_for(world, 0);
    assert_int_equal(world->sleeps, 0);
    assert_int_equal(wait.margin_ns, 0);
    assert_int_equal(wait.wake_ns, 0);
}

static void where_sleeping_is_refused_it_polls(void **state)
{
    struct world *world = new_world();
    (void)state;
    world->error = ENOSYS;
    struct sleep_wait wait = wait_for(world, 10 * SECOND);
    assert_int_equal(world->sleeps, 1);
    wait = wait_for(world, world->now_ns + SECOND / 2);
    assert_int_equal(world->sleeps, 2);
    assert_int_equal(wait.margin_ns, 0);
    assert_int_equal(world->sleeper.margin.samples, 0);
}

static void a_sleep_that_ends_early_is_no_sample_and_is_repeated(void **state)
{
    struct world *world = new_world();
    struct sleep_wait wait = {0};
    (void)state;
    world->is_early = 1;
    for (int i = 0; i < 5; i++)
        assert_int_equal(sleep_towards(&wait, &world->sleeper, SECOND + MILLISECOND, LEAD_NS),
                         SLEEP_AGAIN);
    assert_int_equal(world->sleeper.margin.samples, 0);
    assert_int_equal(wait.margin_ns, 0);
    world->is_early = 0;
    assert_int_equal(sleep_towards(&wait, &world->sleeper, SECOND + MILLISECOND, LEAD_NS),
                     SLEEP_AGAIN);
    assert_int_equal(world->sleeper.margin.samples, 1);
}

/* No wake-up was late: nobody slept. */
static void a_thread_held_up_before_its_sleep_is_no_sample(void **state)
{
    struct world *world = new_world();
    (void)state;
    world->held_up_ns = 6 * MILLISECOND;
    struct sleep_wait wait = wait_for(world, SECOND + 5 * MILLISECOND);
    assert_int_equal(world->sleeps, 1);
    assert_int_equal(wait.margin_ns, 0);
    assert_int_equal(wait.wake_ns, 0);
    assert_int_equal(world->sleeper.margin.samples, 0);
    assert_int_equal(world->sleeper.margin.late, 0);
}

static void and_sleeps_for_what_is_left_of_a_long_wait(void **state)
{
    struct world *world = new_world();
    (void)state;
    world->held_up_ns = 2 * SECOND;
    struct sleep_wait wait = wait_for(world, 4 * SECOND);
    assert_true(world->sleeps > 1);
    assert_int_equal(wait.margin_ns, MARGIN_START_NS);
    assert_int_equal(world->sleeper.margin.samples, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_asks_to_be_woken_a_lead_and_a_margin_before_the_target),
        cmocka_unit_test(a_late_wake_up_is_told_and_counted),
        cmocka_unit_test(a_long_wait_looks_up_every_second_and_learns_at_the_end),
        cmocka_unit_test(no_slice_leaves_less_than_a_sleep),
        cmocka_unit_test(a_target_that_moves_away_is_slept_for_again),
        cmocka_unit_test(a_target_that_has_passed_is_not_slept_for),
        cmocka_unit_test(where_sleeping_is_refused_it_polls),
        cmocka_unit_test(a_sleep_that_ends_early_is_no_sample_and_is_repeated),
        cmocka_unit_test(a_thread_held_up_before_its_sleep_is_no_sample),
        cmocka_unit_test(and_sleeps_for_what_is_left_of_a_long_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
