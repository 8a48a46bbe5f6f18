/* SPDX-License-Identifier: MIT */
/* The drift between two CPUs' counters, from simulated measurements of their offset. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "sync/drift.h"

#define WORLDS 2000
#define PPM 1e-6
#define INTERVAL_TICKS 260000000 /* 100 ms at 2.6 GHz */

/* What a measurement of this offset may find: a range with the offset in it. */
static struct skew_range around(struct dice *dice, int64_t offset_ticks)
{
    int64_t below = (int64_t)dice_below(dice, 400), above = (int64_t)dice_below(dice, 400);
    return (struct skew_range){offset_ticks - below, offset_ticks + above};
}

static double any_rate(struct dice *dice)
{
    return ((double)dice_below(dice, 200001) - 100000) * 1e-3 * PPM; /* up to 100 ppm */
}

static void the_slopes_contain_the_drift(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct skew_drift drift = {0};
        double rate = any_rate(&dice), width = 0;
        uint64_t begin = dice_roll(&dice); /* anywhere: counters wrap */
        int64_t offset = (int64_t)dice_below(&dice, 20000001) - 10000000;
        unsigned count = 2 + (unsigned)dice_below(&dice, 12);
        for (unsigned i = 0; i < count; i++) {
            uint64_t passed = (uint64_t)i * INTERVAL_TICKS;
            struct skew_range range =
                around(&dice, offset + (int64_t)(rate * (double)passed));
            drift_add(&drift, begin + passed, &range);
        }
        struct drift_rate found = drift_of(&drift);
        /* a tick of rounding, either end */
        double error = 2.0 / INTERVAL_TICKS;
        assert_true(found.low - error <= rate && rate <= found.high + error);
        /* two ranges of 800 ticks at most, as far apart as the oldest kept and the newest */
        unsigned kept = count < SKEW_MEASUREMENTS ? count : SKEW_MEASUREMENTS;
        width = found.high - found.low;
        assert_true(width <= 1600.0 / ((double)(kept - 1) * INTERVAL_TICKS));
    }
}

static void one_measurement_tells_no_drift(void **state)
{
    struct skew_drift drift = {0};
    struct drift_rate found = drift_of(&drift);
    (void)state;
    assert_true(found.low == -DRIFT_MOST && found.high == DRIFT_MOST);
    drift_add(&drift, 1000, &(struct skew_range){-5, 5});
    found = drift_of(&drift);
    assert_true(found.low == -DRIFT_MOST && found.high == DRIFT_MOST);
}

static void no_steady_drift_fits_a_jump(void **state)
{
    struct skew_drift drift = {0};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        drift_add(&drift, i * 1000000, &(struct skew_range){-100, 100});
    drift_add(&drift, 4000000, &(struct skew_range){-50000, -49800});
    struct drift_rate found = drift_of(&drift);
    assert_true(found.low > found.high);
}

/* A counter that stands still, and one that is set far ahead, between two measurements. */
static void a_counter_that_stands_still_does_not_drift(void **state)
{
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        struct skew_drift drift = {0};
        int64_t by = ahead ? 5000000 : -5000; /* of 1,000,000 ticks */
        drift_add(&drift, 0, &(struct skew_range){-100, 100});
        drift_add(&drift, 1000000, &(struct skew_range){by - 100, by + 100});
        struct drift_rate found = drift_of(&drift);
        assert_true(found.low > found.high);
    }
}

static void the_oldest_is_forgotten(void **state)
{
    struct skew_drift drift = {0};
    (void)state;
    drift_add(&drift, 0, &(struct skew_range){70000, 70100}); /* before it jumped */
    for (unsigned i = 1; i <= SKEW_MEASUREMENTS; i++)
        drift_add(&drift, i * 1000000, &(struct skew_range){-100, 100});
    assert_int_equal(drift.count, SKEW_MEASUREMENTS);
    assert_true(drift.points[0].ticks == 1000000);
    struct drift_rate found = drift_of(&drift);
    assert_true(found.low <= 0 && 0 <= found.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slopes_contain_the_drift),
        cmocka_unit_test(one_measurement_tells_no_drift),
        cmocka_unit_test(no_steady_drift_fits_a_jump),
        cmocka_unit_test(a_counter_that_stands_still_does_not_drift),
        cmocka_unit_test(the_oldest_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
