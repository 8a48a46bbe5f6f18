/* SPDX-License-Identifier: MIT */
/*
 * All of the delay to the server is on one way: the claim is wrong by nearly all of its width, and
 * the bound of UTC must be no narrower than that.
 */
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

static void learn_from(double bias_share)
{
    struct world world = watch_begin(&watch, 34);
    world.claim_error_ns = 10500000; /* half of 21 ms */
    world.claim_bias_ns = bias_share * world.claim_error_ns;
    /* The clock has followed what it was told: it is off by the mistake. */
    world.utc_offset_ns -= (int64_t)world.claim_bias_ns;
    watch_run(&watch, &world, 20 * SECOND, 3 * MILLISECOND);
    watch_expect_sound(&watch, 34);
    watch_print(&watch, "asymmetric");
    assert_true(watch.tightest_true >= 0.5);
    assert_true(watch.tightest_true < 1);
}

static void a_server_that_looks_late_is_within_the_bound(void **state)
{
    (void)state;
    learn_from(0.93);
    learn_from(0.999);
}

static void a_server_that_looks_early_is_within_the_bound(void **state)
{
    (void)state;
    learn_from(-0.93);
    learn_from(-0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_looks_late_is_within_the_bound),
        cmocka_unit_test(a_server_that_looks_early_is_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
