/* SPDX-License-Identifier: MIT */
/* What a wait refuses, without waiting and without calling; and targets that have passed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "timing/waiter/waiter.h"
#include "waiting.h"

/* Refused: nothing called, the result as it was. */
static void assert_refused(struct timebase_waiter *waiter, enum way way, int64_t target,
                           unsigned flags)
{
    struct timebase_wait_result result, before;
    memset(&result, 0xa5, sizeof(result));
    before = result;
    forget_event();
    assert_int_equal(wait_by(waiter, way, target, flags, &result), TIMEBASE_E_INVALID);
    assert_int_equal(wait_by(waiter, way, target, flags, NULL), TIMEBASE_E_INVALID);
    assert_memory_equal(&result, &before, sizeof(result));
    assert_int_equal(event.calls + event.rehearsals, 0);
}

static void no_waiter_is_no_waiter_to_any_function(void **state)
{
    struct timebase_waiter_description description;
    struct timebase_fine_reading reading;
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        assert_refused(NULL, way, target_in(way, MICROSECOND), 0);
    assert_int_equal(timebase_delay_ns(NULL, 5, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_calibrate(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_set_margin(NULL, 0.9, 0.5), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_describe(NULL, &description), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_read_fine(NULL, 0, &reading), TIMEBASE_E_INVALID);
}

static void a_waiter_of_zeros_is_none_and_stays_so(void **state)
{
    static struct timebase_waiter zeros, still_zeros;
    struct timebase_waiter_description description;
    struct timebase_fine_reading reading;
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        assert_refused(&zeros, way, target_in(way, MICROSECOND), 0);
    assert_int_equal(timebase_delay_ns(&zeros, 5, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_delay_ns(&zeros, 5000, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_calibrate(&zeros), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_set_margin(&zeros, 0.9, 0.5), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_describe(&zeros, &description), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_read_fine(&zeros, 0, &reading), TIMEBASE_E_INVALID);
    assert_memory_equal(&zeros, &still_zeros, sizeof(zeros));
}

static void a_waiter_needs_storage_and_a_clock(void **state)
{
    static struct timebase_waiter waiter, untouched;
    (void)state;
    assert_int_equal(timebase_waiter_init(NULL, timebase_clock_default()), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_init(&waiter, NULL), TIMEBASE_E_INVALID);
    assert_memory_equal(&waiter, &untouched, sizeof(waiter));
}

static void unknown_flags_are_refused_one_by_one(void **state)
{
    struct timebase_waiter *waiter = the_waiter();
    (void)state;
    for (unsigned flag = EVERY_FLAG + 1; flag != 0; flag <<= 1) {
        for (enum way way = 0; way < WAYS; way++)
            assert_refused(waiter, way, target_in(way, MICROSECOND), flag);
        assert_int_equal(timebase_delay_ns(waiter, 20, flag, NULL), TIMEBASE_E_INVALID);
        assert_int_equal(timebase_delay_ns(waiter, 20000, flag | 3, NULL), TIMEBASE_E_INVALID);
    }
}

static void an_event_needs_a_function(void **state)
{
    struct timebase_waiter *waiter = the_waiter();
    (void)state;
    assert_int_equal(timebase_wait_call_ticks(waiter, 0, 0, NULL, NULL, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_call_mono(waiter, 0, 0, NULL, NULL, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_call_utc(waiter, 0, 0, NULL, NULL, NULL), TIMEBASE_E_INVALID);
}

static void assert_passed(enum way way, int64_t target, unsigned flags)
{
    struct timebase_wait_result result;
    uint64_t before = timebase_ticks_ordered();
    forget_event();
    assert_int_equal(wait_by(the_waiter(), way, target, flags, &result), 1);
    assert_int_equal(result.late, 1);
    assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_NONE);
    assert_true((int64_t)(result.event_ticks - before) >= 0);
    assert_true(result.error_ticks > 0 && result.error_ns > 0);
    assert_int_equal(event.rehearsals, 0);
    assert_int_equal(event.calls, calls_a_function(way));
    if (calls_a_function(way))
        assert_ptr_equal(event.argument, &event);
}

static void a_target_that_has_passed_is_late_and_called_once_at_once(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
            assert_passed(way, target_in(way, -MILLISECOND), flags);
            assert_passed(way, target_in(way, -3600 * SECOND), flags);
        }
}

static void the_beginning_of_time_has_passed(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        if (way != UNTIL_TICKS && way != CALL_TICKS)
            for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
                assert_passed(way, INT64_MIN, flags);
}

static void more_than_a_century_is_refused(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
        for (enum way way = 0; way < WAYS; way++) {
            if (way == UNTIL_TICKS || way == CALL_TICKS)
                continue;
            assert_refused(the_waiter(), way, target_in(way, 101 * YEAR), flags);
            assert_refused(the_waiter(), way, INT64_MAX, flags);
        }
        assert_int_equal(timebase_delay_ns(the_waiter(), 101 * YEAR, flags, NULL),
                         TIMEBASE_E_INVALID);
        assert_int_equal(timebase_delay_ns(the_waiter(), UINT64_MAX, flags, NULL),
                         TIMEBASE_E_INVALID);
    }
}

/* Ticks, too: on a counter of 5 GHz half the range is 58 years, on others it is thousands. */
static void ticks_more_than_a_century_ahead_are_refused(void **state)
{
    double century = 101.0 * (double)YEAR * ticks_per_ns();
    uint64_t now = timebase_ticks();
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
        if (century < 0x1p63)
            assert_refused(the_waiter(), CALL_TICKS, (int64_t)(now + (uint64_t)century), flags);
        assert_refused(the_waiter(), UNTIL_TICKS, (int64_t)(now + INT64_MAX), flags);
    }
}

/* "Never" is what UINT64_MAX means to whoever gives it: it must not be called at once. */
static void the_last_of_all_ticks_is_refused(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
        assert_refused(the_waiter(), CALL_TICKS, (int64_t)UINT64_MAX, flags);
        assert_refused(the_waiter(), UNTIL_TICKS, (int64_t)UINT64_MAX, flags);
    }
}

/* At 5 GHz it is less than a century, but half the range lies in the past. */
static void half_the_range_of_a_fast_counter_ahead_is_refused(void **state)
{
    struct waiter_learnt *learnt = &waiter_within(the_waiter())->learnt;
    double period_ns = learnt->period_ns;
    (void)state;
    learnt->period_ns = 0.2;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++) {
        int64_t target = (int64_t)(timebase_ticks() + INT64_MAX + 1000000000);
        assert_refused(the_waiter(), CALL_TICKS, target, flags);
        assert_refused(the_waiter(), UNTIL_TICKS, target, flags);
        assert_int_equal(timebase_delay_ns(the_waiter(), 60 * YEAR, flags, NULL),
                         TIMEBASE_E_INVALID);
    }
    learnt->period_ns = period_ns;
}

static void errno_is_kept(void **state)
{
    static struct timebase_waiter waiter;
    (void)state;
    errno = 4321;
    assert_int_equal(timebase_waiter_init(&waiter, timebase_clock_default()), 0);
    for (enum way way = 0; way < WAYS; way++)
        for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
            assert_true(wait_by(&waiter, way, target_in(way, 200 * MICROSECOND), flags, NULL) >= 0);
    assert_int_equal(timebase_delay_ns(&waiter, UINT64_MAX, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(errno, 4321);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_waiter_is_no_waiter_to_any_function),
        cmocka_unit_test(a_waiter_of_zeros_is_none_and_stays_so),
        cmocka_unit_test(a_waiter_needs_storage_and_a_clock),
        cmocka_unit_test(unknown_flags_are_refused_one_by_one),
        cmocka_unit_test(an_event_needs_a_function),
        cmocka_unit_test(a_target_that_has_passed_is_late_and_called_once_at_once),
        cmocka_unit_test(the_beginning_of_time_has_passed),
        cmocka_unit_test(more_than_a_century_is_refused),
        cmocka_unit_test(ticks_more_than_a_century_ahead_are_refused),
        cmocka_unit_test(the_last_of_all_ticks_is_refused),
        cmocka_unit_test(half_the_range_of_a_fast_counter_ahead_is_refused),
        cmocka_unit_test(errno_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
