/* SPDX-License-Identifier: MIT */
/* The share of wake-ups that come too late is 1 - q, whatever the latencies are like. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sleeper.h"

/* ln(MAX / MIN) / G and one: by how many the count of late ones may be off, ever (margin.h). */
#define COUNT_ERROR 41

static int64_t latency_constant(struct bed *bed)
{
    (void)bed;
    return 17 * MICROSECOND;
}

/* Every second one is longer than 16 us, every 100th than 215 us, every 1,000th than 1 ms. */
static int64_t latency_heavy(struct bed *bed)
{
    double ns = 10000 * pow(bed_chance(bed), -1 / 1.5);
    return ns < 9e6 ? (int64_t)ns : 9000000;
}

/* Half of the time, in turns of two seconds, somebody makes it ten times as long. */
static int64_t latency_in_bursts(struct bed *bed)
{
    int is_bad = bed->now_ns / SECOND % 4 < 2;
    return latency_usual(bed) * (is_bad ? 10 : 1);
}

/* The tick of the kernel takes 17 us, 30 us before each fourth target. */
static int64_t latency_with_tick(struct bed *bed)
{
    int64_t latency = latency_usual(bed);
    int64_t begin = bed->now_ns + 30 * MICROSECOND, end = begin + latency;
    int is_hit = begin / (4 * MILLISECOND) != end / (4 * MILLISECOND);
    return latency + (is_hit ? 17 * MICROSECOND : 0);
}

static void expect_share_late(double quantile, int64_t (*latency_ns)(struct bed *bed),
                              uint64_t waits, const char *name)
{
    struct bed bed;
    bed_make(&bed, 11 * MILLISECOND, latency_ns);
    assert_true(margin_set(&bed.sleeper.margin, quantile, 1));
    bed_wait_times(&bed, waits);
    double expected = (1 - quantile) * (double)waits;
    print_message("%s, q %.3f: %.4f %% late, margin now %.1f us\n", name, quantile,
                  100 * bed_late_share(&bed),
                  (double)margin_ns(&bed.sleeper.margin, bed.lead_ns) / MICROSECOND);
    assert_int_equal(bed.slept, waits);
    assert_int_equal(bed.late, bed.sleeper.margin.late);
    assert_true(fabs((double)bed.late - expected) <= COUNT_ERROR);
}

static void expect_shares_late(int64_t (*latency_ns)(struct bed *bed), const char *name)
{
    expect_share_late(0.5, latency_ns, 100000, name);
    expect_share_late(0.9, latency_ns, 100000, name);
    expect_share_late(0.99, latency_ns, 1000000, name);
    expect_share_late(0.995, latency_ns, 1000000, name);
    expect_share_late(0.999, latency_ns, 1000000, name);
}

static void it_is_one_minus_q_of_equal_latencies(void **state)
{
    (void)state;
    expect_shares_late(latency_constant, "constant");
}

static void it_is_one_minus_q_of_usual_latencies(void **state)
{
    (void)state;
    expect_shares_late(latency_usual, "usual");
}

static void it_is_one_minus_q_of_latencies_without_a_variance(void **state)
{
    (void)state;
    expect_shares_late(latency_heavy, "heavy-tailed");
}

static void it_is_one_minus_q_when_bad_times_come_in_turns(void **state)
{
    (void)state;
    expect_shares_late(latency_in_bursts, "bursts");
}

static void it_is_one_minus_q_when_each_fourth_target_follows_a_tick(void **state)
{
    (void)state;
    expect_shares_late(latency_with_tick, "tick");
}

/* The 99th percentile is found by counting; the margin swings around it, in proportion. */
static void the_margin_is_near_the_quantile(void **state)
{
    struct bed bed;
    double sum_us = 0;
    uint64_t above = 0;
    (void)state;
    bed_make(&bed, MILLISECOND, latency_usual);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
    bed_wait_times(&bed, 1000);
    for (int i = 0; i < 100000; i++) {
        bed_wait(&bed);
        sum_us += (double)margin_ns(&bed.sleeper.margin, bed.lead_ns) / MICROSECOND;
        above += latency_usual(&bed) > 32 * MICROSECOND;
    }
    print_message("32 us is the %.1f %% quantile, mean margin %.1f us\n", 100 - (double)above / 1e3,
                  sum_us / 1e5);
    assert_in_range(above, 700, 1300);
    assert_true(sum_us / 1e5 > 30 && sum_us / 1e5 < 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_minus_q_of_equal_latencies),
        cmocka_unit_test(it_is_one_minus_q_of_usual_latencies),
        cmocka_unit_test(it_is_one_minus_q_of_latencies_without_a_variance),
        cmocka_unit_test(it_is_one_minus_q_when_bad_times_come_in_turns),
        cmocka_unit_test(it_is_one_minus_q_when_each_fourth_target_follows_a_tick),
        cmocka_unit_test(the_margin_is_near_the_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
