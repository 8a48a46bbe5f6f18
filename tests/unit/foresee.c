/* SPDX-License-Identifier: MIT */
/* Code that is foreseen is not executed: nothing of it can be seen but time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/approach/approach.h"
#include "timing/stages/foresight.h"
#include "timing/stages/result.h"

enum { TIMES = 100000 };

static struct approach_ways ways;
static volatile int executed;

static void note(void *argument)
{
    executed++;
    *(volatile int *)argument = 1;
}

static void nothing_of_it_happens(void **state)
{
    int touched = 0;
    (void)state;
    if (ways.foresee == NULL)
        skip();
    for (int i = 0; i < TIMES; i++)
        ways.foresee((const void *)(uintptr_t)note, &touched);
    assert_int_equal(executed, 0);
    assert_int_equal(touched, 0);
}

static int foresee_and_go_on(void *times, uint64_t b, uint64_t c, void *d, void *frame)
{
    (void)b, (void)c, (void)d;
    for (int i = 0; i < *(const int *)times; i++)
        ways.foresee_return(frame);
    executed++;
    return TIMEBASE_E_INVALID;
}

static void nor_does_a_return(void **state)
{
    int times = TIMES;
    (void)state;
    if (ways.foresee_return == NULL)
        skip();
    executed = 0;
    assert_int_equal(approach_from(&times, 0, 0, NULL, foresee_and_go_on), TIMEBASE_E_INVALID);
    assert_int_equal(executed, 1);
    executed = 0;
}

static __attribute__((noinline)) int call_within(int calls)
{
    if (calls > 0)
        return call_within(calls - 1) + 1;
    ways.forget_returns();
    return 0;
}

/* Only the core's own notes of them. */
static void returns_that_it_forgets_go_where_they_should(void **state)
{
    enum { MANY = 40 };
    (void)state;
    if (ways.forget_returns == NULL)
        skip();
    assert_int_equal(call_within(MANY), MANY);
}

/* Where there is no such page, as little. */
static void there_need_be_no_code(void **state)
{
    (void)state;
    if (ways.foresee == NULL)
        skip();
    for (uintptr_t page = 0; page < 16; page++)
        ways.foresee((const void *)(page << 12), NULL);
}

#if defined(__x86_64__)
/* The links of a run: multiplications with an idle prefix, so that none lies across two lines. */
static void it_is_runs_that_are_foreseen(void **state)
{
    static const unsigned char link[] = {0x3e, 0x0f, 0xaf, 0xd2};
    (void)state;
    for (int i = 0; i < APPROACH_RUNS; i++) {
        assert_memory_equal(ways.runs[i], link, sizeof(link));
        assert_memory_equal(ways.returning_runs[i], link, sizeof(link));
        assert_ptr_not_equal(ways.runs[i], ways.returning_runs[i]);
    }
}
#endif

static const void *foreseen[8];
static int foreseen_count;

static void note_foresight(const void *code, void *argument)
{
    (void)argument;
    foreseen[foreseen_count++] = code;
}

static void note_foresight_of_return(const void *frame)
{
    foreseen[foreseen_count++] = frame;
}

static struct waiter waiter_that_notes(void)
{
    return (struct waiter){.ways = {.foresee = note_foresight,
                                    .foresee_return = note_foresight_of_return}};
}

static void it_is_the_function_or_the_return_that_is_foreseen(void **state)
{
    struct waiter waiter = waiter_that_notes();
    struct wait wait = {.waiter = &waiter, .function = note};
    (void)state;
    foreseen_count = 0;
    foresight_event(&wait);
    assert_int_equal(foreseen_count, 1);
    assert_ptr_equal(foreseen[0], (const void *)(uintptr_t)note);
    wait.function = NULL;
    foresight_event(&wait);
    assert_int_equal(foreseen_count, 1); /* it ends within */
    wait.frame = &wait;
    foresight_event(&wait);
    assert_int_equal(foreseen_count, 2);
    assert_ptr_equal(foreseen[1], &wait);
}

static void what_tells_is_foreseen_with_the_return(void **state)
{
    struct timebase_wait_result result;
    struct waiter waiter = waiter_that_notes();
    struct wait wait = {.waiter = &waiter, .frame = &waiter, .result = &result};
    (void)state;
    foreseen_count = 0;
    foresight_event(&wait);
    assert_int_equal(foreseen_count, 2);
    assert_ptr_equal(foreseen[0], &waiter);
    assert_ptr_equal(foreseen[1], (const void *)(uintptr_t)result_tell);
}

static void runs_are_of_the_event(void **state)
{
    struct waiter waiter = {.ways = ways};
    (void)state;
    waiter.ways.foresee = note_foresight;
    foreseen_count = 0;
    foresight_runs(&waiter, EVENT_CALLED);
    foresight_runs(&waiter, EVENT_RETURNS);
    assert_int_equal(foreseen_count, 2 * APPROACH_RUNS);
    assert_memory_equal(foreseen, ways.runs, sizeof(ways.runs));
    assert_memory_equal(foreseen + APPROACH_RUNS, ways.returning_runs, sizeof(ways.returning_runs));
}

static int poll_bare(struct approach *approach)
{
    (void)approach;
    return 0;
}

/* What an exact wait that returns ends by where polls contradict each other; as if its time had come. */
static void the_loop_is_foreseen_where_there_is_one(void **state)
{
    struct waiter waiter = waiter_that_notes();
    (void)state;
    foreseen_count = 0;
    waiter.approach.leave_ticks = timebase_ticks() + ((uint64_t)1 << 40);
    foresight_loop(&waiter);
    assert_int_equal(foreseen_count, 0);
    waiter.ways.poll_bare = poll_bare;
    foresight_loop(&waiter);
    assert_int_equal(foreseen_count, 1);
    assert_ptr_equal(foreseen[0], (const void *)(uintptr_t)poll_bare);
    assert_true((int64_t)(waiter.approach.leave_ticks - timebase_ticks()) < 0);
}

static void none_is_asked_for_where_it_is_not_possible(void **state)
{
    struct waiter waiter = {.ways.foresee = NULL};
    struct wait wait = {.waiter = &waiter, .function = note};
    (void)state;
    foresight_event(&wait);
    foresight_loop(&waiter);
    wait = (struct wait){.waiter = &waiter, .frame = &wait};
    foresight_event(&wait);
    foresight_runs(&waiter, EVENT_CALLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_it_happens),
        cmocka_unit_test(nor_does_a_return),
        cmocka_unit_test(returns_that_it_forgets_go_where_they_should),
        cmocka_unit_test(there_need_be_no_code),
#if defined(__x86_64__)
        cmocka_unit_test(it_is_runs_that_are_foreseen),
#endif
        cmocka_unit_test(it_is_the_function_or_the_return_that_is_foreseen),
        cmocka_unit_test(what_tells_is_foreseen_with_the_return),
        cmocka_unit_test(runs_are_of_the_event),
        cmocka_unit_test(the_loop_is_foreseen_where_there_is_one),
        cmocka_unit_test(none_is_asked_for_where_it_is_not_possible),
    };
    ways = approach_ways();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
