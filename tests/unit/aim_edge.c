/* SPDX-License-Identifier: MIT */
/* Loops that end on an edge of the counter's step: where that is, and what they are late by. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "../repeats.h"
#include "stepped.h"
#include "timing/approach/edge.h"
#include "timing/waiter/aim_edge.h"
#include "waiting.h"

#define STEP 26
#define CYCLE 0.7 /* ticks */
#define FIRST_EDGE 1000003

static struct waiter waiter_with_edges(void)
{
    struct waiter waiter = {0};
    waiter.vernier.step_ticks = STEP;
    waiter.learnt.edge_ticks = FIRST_EDGE;
    waiter.learnt.edge_steps_per_tick = 1.0 / STEP;
    waiter.learnt.edge_links_per_tick = 1 / (EDGE_LINK_CYCLES * CYCLE);
    return waiter;
}

/* A tick before an edge, and as many links as pass the rest. */
static void a_loop_ends_on_the_edge_before_its_target(void **state)
{
    struct waiter waiter = waiter_with_edges();
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(20000); i++) {
        uint64_t leave = FIRST_EDGE + 1 + dice_below(&dice, UINT64_C(1) << 44);
        waiter_aim_edge(&waiter, leave);
        int32_t sooner = waiter.approach.edge_sooner_ticks;
        double passed = waiter.approach.edge_links * EDGE_LINK_CYCLES * CYCLE;
        if (sooner == 0) { /* it is on one itself */
            assert_int_equal((leave - FIRST_EDGE) % STEP, 0);
            continue;
        }
        assert_in_range(sooner, 2, STEP);
        assert_int_equal((leave - (uint64_t)sooner + 1 - FIRST_EDGE) % STEP, 0);
        assert_true(fabs(passed - (sooner - 1)) <= EDGE_LINK_CYCLES * CYCLE / 2 + 1e-9);
    }
}

/* When a loop with this period ends, relative to its target: at the first poll that shows it. */
static double loop_end(struct dice *dice, uint64_t leave, double period)
{
    double poll = (double)(leave - 100) - dice_between(dice, 0, 300);
    while (floor((poll - FIRST_EDGE) / STEP) * STEP + FIRST_EDGE < (double)leave)
        poll += period;
    return poll;
}

/* Of the loop as anybody writes it two things are left, as long as each other; of this one the second. */
static void what_is_left_is_the_period_of_the_loop(void **state)
{
    struct waiter waiter = waiter_with_edges();
    struct dice dice = dice_new();
    const double period = 27.3;
    double sums[2] = {0}, squares[2] = {0};
    int times = repeats(20000);
    (void)state;
    for (int i = 0; i < times; i++) {
        uint64_t leave = FIRST_EDGE + 1000 + dice_below(&dice, 100000);
        waiter_aim_edge(&waiter, leave);
        const struct approach *a = &waiter.approach;
        double ends[2] = {loop_end(&dice, leave, period) - (double)leave,
                          loop_end(&dice, leave - (uint64_t)a->edge_sooner_ticks, period) -
                              (double)leave + a->edge_links * EDGE_LINK_CYCLES * CYCLE};
        for (int k = 0; k < 2; k++) {
            sums[k] += ends[k];
            squares[k] += ends[k] * ends[k];
        }
        assert_true(ends[1] > -3 && ends[1] < period + 3);
    }
    for (int k = 0; k < 2; k++)
        squares[k] = squares[k] / times - sums[k] / times * (sums[k] / times);
    assert_true(squares[1] < 0.6 * squares[0]);
}

/* Else it would jump before the first one. */
static void the_chain_is_never_longer_than_it_is(void **state)
{
    struct waiter waiter = waiter_with_edges();
    (void)state;
    waiter.learnt.edge_links_per_tick = 1e9;
    waiter_aim_edge(&waiter, FIRST_EDGE + 20);
    assert_int_equal(waiter.approach.edge_links, APPROACH_LONGEST_EDGE);
    waiter.learnt.edge_links_per_tick = INFINITY;
    waiter_aim_edge(&waiter, FIRST_EDGE + 20);
    assert_in_range(waiter.approach.edge_links, 0, APPROACH_LONGEST_EDGE);
}

static void without_edges_it_ends_where_it_would(void **state)
{
    struct waiter waiter = waiter_with_edges();
    (void)state;
    waiter_aim_edge(&waiter, FIRST_EDGE - 5); /* before all that is known */
    assert_true(waiter.approach.edge_sooner_ticks == 0 && waiter.approach.edge_links == 0);
    waiter.learnt.edge_steps_per_tick = 0;
    waiter_aim_edge(&waiter, FIRST_EDGE + 20);
    assert_true(waiter.approach.edge_sooner_ticks == 0 && waiter.approach.edge_links == 0);
}

static void each_number_of_links_is_passed(void **state)
{
    (void)state;
    for (int32_t links = 0; links <= APPROACH_LONGEST_EDGE; links++)
        edge_pass(links);
}

/* Zen 3 steps by 24.5 ticks, and where its edges are is not known for long. */
static void edges_are_whole_ticks_apart_and_not_too_far(void **state)
{
    struct waiter waiter = waiter_with_edges();
    (void)state;
    vernier_init(&waiter.vernier, STEP);
    waiter.vernier.readings = APPROACH_FINE;
    waiter.learnt.exact = 1;
    assert_int_equal(waiter_may_end_on_edges(&waiter), EDGE_IS_POSSIBLE);
    waiter.learnt.edge_links_per_tick *= 2;
    assert_false(waiter_may_end_on_edges(&waiter));
    waiter.learnt.edge_links_per_tick /= 2;
    waiter.learnt.exact = 0;
    assert_false(waiter_may_end_on_edges(&waiter));
    waiter.learnt.exact = 1;
    vernier_init(&waiter.vernier, 24.5);
    waiter.vernier.readings = APPROACH_FINE;
    assert_false(waiter_may_end_on_edges(&waiter));
}

static void a_calibration_finds_them(void **state)
{
    struct timebase_waiter public;
    (void)state;
    assert_int_equal(timebase_waiter_init(&public, timebase_clock_default()), 0);
    const struct waiter *waiter = waiter_within(&public);
    assert_int_equal(waiter->learnt.edge_steps_per_tick > 0, waiter_may_end_on_edges(waiter));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_ends_on_the_edge_before_its_target),
        cmocka_unit_test(what_is_left_is_the_period_of_the_loop),
        cmocka_unit_test(the_chain_is_never_longer_than_it_is),
        cmocka_unit_test(without_edges_it_ends_where_it_would),
        cmocka_unit_test(each_number_of_links_is_passed),
        cmocka_unit_test(edges_are_whole_ticks_apart_and_not_too_far),
        cmocka_unit_test(a_calibration_finds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
