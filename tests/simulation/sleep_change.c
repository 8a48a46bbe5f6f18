/* SPDX-License-Identifier: MIT */
/* Latencies change, by load or by another idle state: the margin follows within some hundreds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sleeper.h"

#define SETTLING 3000

static int scale; /* of the latencies */

static int64_t latency_scaled(struct bed *bed)
{
    return scale * latency_usual(bed) / 3;
}

static struct bed *settled_at(int64_t (*latency_ns)(struct bed *bed))
{
    static struct bed bed;
    bed_make(&bed, 2 * MILLISECOND, latency_ns);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
    bed_wait_times(&bed, SETTLING);
    return &bed;
}

static double margin_now(const struct bed *bed)
{
    return (double)margin_ns(&bed->sleeper.margin, bed->lead_ns);
}

static void latencies_three_times_as_long_are_late_a_few_times(void **state)
{
    (void)state;
    scale = 3;
    struct bed *bed = settled_at(latency_scaled);
    scale = 9;
    bed_forget(bed);
    bed_wait_times(bed, 300);
    print_message("%d of the first 300 late\n", (int)bed->late);
    assert_in_range(bed->late, 3, 14);
    bed_forget(bed);
    bed_wait_times(bed, 10000);
    assert_true(fabs(bed_late_share(bed) - 0.01) < 0.002);
}

static void a_margin_three_times_too_long_shrinks_within_500_waits(void **state)
{
    (void)state;
    scale = 9;
    struct bed *bed = settled_at(latency_scaled);
    scale = 3;
    bed_wait_times(bed, 500);
    print_message("margin %.1f us\n", margin_now(bed) / MICROSECOND);
    assert_true(margin_now(bed) < 1.9 * 32 * MICROSECOND);
}

static void the_first_margin_is_learnt_within_300_waits(void **state)
{
    static struct bed bed;
    (void)state;
    for (scale = 1; scale <= 30; scale *= 3) {
        bed_make(&bed, 2 * MILLISECOND, latency_scaled);
        assert_true(margin_set(&bed.sleeper.margin, 0.99, 1));
        bed_wait_times(&bed, 300);
        double quantile = scale * 32 * MICROSECOND / 3.0;
        print_message("quantile %.1f us, margin %.1f us, %d late\n", quantile / MICROSECOND,
                      margin_now(&bed) / MICROSECOND, (int)bed.late);
        assert_true(margin_now(&bed) > 0.7 * quantile);
        assert_true(margin_now(&bed) < 1.8 * quantile);
        assert_true(bed.late <= 20);
    }
}

static int is_outlier;

static int64_t latency_with_outlier(struct bed *bed)
{
    int64_t latency = is_outlier ? 9 * MILLISECOND : latency_usual(bed);
    is_outlier = 0;
    return latency;
}

static void an_outlier_of_9_ms_moves_the_margin_by_one_step(void **state)
{
    (void)state;
    struct bed *bed = settled_at(latency_with_outlier);
    double before = margin_now(bed);
    is_outlier = 1;
    bed_wait(bed);
    assert_true(margin_now(bed) > 1.2 * before);
    assert_true(margin_now(bed) < 1.3 * before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_three_times_as_long_are_late_a_few_times),
        cmocka_unit_test(a_margin_three_times_too_long_shrinks_within_500_waits),
        cmocka_unit_test(the_first_margin_is_learnt_within_300_waits),
        cmocka_unit_test(an_outlier_of_9_ms_moves_the_margin_by_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
