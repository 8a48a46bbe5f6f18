/* SPDX-License-Identifier: MIT */
/* The version in numbers is the one in words. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include <timebase/version.h>

static void the_numbers_make_the_text(void **state)
{
    char text[32];
    (void)state;
    snprintf(text, sizeof(text), "%d.%d.%d", TIMEBASE_VERSION_MAJOR, TIMEBASE_VERSION_MINOR,
             TIMEBASE_VERSION_PATCH);
    assert_string_equal(text, TIMEBASE_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_make_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
