/* SPDX-License-Identifier: MIT */
/*
 * The margin has become longer than the period, or the period shorter than the margin: then
 * nothing sleeps and nothing is learnt, and yet it comes back.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sleeper.h"

static int is_bad;

static int64_t latency_of_hour(struct bed *bed)
{
    return is_bad ? 2 * MILLISECOND : latency_usual(bed);
}

/* 100 us a period, no cap, after a time in which waking up took 2 ms. */
static void it_sleeps_again_after_a_bad_time(void **state)
{
    struct bed bed;
    (void)state;
    bed_make(&bed, 100 * MICROSECOND, latency_of_hour);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
    is_bad = 1;
    bed_wait_times(&bed, 100000);
    is_bad = 0;
    assert_true(bed.sleeper.margin.wake_ns > MILLISECOND);
    bed_wait_times(&bed, 10000);
    bed_forget(&bed);
    bed_wait_times(&bed, 10000);
    print_message("then %.1f %% polled, %.2f %% late\n", 100 * bed_polled_share(&bed),
                  100 * bed_late_share(&bed));
    assert_true(bed.slept >= 9990);
    assert_true(bed_polled_share(&bed) < 0.4);
    assert_true(bed_late_share(&bed) < 0.0125);
}

/* While waking up takes 2 ms there is no use in trying often. */
static void hopeless_probes_become_rare(void **state)
{
    struct bed bed;
    (void)state;
    bed_make(&bed, 100 * MICROSECOND, latency_of_hour);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
    is_bad = 1;
    bed_wait_times(&bed, 50000);
    bed_forget(&bed);
    bed_wait_times(&bed, 1000000);
    print_message("%d probes in a million waits\n", (int)bed.slept);
    assert_int_equal(bed.slept, bed.late);
    assert_in_range(bed.slept, 1000000 / 6400 - 2, 1000000 / 6400 + 2);
}

/* Of 15 us there is no sleeping where waking up takes 17; no more than 1 - q is late for trying. */
static void a_period_of_15_us_is_polled_if_it_may_be(void **state)
{
    struct bed bed;
    (void)state;
    bed_make(&bed, 15 * MICROSECOND, latency_usual);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
    bed_wait_times(&bed, 5000);
    assert_true(bed_late_share(&bed) <= 0.01);
    bed_forget(&bed);
    bed_wait_times(&bed, 1000000);
    print_message("15 us: %.1f %% polled, %.3f %% late\n", 100 * bed_polled_share(&bed),
                  100 * bed_late_share(&bed));
    assert_true(bed_late_share(&bed) < 0.001);
    assert_true(bed_polled_share(&bed) > 0.95);

    bed.period_ns = MILLISECOND;
    bed.target_ns = bed.now_ns + bed.period_ns;
    bed_forget(&bed);
    bed_wait_times(&bed, 10000);
    assert_true(bed_late_share(&bed) < 0.0125);
    assert_true(bed_polled_share(&bed) < 0.05);
}

/* Short waits among long ones are polled, and need no probes: the long ones teach the margin. */
static void short_waits_between_long_ones_are_not_put_at_risk(void **state)
{
    struct bed bed;
    uint64_t slept = 0;
    (void)state;
    bed_make(&bed, MILLISECOND, latency_usual);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 0.2));
    bed_wait_times(&bed, 1000);
    for (int i = 0; i < 20000; i++) {
        bed.target_ns = bed.now_ns + 20 * MICROSECOND;
        bed_forget(&bed);
        bed_wait(&bed);
        slept += bed.slept;
        bed.target_ns = bed.now_ns + MILLISECOND;
        bed_wait(&bed);
    }
    assert_int_equal(slept, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_sleeps_again_after_a_bad_time),
        cmocka_unit_test(hopeless_probes_become_rare),
        cmocka_unit_test(a_period_of_15_us_is_polled_if_it_may_be),
        cmocka_unit_test(short_waits_between_long_ones_are_not_put_at_risk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
