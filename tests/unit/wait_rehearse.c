/* SPDX-License-Identifier: MIT */
/* Preparing: a function is rehearsed at most once, before, and knows it; then called once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "waiting.h"

#define ATTEMPTS 3000 /* each may be held up until it is too late to prepare */

/* In the order of the calls: 'r' rehearsal, 'e' event. */
static char calls[8];
static int count;

static void note(void *argument)
{
    assert_ptr_equal(argument, &count);
    if (count < 7)
        calls[count++] = timebase_wait_rehearsing() ? 'r' : 'e';
}

static const char *calls_of(int64_t ns, unsigned flags, struct timebase_wait_result *result)
{
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(ns);
    memset(calls, 0, sizeof(calls));
    count = 0;
    assert_true(timebase_wait_call_ticks(the_waiter(), target, flags, note, &count, result) >= 0);
    assert_false(timebase_wait_rehearsing());
    return calls;
}

static const unsigned others[] = {0,
                                  TIMEBASE_WAIT_PLAIN,
                                  TIMEBASE_WAIT_NEVER_EARLY,
                                  TIMEBASE_WAIT_SLEEP,
                                  TIMEBASE_WAIT_PREPARE,
                                  TIMEBASE_WAIT_SAVE_POWER};
#define OTHERS (sizeof(others) / sizeof(others[0]))

static void where_there_is_time_a_rehearsal_comes_before_the_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++) {
        struct timebase_wait_result result;
        int rehearsed = 0;
        for (int attempt = 0; attempt < ATTEMPTS && !rehearsed; attempt++) {
            calls_of(200 * MICROSECOND, others[i] | TIMEBASE_WAIT_REHEARSE, &result);
            rehearsed = strcmp(calls, "re") == 0;
            if (!rehearsed)
                assert_string_equal(calls, "e");
        }
        assert_true(rehearsed);
        assert_int_equal(result.prepared, 1);
    }
}

static void without_the_flag_nothing_is_rehearsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++)
        assert_string_equal(calls_of(MILLISECOND, others[i], NULL), "e");
}

static void a_target_that_has_passed_is_not_rehearsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++)
        for (int k = 0; k < 100; k++)
            assert_string_equal(calls_of(-1000, others[i] | TIMEBASE_WAIT_REHEARSE, NULL), "e");
}

static void a_wait_that_returns_has_nothing_to_rehearse(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    count = 0;
    assert_true(wait_by(the_waiter(), UNTIL_TICKS, target_in(UNTIL_TICKS, MILLISECOND),
                        TIMEBASE_WAIT_REHEARSE, &result) >= 0);
    assert_int_equal(count, 0);
}

static void preparing_is_told_where_there_is_time_for_it(void **state)
{
    struct timebase_wait_result result = {0};
    (void)state;
    for (int attempt = 0; attempt < ATTEMPTS && !result.prepared; attempt++)
        assert_string_equal(calls_of(200 * MICROSECOND, TIMEBASE_WAIT_PREPARE, &result), "e");
    assert_int_equal(result.prepared, 1);
}

static void outside_of_waits_nobody_rehearses(void **state)
{
    (void)state;
    assert_false(timebase_wait_rehearsing());
}

/* ---- a function that waits by the waiter that calls it ------------------------------------ */

static int inner;

static void wait_within(void *argument)
{
    struct timebase_wait_result result, *told = argument != NULL ? &result : NULL;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(5 * MICROSECOND);
    inner = timebase_wait_until_ticks(the_waiter(), target, 0, told);
}

static void delay_within(void *argument)
{
    struct timebase_wait_result result;
    (void)argument;
    inner = timebase_delay_ns(the_waiter(), 200, 0, &result);
}

static void assert_found_out(void (*function)(void *), void *argument, unsigned flags)
{
    struct timebase_wait_result result, before;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(200 * MICROSECOND);
    memset(&result, 0xa5, sizeof(result));
    before = result;
    assert_int_equal(
        timebase_wait_call_ticks(the_waiter(), target, flags, function, argument, &result),
        TIMEBASE_E_INVALID);
    assert_memory_equal(&result, &before, sizeof(result));
    assert_true(inner >= 0);
}

static void a_function_that_uses_its_own_waiter_is_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++)
        for (int rehearse = 0; rehearse < 2; rehearse++) {
            unsigned flags = others[i] | (rehearse ? TIMEBASE_WAIT_REHEARSE : 0);
            assert_found_out(wait_within, NULL, flags);
            assert_found_out(wait_within, &inner, flags);
            assert_found_out(delay_within, NULL, flags);
            calls_of(200 * MICROSECOND, flags, NULL); /* the next one is as ever */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_there_is_time_a_rehearsal_comes_before_the_event),
        cmocka_unit_test(without_the_flag_nothing_is_rehearsed),
        cmocka_unit_test(a_target_that_has_passed_is_not_rehearsed),
        cmocka_unit_test(a_wait_that_returns_has_nothing_to_rehearse),
        cmocka_unit_test(preparing_is_told_where_there_is_time_for_it),
        cmocka_unit_test(outside_of_waits_nobody_rehearses),
        cmocka_unit_test(a_function_that_uses_its_own_waiter_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
