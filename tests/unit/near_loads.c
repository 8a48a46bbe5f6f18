/* SPDX-License-Identifier: MIT */
/* An exact wait at its call that no other was soon before, and that loads its code first. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "near_exact.h"

/* A tick of the counter is so little that nothing holds a test up for long. In nanoseconds: */
enum { LITTLE = 1000000000, LOADING = 80, MORE = 90, LEAST = NEEDS + LOADING + MORE };

static int64_t scaled(int64_t ns)
{
    return ns * LITTLE;
}

/* Others' code was executed since; one that is asked for just now. */
static struct hurried begin(int64_t left_ns)
{
    uint64_t now = timebase_ticks_ordered();
    begin_without_evidence();
    waiter.learnt.period_ns = 1.0 / LITTLE;
    waiter.approach.event_ticks = waiter.hurried_ticks = waiter.exact_ticks = now - 2 * HOT;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        waiter.learnt.near_exact_needs[way] = need((double)scaled(NEEDS));
    waiter.learnt.afresh_need.ticks = APPROACH_FARTHEST;
    waiter.learnt.load_least_ticks = scaled(LEAST);
    waiter.learnt.near_exact_ticks = INT64_MAX;
    waiter.ways.exact = approach_poll;
    for (int run = 0; run < APPROACH_RUNS; run++)
        waiter.ways.runs[run] = waiter.ways.returning_runs[run] = (const void *)approach_poll;
    calibrated_here(&waiter);
    struct hurried asked = asked_for(0);
    asked.entered_ticks = now;
    asked.ticks = now + (uint64_t)scaled(left_ns);
    return asked;
}

/* From there on it needs what others do. */
static void it_is_entered_when_all_is_there(void **state)
{
    (void)state;
    struct hurried asked = begin(LEAST + 1);
    uint64_t called = asked.entered_ticks -= 10;
    assert_true(near_exact_is_due(&asked));
    assert_true((int64_t)(asked.entered_ticks - called) >= 10);
    assert_false(asked.is_afresh);
    asked = begin(LEAST - 1);
    called = asked.entered_ticks;
    assert_false(near_exact_is_due(&asked));
    assert_true(asked.entered_ticks == called);
}

static void note_nothing(void *argument)
{
    (void)argument;
}

static int loads_for(int64_t left_ns, void (*function)(void *), struct timebase_wait_result *result)
{
    struct hurried asked = begin(left_ns);
    waiter.learnt.near_exact_needs[EVENT_CALLED] = need((double)scaled(2 * NEEDS));
    waiter.learnt.near_exact_needs[EVENT_TELLS] = need((double)scaled(3 * NEEDS));
    asked.function = function;
    asked.result = result;
    int is_due = near_exact_is_due(&asked);
    assert_int_equal(asked.is_afresh, is_due && function != NULL); /* it rehearses its call */
    return is_due;
}

static void each_way_has_its_need(void **state)
{
    enum { TELLING = 190 };
    struct timebase_wait_result result;
    (void)state;
    assert_true(loads_for(LEAST + 1, NULL, NULL));
    assert_false(loads_for(LEAST + NEEDS - 1, note_nothing, NULL));
    assert_true(loads_for(LEAST + NEEDS + 1, note_nothing, NULL));
    assert_true(loads_for(LEAST + NEEDS + 1, note_nothing, &result));
    assert_false(loads_for(LEAST + 2 * NEEDS + TELLING - 1, NULL, &result));
    assert_true(loads_for(LEAST + 2 * NEEDS + TELLING + 1, NULL, &result));
}

/* From the call to where it would load it was so long. */
static struct hurried begin_late(int64_t way_in_ns, int64_t left_ns)
{
    struct hurried asked = begin(left_ns);
    asked.entered_ticks -= (uint64_t)scaled(way_in_ns);
    waiter.approach.event_ticks = waiter.hurried_ticks = asked.entered_ticks - 2 * HOT;
    return asked;
}

enum { FAR = 3 * LOADING + 10 };

static void where_its_way_in_was_far_the_loop_has_turns(void **state)
{
    (void)state;
    struct hurried asked = begin_late(FAR, NEEDS + MORE + FAR - 1);
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 1);
    struct caution known = waiter.far_code;
    asked = begin(LEAST + 1);
    waiter.far_code = known;
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 0);
    waiter.far_code.turns = 64;
    assert_true(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.turns, 63); /* it went well */
}

/* It is to take as long to load. */
static void its_way_in_says_how_much_time_it_needs(void **state)
{
    (void)state;
    struct hurried asked = begin_late(FAR, NEEDS + MORE + FAR + 1);
    assert_true(near_exact_is_due(&asked));
    asked = begin_late(LOADING / 2, LEAST - 1);
    assert_false(near_exact_is_due(&asked));
    asked = begin_late(LOADING / 2, LEAST + 1);
    assert_true(near_exact_is_due(&asked));
    asked = begin_late(2 * LOADING, LEAST + LOADING - 1);
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 0); /* that was near enough, and so will be others */
    asked = begin_late(2 * LOADING, LEAST + LOADING + 1);
    assert_true(near_exact_is_due(&asked));
}

/* ---- a line that comes from far away --------------------------------------------------------- */

enum { SPARE = 10000000, TAKES = 2 * SPARE }; /* ticks */

static void *far_page;

static void let_it_come(int number)
{
    uint64_t from = timebase_ticks();
    (void)number;
    mprotect(far_page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
    while (timebase_ticks() - from < TAKES)
        ;
}

/* What its way in did not say: a line takes longer than there is time for. */
static void what_took_too_long_to_load_is_none(void **state)
{
    const struct sigaction comes = {.sa_handler = let_it_come};
    struct sigaction known;
    (void)state;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    far_page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hurried asked = begin(0);
    waiter.learnt.period_ns = 1;
    waiter.learnt.load_least_ticks = 0;
    waiter.learnt.near_exact_needs[EVENT_RETURNS] = need(NEEDS);
    waiter.ways.runs[0] = waiter.ways.returning_runs[0] = far_page;
    asked.ticks = asked.entered_ticks + NEEDS + MORE + SPARE;
    sigaction(SIGSEGV, &comes, &known);
    int is_due = near_exact_is_due(&asked);
    sigaction(SIGSEGV, &known, NULL);
    munmap(far_page, size);
    assert_false(is_due);
    assert_int_equal(waiter.far_code.left, 1);
}

/* ---------------------------------------------------------------------------------------------- */

/* That says nothing of how far its code is. */
static void it_is_not_for_what_others_do(void **state)
{
    (void)state;
    for (unsigned flag = 1; flag < WAITER_FLAGS; flag *= 2) {
        struct hurried asked = begin(LEAST + 1);
        asked.flags = flag;
        assert_int_equal(near_exact_is_due(&asked), flag == TIMEBASE_WAIT_STEADY);
        assert_int_equal(waiter.far_code.left, 0);
    }
    struct hurried asked = begin(LEAST + 1);
    waiter.cpu++; /* it was calibrated on another one */
    assert_false(near_exact_is_due(&asked));
    asked = begin(LEAST + 1);
    waiter.choice.error_ticks[CHOICE_EXACT][0] = 30; /* the loop is better */
    assert_false(near_exact_is_due(&asked));
    asked = begin(LEAST + 1);
    asked.frame = NULL; /* it would return by way of its callers */
    assert_false(near_exact_is_due(&asked));
    assert_int_equal(waiter.far_code.left, 0);
}

/* What is farther ahead, and has enough, rehearses until its time comes. */
static void with_time_for_rehearsals_it_is_one_afresh(void **state)
{
    (void)state;
    struct hurried asked = begin(LEAST + 1);
    waiter.learnt.afresh_need.ticks = (double)scaled(LEAST);
    waiter.learnt.cold_ticks = INT64_MAX;
    uint64_t called = asked.entered_ticks;
    assert_true(near_exact_is_due(&asked));
    assert_true(asked.is_afresh);
    assert_true(asked.entered_ticks == called);
}

static void a_calibration_says_whether_there_are_any(void **state)
{
    (void)state;
    begin(0);
    near_exact_init(&waiter);
    assert_true(waiter.learnt.load_least_ticks < INT64_MAX / 2);
    assert_true(waiter.learnt.load_least_ticks > scaled(LOADING));
    step();
    near_exact_init(&waiter);
    assert_true(waiter.learnt.load_least_ticks == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_entered_when_all_is_there),
        cmocka_unit_test(each_way_has_its_need),
        cmocka_unit_test(where_its_way_in_was_far_the_loop_has_turns),
        cmocka_unit_test(its_way_in_says_how_much_time_it_needs),
        cmocka_unit_test(what_took_too_long_to_load_is_none),
        cmocka_unit_test(it_is_not_for_what_others_do),
        cmocka_unit_test(with_time_for_rehearsals_it_is_one_afresh),
        cmocka_unit_test(a_calibration_says_whether_there_are_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
