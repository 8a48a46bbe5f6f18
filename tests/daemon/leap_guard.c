/* SPDX-License-Identifier: MIT */
/* Around a leap second: when the claim is a second wider, and nobody calls it synchronised. */
#include "cmocka_first.h"

#include "daemon/leap_guard.h"

#define SECOND INT64_C(1000000000)
#define MIDNIGHT INT64_C(1483228800)        /* 2017-01-01, after a second was inserted */
#define OFFSET ((MIDNIGHT - 1000) * SECOND) /* midnight is at 1000 s of monotonic time */

static struct leap_guard guard;

static int begin(void **state)
{
    static const struct leap_guard none;
    (void)state;
    guard = none;
    return 0;
}

static struct discipline_sample at(double mono_s, int64_t offset_ns, uint32_t flags)
{
    struct discipline_sample sample = {.mono_ns = (int64_t)(mono_s * 1e9),
                                       .utc_offset_ns = offset_ns,
                                       .flags = flags,
                                       .maxerror_ns = 1000,
                                       .is_synchronized = true};
    return sample;
}

static bool is_guarded(double mono_s, int64_t offset_ns, uint32_t flags)
{
    struct discipline_sample sample = at(mono_s, offset_ns, flags);
    bool result = leap_guard_apply(&guard, &sample);
    assert_true(sample.maxerror_ns == (result ? 1000 + SECOND : 1000));
    assert_true(sample.is_synchronized == !result);
    return result;
}

static void without_an_announcement_nothing_is_done(void **state)
{
    (void)state;
    for (double s = 990; s < 1010; s += 0.25)
        assert_false(is_guarded(s, OFFSET, TIMEBASE_LINE_TAI_VALID));
}

static void announced_in_the_morning_it_is_guarded_at_midnight_only(void **state)
{
    const uint32_t insert = TIMEBASE_LINE_LEAP_INSERT;
    (void)state;
    assert_false(is_guarded(1000 - 40000, OFFSET, insert));
    assert_false(is_guarded(1000 - 3.1, OFFSET, insert));
    assert_true(is_guarded(1000 - 2.9, OFFSET, insert));
    assert_true(is_guarded(999.9, OFFSET, insert));
    /* The kernel steps back at midnight; the flag may be gone at once. */
    assert_true(is_guarded(1000.1, OFFSET - SECOND, 0));
    assert_true(is_guarded(1000.9, OFFSET - SECOND, 0));
    assert_false(is_guarded(1001.1, OFFSET - SECOND, 0));
    assert_false(is_guarded(1002, OFFSET - SECOND, 0));
}

static void a_kernel_that_is_late_is_waited_for(void **state)
{
    (void)state;
    assert_true(is_guarded(999, OFFSET, TIMEBASE_LINE_LEAP_INSERT));
    assert_true(is_guarded(1001.5, OFFSET, TIMEBASE_LINE_LEAP_INSERT));
    assert_true(is_guarded(1001.75, OFFSET - SECOND, 0));
    assert_false(is_guarded(1002, OFFSET - SECOND, 0));
}

static void one_left_out_is_the_last_of_the_day(void **state)
{
    const uint32_t delete = TIMEBASE_LINE_LEAP_DELETE;
    (void)state;
    assert_false(is_guarded(1000 - 4.1, OFFSET, delete));
    assert_true(is_guarded(1000 - 3.9, OFFSET, delete));
    assert_true(is_guarded(999.1, OFFSET + SECOND, delete)); /* the sample that shows the step */
    assert_false(is_guarded(999.35, OFFSET + SECOND, 0));
}

static void one_that_is_taken_back_ends_by_itself(void **state)
{
    (void)state;
    assert_true(is_guarded(999, OFFSET, TIMEBASE_LINE_LEAP_INSERT));
    assert_true(is_guarded(1001.9, OFFSET, 0));
    assert_false(is_guarded(1002.1, OFFSET, 0));
    assert_false(is_guarded(1003, OFFSET, 0));
}

/* A step of another size is none of the leap. */
static void a_small_step_meanwhile_does_not_end_it(void **state)
{
    (void)state;
    assert_true(is_guarded(999, OFFSET, TIMEBASE_LINE_LEAP_INSERT));
    assert_true(is_guarded(999.5, OFFSET - SECOND / 10, TIMEBASE_LINE_LEAP_INSERT));
    assert_true(is_guarded(1001.5, OFFSET - SECOND / 10, 0));
    assert_true(is_guarded(1001.7, OFFSET - SECOND - SECOND / 10, 0));
    assert_false(is_guarded(1001.9, OFFSET - SECOND - SECOND / 10, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_an_announcement_nothing_is_done, begin),
        cmocka_unit_test_setup(announced_in_the_morning_it_is_guarded_at_midnight_only, begin),
        cmocka_unit_test_setup(a_kernel_that_is_late_is_waited_for, begin),
        cmocka_unit_test_setup(one_left_out_is_the_last_of_the_day, begin),
        cmocka_unit_test_setup(one_that_is_taken_back_ends_by_itself, begin),
        cmocka_unit_test_setup(a_small_step_meanwhile_does_not_end_it, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
