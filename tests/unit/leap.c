/* SPDX-License-Identifier: MIT */
/* A leap second, from its announcement until UTC has made it; or not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/page.h>

#include "clock/discipline/leap.h"

#define SECOND 1000000000LL
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
/* A midnight, and what the reference claims of its own error. */
#define MIDNIGHT (20718 * DAY)
#define ERROR_NS 1000000
#define INSERT TIMEBASE_LINE_LEAP_INSERT
#define DELETE TIMEBASE_LINE_LEAP_DELETE

static void observe(struct leap *leap, int64_t utc_ns, uint32_t flags, int64_t stepped_ns)
{
    struct leap_sample sample = {utc_ns, ERROR_NS, stepped_ns, flags};
    leap_observe(leap, &sample);
}

static struct leap announced(uint32_t flags)
{
    struct leap leap = {0};
    observe(&leap, MIDNIGHT - 5 * HOUR, flags, 0);
    return leap;
}

static void assert_widened_from(const struct leap *leap, int64_t from_ns)
{
    assert_int_equal(leap_error_ns(leap, from_ns - 1), 0);
    assert_int_equal(leap_error_ns(leap, from_ns), LEAP_NS);
    assert_int_equal(leap_error_ns(leap, from_ns + 2 * DAY), LEAP_NS);
}

static void without_an_announcement_there_is_nothing(void **state)
{
    struct leap leap = announced(0);
    (void)state;
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT), 0);
    observe(&leap, MIDNIGHT - SECOND, 0, -SECOND); /* somebody's step, by chance */
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT), 0);
}

static void an_insertion_is_due_at_midnight_less_the_reference_s_error(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    assert_widened_from(&leap, MIDNIGHT - ERROR_NS);
}

static void a_deletion_is_due_a_second_before_midnight(void **state)
{
    struct leap leap = announced(DELETE);
    (void)state;
    assert_widened_from(&leap, MIDNIGHT - SECOND - ERROR_NS);
}

static void it_stays_until_the_offset_has_stepped_and_true_utc_must_have(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT + SECOND / 100, INSERT, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), LEAP_NS);
    /* The step, at 23:59:59.0002 for the second time: a reference ahead by 1 ms is too early. */
    observe(&leap, MIDNIGHT - SECOND + 200000, INSERT, -SECOND);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT - SECOND / 2), LEAP_NS);
    /* And a second more, in which what tells of true UTC may be late. */
    observe(&leap, MIDNIGHT + ERROR_NS, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), LEAP_NS);
    observe(&leap, MIDNIGHT + ERROR_NS + 1, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), 0);
}

static void a_deletion_ends_likewise(void **state)
{
    struct leap leap = announced(DELETE);
    (void)state;
    observe(&leap, MIDNIGHT + 3 * ERROR_NS, 0, SECOND + 17);
    observe(&leap, MIDNIGHT + SECOND + 2 * ERROR_NS, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), 0);
}

static void an_announcement_that_is_still_up_after_the_leap_is_of_the_same(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT - SECOND / 2, INSERT, -SECOND);
    observe(&leap, MIDNIGHT + SECOND / 4, INSERT, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + HOUR), 0);
    observe(&leap, MIDNIGHT + 13 * HOUR, INSERT, 0); /* half a day later it is another */
    assert_widened_from(&leap, MIDNIGHT + DAY - ERROR_NS);
}

static void a_step_before_its_time_or_of_another_size_is_not_the_leap(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT - HOUR, INSERT, -SECOND);
    observe(&leap, MIDNIGHT + SECOND / 10, INSERT, SECOND);
    observe(&leap, MIDNIGHT + SECOND / 5, INSERT, -SECOND / 4);
    observe(&leap, MIDNIGHT + SECOND / 2, INSERT, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), LEAP_NS);
}

static void an_announcement_withdrawn_in_time_is_forgotten(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT - HOUR, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT), 0);
}

/* The kernel drops its flag with the step; a sample between the two must not forget the second. */
static void an_announcement_that_ends_at_its_moment_is_not_withdrawn(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT - 10, 0, 0);
    observe(&leap, MIDNIGHT + 10, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + SECOND), LEAP_NS);
}

static void a_second_that_nobody_steps_is_given_up_after_an_hour(void **state)
{
    struct leap leap = announced(INSERT);
    (void)state;
    observe(&leap, MIDNIGHT + HOUR - 1, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + HOUR), LEAP_NS);
    observe(&leap, MIDNIGHT + HOUR, 0, 0);
    assert_int_equal(leap_error_ns(&leap, MIDNIGHT + HOUR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_announcement_there_is_nothing),
        cmocka_unit_test(an_insertion_is_due_at_midnight_less_the_reference_s_error),
        cmocka_unit_test(a_deletion_is_due_a_second_before_midnight),
        cmocka_unit_test(it_stays_until_the_offset_has_stepped_and_true_utc_must_have),
        cmocka_unit_test(a_deletion_ends_likewise),
        cmocka_unit_test(an_announcement_that_is_still_up_after_the_leap_is_of_the_same),
        cmocka_unit_test(a_step_before_its_time_or_of_another_size_is_not_the_leap),
        cmocka_unit_test(an_announcement_withdrawn_in_time_is_forgotten),
        cmocka_unit_test(an_announcement_that_ends_at_its_moment_is_not_withdrawn),
        cmocka_unit_test(a_second_that_nobody_steps_is_given_up_after_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
