/* SPDX-License-Identifier: MIT */
/* Durations in the log: units that a person reads, and never less than it is. */
#include "cmocka_first.h"

#include <string.h>

#include "daemon/duration.h"

static void each_has_the_unit_that_fits(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0 ns"},
        {31, "31 ns"},
        {999, "999 ns"},
        {1000, "1.0 us"},
        {133713, "134 us"},
        {99900, "99.9 us"},
        {99901, "100 us"},
        {1500000, "1.5 ms"},
        {16000501000, "16.1 s"},
        {-2500, "-2.5 us"},
        {3600000000000, "3600 s"},
        {INT64_MAX, "9223372037 s"},
        {INT64_MIN, "-9223372037 s"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(duration_of(cases[i].ns).text, cases[i].text);
}

/* UINT64_MAX: nothing is known. */
static void a_bound_has_no_sign(void **state)
{
    (void)state;
    assert_string_equal(duration_of_bound(31).text, "31 ns");
    assert_string_equal(duration_of_bound((uint64_t)INT64_MAX + 1).text, "9223372037 s");
    assert_string_equal(duration_of_bound(UINT64_MAX).text, "18446744074 s");
}

static void two_in_one_line_do_not_share_their_text(void **state)
{
    (void)state;
    struct duration first = duration_of(1), second = duration_of(2);
    assert_string_equal(first.text, "1 ns");
    assert_string_equal(second.text, "2 ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_the_unit_that_fits),
        cmocka_unit_test(a_bound_has_no_sign),
        cmocka_unit_test(two_in_one_line_do_not_share_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
