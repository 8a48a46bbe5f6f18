/* SPDX-License-Identifier: MIT */
/* Requests that cannot be, structures that hold nothing, and the words for people. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <timebase/realtime.h>

#include "../system/settings.h"

static void expect_refused_whole(const struct timebase_realtime_request *request)
{
    struct settings before = settings_now(), after;
    struct timebase_realtime rt;
    memset(&rt, 0xa5, sizeof(rt));
    errno = 4321;
    assert_int_equal(timebase_realtime_acquire(&rt, request), TIMEBASE_E_INVALID);
    assert_int_equal(errno, 4321);
    after = settings_now();
    assert_true(settings_equal(&before, &after));
    assert_int_equal(rt.granted, 0);
    assert_int_equal(rt.refused, 0);
    assert_int_equal(timebase_realtime_release(&rt), TIMEBASE_OK);
    after = settings_now();
    assert_true(settings_equal(&before, &after));
}

static void requests_that_cannot_be_change_nothing(void **state)
{
    const struct timebase_realtime_request bad[] = {
        {TIMEBASE_REALTIME_ALL, 0, 0},
        {TIMEBASE_REALTIME_ALL, -1, 0},
        {TIMEBASE_REALTIME_ALL, 100, 0},
        {TIMEBASE_REALTIME_ALL, INT32_MAX, 0},
        {TIMEBASE_REALTIME_ALL, INT32_MIN, 0},
        {TIMEBASE_REALTIME_ALL, 50, -2},
        {TIMEBASE_REALTIME_ALL, 50, 8192},
        {TIMEBASE_REALTIME_ALL, 50, INT32_MAX},
        {TIMEBASE_REALTIME_ALL, 50, INT32_MIN},
        {TIMEBASE_REALTIME_ALL | 32, 50, 0},
        {UINT32_MAX, 50, 0},
        {1u << 31, 50, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused_whole(&bad[i]);
    expect_refused_whole(NULL);
}

static void null_is_refused(void **state)
{
    const struct timebase_realtime_request request = {TIMEBASE_REALTIME_ALL, 50, -1};
    (void)state;
    assert_int_equal(timebase_realtime_acquire(NULL, &request), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_realtime_acquire(NULL, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_realtime_release(NULL), TIMEBASE_E_INVALID);
}

static void a_structure_of_zeros_holds_nothing(void **state)
{
    struct timebase_realtime rt = {0};
    struct settings before = settings_now(), after;
    (void)state;
    assert_int_equal(timebase_realtime_release(&rt), TIMEBASE_OK);
    after = settings_now();
    assert_true(settings_equal(&before, &after));
}

/* Priority and CPU are of no interest to those who do not ask for them. */
static void who_asks_for_nothing_gets_it(void **state)
{
    const struct timebase_realtime_request request = {0, 0, INT32_MIN};
    struct timebase_realtime rt;
    (void)state;
    assert_int_equal(timebase_realtime_acquire(&rt, &request), 0);
    assert_int_equal(rt.granted, 0);
    assert_int_equal(rt.refused, 0);
    assert_int_equal(rt.cpu, -1);
    assert_int_equal(timebase_realtime_release(&rt), TIMEBASE_OK);
}

static void every_bit_has_a_name_and_an_advice_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i <= TIMEBASE_REALTIME_COUNT; i++) /* the last one is unknown */
        for (int k = 0; k <= TIMEBASE_REALTIME_COUNT; k++) {
            assert_true(strlen(timebase_realtime_name(1u << i)) > 5);
            assert_true(strlen(timebase_realtime_advice(1u << i)) > 40);
            if (i == k)
                continue;
            assert_string_not_equal(timebase_realtime_name(1u << i),
                                    timebase_realtime_name(1u << k));
            assert_string_not_equal(timebase_realtime_advice(1u << i),
                                    timebase_realtime_advice(1u << k));
        }
}

static void what_is_no_single_bit_has_words_too(void **state)
{
    (void)state;
    assert_non_null(timebase_realtime_name(0));
    assert_non_null(timebase_realtime_name(3));
    assert_non_null(timebase_realtime_advice(UINT_MAX));
}

static void the_bits_are_counted_rightly(void **state)
{
    (void)state;
    assert_int_equal(1 << (TIMEBASE_REALTIME_COUNT - 1), TIMEBASE_REALTIME_LAST);
    assert_int_equal((1 << TIMEBASE_REALTIME_COUNT) - 1, TIMEBASE_REALTIME_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_cannot_be_change_nothing),
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(a_structure_of_zeros_holds_nothing),
        cmocka_unit_test(who_asks_for_nothing_gets_it),
        cmocka_unit_test(every_bit_has_a_name_and_an_advice_of_its_own),
        cmocka_unit_test(what_is_no_single_bit_has_words_too),
        cmocka_unit_test(the_bits_are_counted_rightly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
