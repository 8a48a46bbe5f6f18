/* SPDX-License-Identifier: MIT */
/* Three years of a machine that runs on, read now and then: nothing adds up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

#include <float.h>

/* 64 bits hold 1,000 days to a hundredth of a nanosecond. */
static bool can_count(void)
{
    return LDBL_MANT_DIG >= 64;
}

static void nothing_wears_out_in_a_thousand_days(void **state)
{
    struct world world = watch_begin(&watch, 42);
    (void)state;
    if (!can_count())
        skip();
    world.wander_ppm = 0.01;
    const double day_ns = 86400 * SECOND;
    for (int day = 0; day < 1000; day++) {
        world.reference_rate = day % 7 == 0 ? 1 + 40e-6 : 1;
        world.claim_ppb = day % 7 == 0 ? 40001 : 0;
        world.counter_hz = 2600007800.0 * (1 + (day % 5 - 2) * 5e-6); /* the weather */
        watch_run(&watch, &world, day_ns, 127 * SECOND);
        watch_reset_errors(&watch);
    }
    world.reference_rate = 1;
    watch_run(&watch, &world, 600 * SECOND, 100 * MILLISECOND);
    watch_run(&watch, &world, 5 * SECOND, 10 * MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    print_message("after %.0f days: p99 %.1f ns\n", (double)(world.now_ns / day_ns),
                  watch_percentile(&watch, 0.99));
    watch_expect_sound(&watch, 42);
    assert_true(watch_percentile(&watch, 0.99) <= 50);
    assert_int_equal(world.events & DISCIPLINE_DISRUPTED, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_wears_out_in_a_thousand_days),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
