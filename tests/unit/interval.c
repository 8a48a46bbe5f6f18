/* SPDX-License-Identifier: MIT */
/* What can be said of two intervals: by their definition, over all small ones and at the ends. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/interval.h>

#include "clock/interval/certain.h"

#define LAST 5

static struct timebase_interval of(int64_t earliest_ns, int64_t latest_ns)
{
    struct timebase_interval interval = {earliest_ns, latest_ns};
    return interval;
}

/* Moments of 0 to LAST in a and not in b, and so on, by counting. */
static int count_common(const struct timebase_interval *a, const struct timebase_interval *b)
{
    int common = 0;
    for (int64_t ns = -1; ns <= LAST + 1; ns++)
        common += timebase_interval_contains(a, ns) && timebase_interval_contains(b, ns);
    return common;
}

static void check(const struct timebase_interval *a, const struct timebase_interval *b)
{
    struct timebase_interval both;
    int common = count_common(a, b);
    bool any = !timebase_interval_is_empty(a) && !timebase_interval_is_empty(b);
    assert_int_equal(timebase_interval_overlaps(a, b), common > 0);
    assert_int_equal(timebase_interval_before(a, b), any && a->latest_ns < b->earliest_ns);
    assert_int_equal(timebase_interval_intersect(a, b, &both), common > 0);
    assert_int_equal(timebase_interval_width_ns(&both), common > 0 ? common - 1 : 0);
    /* Of two that are not empty exactly one of the three holds; of others none. */
    int says = timebase_interval_before(a, b) + timebase_interval_before(b, a) +
        timebase_interval_overlaps(a, b);
    assert_int_equal(says, any);
}

static void order_and_overlap_are_what_counting_says(void **state)
{
    (void)state;
    for (int code = 0; code < (LAST + 1) * (LAST + 1) * (LAST + 1) * (LAST + 1); code++) {
        struct timebase_interval a = of(code % (LAST + 1), code / (LAST + 1) % (LAST + 1));
        struct timebase_interval b = of(code / ((LAST + 1) * (LAST + 1)) % (LAST + 1),
                                        code / ((LAST + 1) * (LAST + 1) * (LAST + 1)));
        check(&a, &b);
    }
}

static void nothing_wraps_at_the_ends(void **state)
{
    struct timebase_interval all = of(INT64_MIN, INT64_MAX);
    (void)state;
    assert_true(timebase_interval_width_ns(&all) == UINT64_MAX);
    struct timebase_interval around = timebase_interval_around(5, UINT64_MAX);
    assert_true(around.earliest_ns == INT64_MIN && around.latest_ns == INT64_MAX);
    around = timebase_interval_around(INT64_MAX - 1, 3);
    assert_true(around.earliest_ns == INT64_MAX - 4 && around.latest_ns == INT64_MAX);
    around = timebase_interval_around(INT64_MIN + 1, 3);
    assert_true(around.earliest_ns == INT64_MIN && around.latest_ns == INT64_MIN + 4);
    around = timebase_interval_around(-1, (uint64_t)INT64_MAX + 1);
    assert_true(around.earliest_ns == INT64_MIN && around.latest_ns == INT64_MAX);
}

static void the_result_may_be_an_argument(void **state)
{
    struct timebase_interval a = of(1, 5), b = of(3, 9);
    (void)state;
    assert_true(timebase_interval_intersect(&a, &b, &a));
    assert_true(a.earliest_ns == 3 && a.latest_ns == 5);
}

static void what_is_left_saturates(void **state)
{
    (void)state;
    assert_true(wait_left_ns(100, 40) == 60);
    assert_true(wait_left_ns(40, 100) == 0);
    assert_true(wait_left_ns(40, 40) == 0);
    assert_true(wait_left_ns(INT64_MAX - 1, -10) == INT64_MAX);
    assert_true(wait_left_ns(INT64_MIN, 10) == 0);
    assert_true(wait_left_ns(INT64_MAX, INT64_MAX - 1) == INT64_MAX); /* no deadline */
}

static void naps_halve_what_is_left_and_end_before_the_deadline(void **state)
{
    (void)state;
    assert_true(wait_nap_ns(INT64_MAX, INT64_MAX) == WAIT_NAP_NS);
    assert_true(wait_nap_ns(4000000, INT64_MAX) == 2000000);
    assert_true(wait_nap_ns(4000000, 1000000) == 1000000);
    assert_true(wait_nap_ns(WAIT_POLL_NS - 2, INT64_MAX) == 0);
    assert_true(wait_nap_ns(4000000, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_overlap_are_what_counting_says),
        cmocka_unit_test(nothing_wraps_at_the_ends),
        cmocka_unit_test(the_result_may_be_an_argument),
        cmocka_unit_test(what_is_left_saturates),
        cmocka_unit_test(naps_halve_what_is_left_and_end_before_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
