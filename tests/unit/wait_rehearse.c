/* SPDX-License-Identifier: MIT */
/* Preparing: a function is rehearsed at most once, before, and knows it; then called once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/prepare.h"
#include "waiting.h"

#define ATTEMPTS 50 /* of each kind; any of them may be held up until it is too late to prepare */

/* In the order of the calls: 'r' rehearsal, 'e' event. */
static char calls[8];
static int count, was_in_event;

static void note(void *argument)
{
    assert_ptr_equal(argument, &count);
    was_in_event = waiter_within(the_waiter())->is_in_event;
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

/* Beyond any delay of this thread. */
static uint64_t in_an_hour(void)
{
    return timebase_ticks() + (uint64_t)ticks_of(3600 * SECOND);
}

/* Not through a wait, which would last that hour. */
static const char *calls_preparing(uint64_t target, unsigned flags, int *is_prepared)
{
    memset(calls, 0, sizeof(calls));
    count = 0;
    struct wait wait = {.waiter = waiter_within(the_waiter()),
                        .ticks = target,
                        .flags = flags,
                        .function = note,
                        .argument = &count};
    *is_prepared = prepare(wait);
    assert_false(timebase_wait_rehearsing());
    return calls;
}

static void where_there_is_time_there_is_one_rehearsal(void **state)
{
    int is_prepared;
    (void)state;
    for (int i = 0; i < ATTEMPTS; i++) {
        assert_string_equal(calls_preparing(in_an_hour(), TIMEBASE_WAIT_REHEARSE, &is_prepared),
                            "r");
        assert_true(is_prepared);
        assert_true(was_in_event); /* or its delays would be the wait */
        assert_false(waiter_within(the_waiter())->is_in_event);
        assert_string_equal(calls_preparing(in_an_hour(), TIMEBASE_WAIT_PREPARE, &is_prepared), "");
        assert_true(is_prepared);
    }
}

/* Polling alone has nothing to run dry, and says all the same whether there was time. */
static void where_there_is_none_nothing_is_rehearsed_nor_prepared(void **state)
{
    struct waiter_learnt *learnt = &waiter_within(the_waiter())->learnt;
    int was_exact = learnt->exact, is_prepared;
    (void)state;
    for (int exact = 0; exact <= was_exact; exact++) {
        learnt->exact = exact;
        assert_string_equal(
            calls_preparing(timebase_ticks() - 1, TIMEBASE_WAIT_REHEARSE, &is_prepared), "");
        assert_false(is_prepared);
    }
    learnt->exact = was_exact;
}

/* Whether this thread was held up is not asserted; that the result says what was done is. */
static void a_rehearsal_comes_before_the_event_and_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++)
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            struct timebase_wait_result result;
            calls_of(200 * MICROSECOND, others[i] | TIMEBASE_WAIT_REHEARSE, &result);
            assert_true(strcmp(calls, "re") == 0 || (strcmp(calls, "e") == 0 && !result.prepared));
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

/* All lengths, each several times: the first ones are by the loop. */
static void delay_a_while(void *argument)
{
    static const uint64_t lengths_ns[] = {0, 30, 100, 200, 300, 400, 500, 700, 1000, 1500};
    enum { LENGTHS = sizeof(lengths_ns) / sizeof(lengths_ns[0]), TIMES = 6 };
    for (int i = 0; i < LENGTHS * TIMES; i++)
        timebase_delay_ns(the_waiter(), lengths_ns[i / TIMES], *(const unsigned *)argument, NULL);
    count++;
}

/* They are no waits, whatever becomes of them; else the wait around them would have nothing to tell. */
static void delays_in_the_function_leave_its_wait_alone(void **state)
{
    static const unsigned flags[] = {0, TIMEBASE_WAIT_PREPARE, TIMEBASE_WAIT_STEADY,
                                     TIMEBASE_WAIT_PLAIN};
    enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };
    const struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (!waiter->learnt.exact || waiter->ways.run == NULL || waiter->learnt.at_once_ticks == 0)
        skip();
    for (int i = 0; i < ATTEMPTS; i++) {
        struct timebase_wait_result result = {.target_ticks = 1};
        unsigned own = flags[i % FLAGS], more = i % 2 ? TIMEBASE_WAIT_REHEARSE : 0;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(i % 3 ? MILLISECOND : MICROSECOND);
        count = 0;
        int late = timebase_wait_call_ticks(the_waiter(), target, own | more, delay_a_while, &own,
                                            &result);
        assert_in_range(late, 0, 1);
        assert_true(result.target_ticks == target);
        assert_in_range(count, 1, more ? 2 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_there_is_time_there_is_one_rehearsal),
        cmocka_unit_test(delays_in_the_function_leave_its_wait_alone),
        cmocka_unit_test(where_there_is_none_nothing_is_rehearsed_nor_prepared),
        cmocka_unit_test(a_rehearsal_comes_before_the_event_and_is_told),
        cmocka_unit_test(without_the_flag_nothing_is_rehearsed),
        cmocka_unit_test(a_target_that_has_passed_is_not_rehearsed),
        cmocka_unit_test(a_wait_that_returns_has_nothing_to_rehearse),
        cmocka_unit_test(outside_of_waits_nobody_rehearses),
        cmocka_unit_test(a_function_that_uses_its_own_waiter_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
