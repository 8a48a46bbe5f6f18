/* SPDX-License-Identifier: MIT */
/* The stopwatch takes its own cost off, and says how sure it is. Nothing here asserts a wall time:
 * what an empty lap comes to is measured by bench/stopwatch.py. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include <timebase/error.h>
#include <timebase/stopwatch.h>

#include "clock/counter/probe.h"
#include "kernel_now.h"

static struct timebase_stopwatch calibrated(void)
{
    struct timebase_stopwatch watch;
    assert_int_equal(timebase_stopwatch_calibrate(&watch, timebase_clock_default()), 0);
    return watch;
}

static void null_arguments_are_invalid(void **state)
{
    struct timebase_stopwatch watch;
    (void)state;
    assert_int_equal(timebase_stopwatch_calibrate(NULL, timebase_clock_default()),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timebase_stopwatch_calibrate(&watch, NULL), TIMEBASE_E_INVALID);
}

/*
 * No lap need show it: on a counter that steps by 24.5 ticks they differ by 1. Of fewer ticks than
 * 12 two looks may find different ones; and an emulated counter steps by what its emulator is held
 * up for.
 */
static uint64_t step_of_this_counter(void)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    int is_even = counter_find_granularity(&counter) >= 12;
#ifdef __x86_64__
    return is_even ? counter.granularity_ticks : 1;
#else
    (void)is_even;
    return 1;
#endif
}

static void calibration_knows_the_watch_and_the_counter(void **state)
{
    struct timebase_stopwatch watch = calibrated();
    struct timebase_statistics statistics;
    (void)state;
    assert_int_equal(timebase_clock_statistics(timebase_clock_default(), &statistics), 0);
    double second = watch.period_ns * (double)statistics.frequency_hz;
    assert_true(second > 0.998e9 && second < 1.002e9);
    assert_true(watch.granularity_ticks >= step_of_this_counter());
    assert_true(watch.laps == 0);
    assert_true(watch.pair_ticks < (uint64_t)1 << 40 && watch.overhead_ticks < (uint64_t)1 << 40);
}

/* The lap's own reads lie between ours, so its length lies between what we make of ours. */
static void overhead_and_inner_laps_are_subtracted_to_the_tick(void **state)
{
    struct timebase_stopwatch watch = {.overhead_ticks = (uint64_t)1 << 50,
                                       .pair_ticks = (uint64_t)1 << 45,
                                       .period_ns = 0.5,
                                       .laps = 7};
    uint64_t wanted_off = ((uint64_t)1 << 50) + 3 * ((uint64_t)1 << 45);
    (void)state;
    uint64_t first = timebase_stopwatch_begin();
    struct timebase_lap lap = timebase_stopwatch_start(&watch);
    uint64_t second = timebase_stopwatch_end();
    watch.laps += 3;
    uint64_t third = timebase_stopwatch_begin();
    struct timebase_elapsed elapsed = timebase_stopwatch_stop(&watch, lap);
    uint64_t fourth = timebase_stopwatch_end();
    assert_true(elapsed.ticks >= (int64_t)(third - second - wanted_off));
    assert_true(elapsed.ticks <= (int64_t)(fourth - first - wanted_off));
    assert_true(elapsed.ns == (double)elapsed.ticks * 0.5);
    assert_true(watch.laps == 11);
}

static void the_uncertainty_counts_every_lap_s_spread_and_one_granule(void **state)
{
    struct timebase_stopwatch watch = {
        .spread_ticks = 30, .granularity_ticks = 4, .period_ns = 2.0};
    (void)state;
    struct timebase_lap outer = timebase_stopwatch_start(&watch);
    struct timebase_lap inner = timebase_stopwatch_start(&watch);
    assert_true(timebase_stopwatch_stop(&watch, inner).uncertainty_ns == 68.0);
    assert_true(timebase_stopwatch_stop(&watch, outer).uncertainty_ns == 128.0);
}

/* A lower bound holds however busy the machine is. 1 per mille: slews, and the raw clock's rate. */
static void work_takes_at_least_as_long_as_the_kernel_says(void **state)
{
    struct timebase_stopwatch watch = calibrated();
    struct timebase_elapsed elapsed;
    (void)state;
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    {
        int64_t start = kernel_now(CLOCK_MONOTONIC);
        while (kernel_now(CLOCK_MONOTONIC) < start + 2000000)
            ;
    }
    assert_true(elapsed.ns >= 1998000 - elapsed.uncertainty_ns);
}

static void the_macro_runs_its_body_once_and_fills_in_the_time(void **state)
{
    struct timebase_stopwatch watch = calibrated();
    struct timebase_elapsed elapsed = {INT64_MIN, 0, -1};
    int runs = 0;
    (void)state;
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    runs++;
    assert_int_equal(runs, 1);
    assert_true(watch.laps == 1);
    assert_true(elapsed.ticks != INT64_MIN && elapsed.uncertainty_ns > 0);
}

static void the_macro_nests(void **state)
{
    struct timebase_stopwatch watch = calibrated();
    struct timebase_elapsed outer, inner;
    int runs = 0;
    (void)state;
    TIMEBASE_STOPWATCH(&watch, &outer)
    {
        TIMEBASE_STOPWATCH(&watch, &inner)
        {
            runs++;
        }
    }
    assert_int_equal(runs, 1);
    assert_true(watch.laps == 2);
    assert_true(outer.uncertainty_ns >= inner.uncertainty_ns);
}

static void leaving_the_macro_s_body_leaves_the_time_unset(void **state)
{
    struct timebase_stopwatch watch = calibrated();
    struct timebase_elapsed elapsed = {-77, 0, 0};
    (void)state;
    TIMEBASE_STOPWATCH(&watch, &elapsed)
    {
        break;
    }
    assert_true(elapsed.ticks == -77);
    assert_true(watch.laps == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments_are_invalid),
        cmocka_unit_test(calibration_knows_the_watch_and_the_counter),
        cmocka_unit_test(overhead_and_inner_laps_are_subtracted_to_the_tick),
        cmocka_unit_test(the_uncertainty_counts_every_lap_s_spread_and_one_granule),
        cmocka_unit_test(work_takes_at_least_as_long_as_the_kernel_says),
        cmocka_unit_test(the_macro_runs_its_body_once_and_fills_in_the_time),
        cmocka_unit_test(the_macro_nests),
        cmocka_unit_test(leaving_the_macro_s_body_leaves_the_time_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
