/* SPDX-License-Identifier: MIT */
/* Methods take turns: every one has all its trials, at the same targets, and nothing is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <timebase.h>

#include "timing/waiter/waiter.h"

#include "../../measure/accuracy.h"
#include "../../measure/core.h"

#define METHODS 4
#define BLOCKS 3
#define TRIALS 5
#define NEVER 12345.5 /* no bound is that */

static struct timebase_waiter waiter, reader;
static struct timebase_bench_instrument instrument;
static struct timebase_bench_hit hits[METHODS * BLOCKS * TRIALS];
static struct timebase_bench_block blocks[METHODS * BLOCKS];
static uint32_t ahead[BLOCKS * TRIALS];

static struct timebase_bench_method methods[METHODS];

static struct timebase_bench_turns whole(void)
{
    methods[0] = (struct timebase_bench_method){.loop = TIMEBASE_BENCH_NAIVE};
    methods[1] = (struct timebase_bench_method){.loop = TIMEBASE_BENCH_WAITER};
    methods[2] =
        (struct timebase_bench_method){.loop = TIMEBASE_BENCH_WAITER, .form = TIMEBASE_BENCH_UNTIL};
    methods[3] = (struct timebase_bench_method){
        .loop = TIMEBASE_BENCH_NAIVE, .form = TIMEBASE_BENCH_DELAY, .delay_ns = 1000};
    methods[3].delay_ticks = 1000 / waiter_within(&waiter)->learnt.period_ns;
    instrument = (struct timebase_bench_instrument){.waiter = &reader};
    for (int i = 0; i < METHODS; i++) {
        methods[i].waiter = &waiter;
        methods[i].instrument = &reader;
    }
    for (int i = 0; i < BLOCKS * TRIALS; i++)
        ahead[i] = 2000;
    memset(blocks, 0, sizeof(blocks));
    for (int i = 0; i < METHODS * BLOCKS * TRIALS; i++)
        hits[i].bound_ticks = NEVER;
    return (struct timebase_bench_turns){.instrument = &instrument,
                                         .methods = methods,
                                         .method_count = METHODS,
                                         .blocks = BLOCKS,
                                         .block_trials = TRIALS,
                                         .idle_ns = 100000,
                                         .seed = 7,
                                         .ahead_ticks = ahead};
}

static int take(const struct timebase_bench_turns *turns)
{
    return timebase_bench_take_turns(turns, hits, blocks);
}

static void no_trial_and_no_block_is_left_out(void **state)
{
    (void)state;
    for (int kind = 0; kind <= TIMEBASE_BENCH_STATE_VECTOR; kind++) {
        struct timebase_bench_turns turns = whole();
        turns.state = kind;
        if (!timebase_bench_state_possible(kind)) {
            assert_int_equal(take(&turns), TIMEBASE_E_UNSUPPORTED);
            continue;
        }
        assert_int_equal(take(&turns), 0);
        for (int i = 0; i < METHODS * BLOCKS * TRIALS; i++)
            assert_true(hits[i].bound_ticks != NEVER);
        for (int i = 0; i < METHODS * BLOCKS; i++) {
            assert_true(blocks[i].cycle_ticks_after > 0);
            assert_true(blocks[i].add_ticks_after > 0);
        }
    }
}

/* To look at the core is to wake it up. */
static void nobody_looks_between_idle_and_the_first_trial(void **state)
{
    (void)state;
    struct timebase_bench_turns turns = whole();
    turns.state = TIMEBASE_BENCH_STATE_IDLE;
    assert_int_equal(take(&turns), 0);
    assert_true(blocks[0].cycle_ticks_before == 0 && blocks[0].add_ticks_before == 0);
    turns = whole();
    assert_int_equal(take(&turns), 0);
    assert_true(blocks[0].cycle_ticks_before > 0 && blocks[0].add_ticks_before > 0);
}

static void check_loop_and_delay(void)
{
    struct timebase_bench_turns turns = whole();
    assert_int_equal(take(&turns), 0);
    for (int i = 0; i < BLOCKS * TRIALS; i++) {
        const struct timebase_bench_hit *loop = &hits[i];
        const struct timebase_bench_hit *delay = &hits[3 * BLOCKS * TRIALS + i];
        assert_true(loop->error_ticks > -loop->bound_ticks - 1);
        assert_true(loop->added_ticks == 0);
        assert_true(delay->added_ticks >= -delay->bound_ticks);
        assert_true(delay->error_ticks > -delay->bound_ticks - 1);
        assert_true(delay->bound_ticks > 0);
    }
}

static void a_loop_is_never_early_and_a_delay_knows_what_readings_add(void **state)
{
    (void)state;
    check_loop_and_delay();
}

/* Between two readings in line, as if one were enough whatever the counter. */
static void so_does_a_delay_between_two_of_the_counter(void **state)
{
    struct vernier *vernier = &waiter_within(&reader)->vernier;
    int readings = vernier->readings;
    (void)state;
    vernier->readings = 1;
    check_loop_and_delay();
    vernier->readings = readings;
}

static uint64_t calibrations_after(struct timebase_bench_instrument *one, int looks,
                                   struct timebase_bench_core core)
{
    while (looks-- > 0)
        assert_int_equal(timebase_bench_instrument_follow(one, &core), 0);
    return one->calibrations;
}

/* Only a counter that steps needs it. */
static uint64_t once(void)
{
    struct timebase_waiter_description about;
    timebase_waiter_describe(&reader, &about);
    return about.quantum_ns > 1 ? 1 : 0;
}

static const struct timebase_bench_core alone = {0.7, 0.175, 0.175},
                                        slower = {0.75, 0.1875, 0.1875}, shared = {0.7, 0.35, 0.35};

static struct timebase_bench_instrument calibrated(void)
{
    return (struct timebase_bench_instrument){.waiter = &reader,
                                              .cycle_ticks = alone.cycle_ticks,
                                              .last_cycle_ticks = alone.cycle_ticks,
                                              .most_additions = 4,
                                              .patience = 3,
                                              .calibrations = 1,
                                              .least_scatter_ticks = 1e9};
}

static void an_instrument_is_calibrated_first_and_when_the_clock_stays_elsewhere(void **state)
{
    (void)state;
    struct timebase_bench_instrument one = {.waiter = &reader};
    assert_true(calibrations_after(&one, 1, alone) >= 2 * once());
    one = calibrated();
    assert_int_equal(calibrations_after(&one, 20, alone), 1);
    assert_int_equal(calibrations_after(&one, 2, slower), 1); /* it may be a moment */
    assert_int_equal(calibrations_after(&one, 1, alone), 1);
    assert_int_equal(calibrations_after(&one, 4, slower), 1 + once());
}

static void nor_is_it_kept_as_a_disturbance_left_it(void **state)
{
    (void)state;
    struct timebase_bench_instrument one = calibrated();
    one.disturbed = 1;
    assert_int_equal(calibrations_after(&one, 20, shared), 1); /* it would be no better */
    assert_int_equal(calibrations_after(&one, 3, alone), 1 + once());
}

static void an_instrument_that_is_none_is_refused(void **state)
{
    (void)state;
    struct timebase_bench_core core = {1, 0.25, 0.25};
    struct timebase_bench_instrument one = {.waiter = NULL};
    assert_int_equal(timebase_bench_instrument_follow(NULL, &core), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_bench_instrument_follow(&one, &core), TIMEBASE_E_INVALID);
}

static void turns_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct timebase_bench_turns turns = whole();
    assert_int_equal(timebase_bench_take_turns(NULL, hits, blocks), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_bench_take_turns(&turns, NULL, blocks), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_bench_take_turns(&turns, hits, NULL), TIMEBASE_E_INVALID);
    turns.method_count = 0;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns.method_count = 17;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns = whole();
    turns.ahead_ticks = NULL;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns = whole();
    turns.idle_ns = UINT64_MAX;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns = whole();
    turns.state = 99;
    assert_int_equal(take(&turns), TIMEBASE_E_UNSUPPORTED);
    turns = whole();
    turns.instrument = NULL;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns = whole();
    methods[2].waiter = NULL;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
    turns = whole();
    methods[2].instrument = NULL;
    assert_int_equal(take(&turns), TIMEBASE_E_INVALID);
}

static void nothing_at_all_is_done_at_once(void **state)
{
    (void)state;
    struct timebase_bench_turns turns = whole();
    turns.blocks = 0;
    assert_int_equal(take(&turns), 0);
    turns.blocks = 1;
    turns.block_trials = 0;
    assert_int_equal(take(&turns), 0);
    assert_true(hits[0].bound_ticks == NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_trial_and_no_block_is_left_out),
        cmocka_unit_test(nobody_looks_between_idle_and_the_first_trial),
        cmocka_unit_test(a_loop_is_never_early_and_a_delay_knows_what_readings_add),
        cmocka_unit_test(so_does_a_delay_between_two_of_the_counter),
        cmocka_unit_test(an_instrument_is_calibrated_first_and_when_the_clock_stays_elsewhere),
        cmocka_unit_test(nor_is_it_kept_as_a_disturbance_left_it),
        cmocka_unit_test(an_instrument_that_is_none_is_refused),
        cmocka_unit_test(turns_that_make_no_sense_are_refused),
        cmocka_unit_test(nothing_at_all_is_done_at_once),
    };
    timebase_waiter_init(&waiter, timebase_clock_default());
    timebase_waiter_init(&reader, timebase_clock_default());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
