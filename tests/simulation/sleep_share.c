/* SPDX-License-Identifier: MIT */
/* Polling takes no more of the time than it may, at any period, punctual or not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sleeper.h"

#define SETTLING 2000
#define WAITS 20000

/* A mean of the latest sixteen waits swings by some per cent. */
#define TOLERANCE 1.05

static struct bed settled(int64_t period_ns, double share, int64_t (*latency_ns)(struct bed *bed))
{
    struct bed bed;
    bed_make(&bed, period_ns, latency_ns);
    assert_true(margin_set(&bed.sleeper.margin, 0.99, share));
    bed_wait_times(&bed, SETTLING);
    bed_forget(&bed);
    bed_wait_times(&bed, WAITS);
    print_message("period %.0f us, share %.2f: polled %.4f, late %.4f, missed %.4f\n",
                  (double)period_ns / MICROSECOND, share, bed_polled_share(&bed),
                  bed_late_share(&bed), (double)bed.missed / WAITS);
    return bed;
}

/* Shorter waits than this and the lead are polled, whatever the share. */
#define SHORTEST_NS (MARGIN_NAP_MIN_NS + MARGIN_MIN_NS)

static void polling_stays_within_its_share(void **state)
{
    const int64_t periods_us[] = {15, 50, 100, 200, 500, 1000, 10000};
    const double shares[] = {0.01, 0.05, 0.2, 0.5, 0.9};
    (void)state;
    for (unsigned p = 0; p < sizeof(periods_us) / sizeof(periods_us[0]); p++)
        for (unsigned s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
            struct bed bed = settled(periods_us[p] * MICROSECOND, shares[s], latency_usual);
            double least_share = (double)(bed.lead_ns + SHORTEST_NS) / (double)bed.period_ns;
            assert_true(bed_polled_share(&bed) <= TOLERANCE * fmax(shares[s], least_share));
        }
}

static int64_t latency_long(struct bed *bed)
{
    return 20 * latency_usual(bed);
}

static void it_does_when_waking_up_takes_long(void **state)
{
    (void)state;
    struct bed bed = settled(MILLISECOND, 0.05, latency_long);
    assert_true(bed_polled_share(&bed) <= TOLERANCE * 0.05);
    bed = settled(10 * MILLISECOND, 0.02, latency_long);
    assert_true(bed_polled_share(&bed) <= TOLERANCE * 0.02);
}

static void the_cap_costs_nothing_where_the_quantile_keeps_to_it(void **state)
{
    (void)state;
    struct bed bed = settled(MILLISECOND, 0.05, latency_usual);
    assert_true(bed_late_share(&bed) < 0.0125);
    bed = settled(200 * MICROSECOND, 0.2, latency_usual);
    assert_true(bed_late_share(&bed) < 0.0125);
}

/* Half of it is spent, and the half that is late is late by little. */
static void where_both_cannot_be_had_the_share_is_used_all_the_same(void **state)
{
    (void)state;
    struct bed bed = settled(100 * MICROSECOND, 0.07, latency_usual);
    assert_true(bed_polled_share(&bed) > 0.05);
    assert_true(bed_late_share(&bed) > 0.02 && bed_late_share(&bed) < 0.7);
}

/* A pause between two series is no licence to poll. */
static void a_pause_does_not_lift_the_cap(void **state)
{
    struct bed bed;
    (void)state;
    bed_make(&bed, 100 * MICROSECOND, latency_usual);
    assert_true(margin_set(&bed.sleeper.margin, 0.999, 0.1));
    bed_wait_times(&bed, SETTLING);
    for (int i = 0; i < 100; i++) {
        int64_t began_ns, polled_ns = bed.polled_ns;
        bed.target_ns += SECOND;
        bed_wait(&bed);
        began_ns = bed.now_ns;
        bed_wait_times(&bed, 200);
        double share = (double)(bed.polled_ns - polled_ns) / (double)(bed.now_ns - began_ns);
        assert_true(share <= 0.12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polling_stays_within_its_share),
        cmocka_unit_test(it_does_when_waking_up_takes_long),
        cmocka_unit_test(the_cap_costs_nothing_where_the_quantile_keeps_to_it),
        cmocka_unit_test(where_both_cannot_be_had_the_share_is_used_all_the_same),
        cmocka_unit_test(a_pause_does_not_lift_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
