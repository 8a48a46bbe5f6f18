/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include <timebase/clock.h>
#include <timebase/error.h>

static void success_is_zero_and_above(void **state)
{
    (void)state;
    assert_string_equal(timebase_strerror(TIMEBASE_OK), "success");
    assert_string_equal(timebase_strerror(1), "success");
    assert_string_equal(timebase_strerror(INT_MAX), "success");
}

static void every_error_has_words_of_its_own(void **state)
{
    (void)state;
    for (int a = TIMEBASE_E_ESTIMATE; a < TIMEBASE_OK; a++) {
        const char *text = timebase_strerror(a);
        assert_true(strlen(text) > 10);
        assert_int_not_equal(text[strlen(text) - 1], '.');
        for (int b = TIMEBASE_E_ESTIMATE; b <= TIMEBASE_OK; b++)
            assert_true(a == b || strcmp(text, timebase_strerror(b)) != 0);
    }
}

static void an_unknown_error_is_called_unknown(void **state)
{
    (void)state;
    assert_string_equal(timebase_strerror(TIMEBASE_E_ESTIMATE - 1), "unknown timebase error");
    assert_string_equal(timebase_strerror(INT_MIN), "unknown timebase error");
}

static void every_status_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(timebase_status_name(TIMEBASE_STATUS_UNKNOWN), "UNKNOWN");
    assert_string_equal(timebase_status_name(TIMEBASE_STATUS_INITIALIZING), "INITIALIZING");
    assert_string_equal(timebase_status_name(TIMEBASE_STATUS_SYNCHRONIZED), "SYNCHRONIZED");
    assert_string_equal(timebase_status_name(TIMEBASE_STATUS_FREERUNNING), "FREERUNNING");
    assert_string_equal(timebase_status_name(TIMEBASE_STATUS_UNRELIABLE), "UNRELIABLE");
}

static void a_status_out_of_range_has_a_name_too(void **state)
{
    (void)state;
    assert_non_null(timebase_status_name(-1));
    assert_non_null(timebase_status_name(TIMEBASE_STATUS_UNRELIABLE + 1));
    assert_non_null(timebase_status_name(INT_MAX));
    assert_non_null(timebase_status_name(INT_MIN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_zero_and_above),
        cmocka_unit_test(every_error_has_words_of_its_own),
        cmocka_unit_test(an_unknown_error_is_called_unknown),
        cmocka_unit_test(every_status_has_its_name),
        cmocka_unit_test(a_status_out_of_range_has_a_name_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
