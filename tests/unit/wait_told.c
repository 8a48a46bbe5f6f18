/* SPDX-License-Identifier: MIT */
/*
 * A result is written before the event, as it is expected to be. What is told of a wait is what is
 * counted of it later, whatever has come between; here it is made up, behind a wait that was
 * undisturbed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "timing/stages/result.h"
#include "waiting.h"

static struct dice dice;

/* A wait that is over, in time, with nothing that disturbed it; to be told again. */
static struct waiter *undisturbed(struct timebase_wait_result *result)
{
    struct waiter *waiter = waiter_within(the_waiter());
    struct approach *a = &waiter->approach;
    timebase_wait_until_ticks(the_waiter(), timebase_ticks() + (uint64_t)ticks_of(3000), 0, result);
    description_of(the_waiter()); /* it is counted */
    waiter->last.result = result;
    waiter->last.exact = waiter->last.is_unsteady = waiter->last.ended_by_loop = 0;
    waiter->unsettled = LEFT_TO_COUNT;
    a->marker = 1;
    a->rseq_marker = waiter->evidence.rseq_mark;
    a->rseq_cpu = waiter->evidence.cpu_before = (uint32_t)waiter->last.cpu;
    a->gap_ticks = 0;
    a->width_ticks = 0;
    a->run = 1;
    a->overdue_cycles = a->late_cycles;
    result_expect(&waiter->last);
    return waiter;
}

static void tell(struct waiter *waiter)
{
    uint64_t disturbed = waiter->disturbed, late = waiter->late;
    const struct timebase_wait_result *result = waiter->last.result;
    result_tell(&waiter->approach);
    description_of(the_waiter());
    assert_int_equal(result->disturbance, waiter->disturbance);
    assert_int_equal(waiter->disturbed - disturbed, result->disturbance != 0);
    assert_int_equal(waiter->late - late, result->late);
}

static void what_was_expected_is_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    tell(waiter);
    assert_int_equal(result.disturbance, 0);
    assert_int_equal(result.late, 0);
    assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
    assert_int_equal(result.event_ticks, waiter->approach.event_ticks);
}

static void an_interrupt_is_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    if (!waiter->evidence.marks_es)
        skip();
    waiter->approach.marker = 0;
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_INTERRUPT);
}

static void preemption_and_migration_are_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    if (waiter->evidence.rseq_mark == 0)
        skip();
    waiter->approach.rseq_marker = 0;
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_PREEMPTED);

    waiter = undisturbed(&result);
    waiter->approach.rseq_cpu++;
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_MIGRATED);

    waiter = undisturbed(&result);
    waiter->last.cpu++; /* moved before the approach began */
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_MIGRATED);
}

static void a_gap_between_polls_is_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    waiter->approach.gap_ticks = (uint32_t)ticks_of(400);
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_GAP);
}

static void a_late_wait_is_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    waiter->approach.overdue_cycles = waiter->approach.late_cycles + 1;
    tell(waiter);
    assert_int_equal(result.late, 1);
    assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_NONE);
}

/* An exact one: readings that contradict each other, and the loop instead of a run. */
static void how_an_exact_wait_ended_is_told(void **state)
{
    struct timebase_wait_result result;
    struct waiter *waiter = undisturbed(&result);
    (void)state;
    waiter->last.exact = 1;
    waiter->approach.width_ticks = -3 * (1 << APPROACH_TICK_BITS);
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_UNEVEN);
    assert_int_equal(result.mechanism, waiter->ways.mechanism);

    waiter = undisturbed(&result);
    waiter->last.exact = 1;
    result_expect(&waiter->last);
    waiter->approach.run = APPROACH_NO_RUN;
    tell(waiter);
    assert_int_equal(result.disturbance, TIMEBASE_DISTURBED_SHARED);
    assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
}

/* Real ones, whatever disturbs them. */
static void each_wait_is_counted_as_it_was_told(void **state)
{
    enum { WAITS = 2000 };
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of((int64_t)dice_below(&dice, 8000));
        uint64_t waits = waiter->waits, late = waiter->late, disturbed = waiter->disturbed;
        unsigned flags = i % 4 == 0 ? TIMEBASE_WAIT_PLAIN : 0;
        timebase_wait_until_ticks(the_waiter(), target, flags, &result);
        description_of(the_waiter());
        if (waiter->waits != waits + 1)
            continue; /* it calibrated itself, and described itself first */
        assert_int_equal(result.disturbance != 0, waiter->disturbed - disturbed);
        if (waiter->hurried_ticks != target)
            assert_int_equal(result.disturbance, waiter->disturbance);
        assert_int_equal(result.late, waiter->late - late);
        assert_int_equal(result.target_ticks, target);
    }
}

/* By the loop, which there is everywhere. So wrong that nothing else can be the reason. */
static void rehearsals_tell_how_long_it_takes(void **state)
{
    enum { WAITS = 200, AHEAD_NS = 20000, WRONG_TICKS = 2000, ENOUGH = 1000, LEARNT_TICKS = 100 };
    struct waiter *waiter = waiter_within(the_waiter());
    double *takes = waiter->learnt.exit_ticks[0], known = takes[EVENT_TELLS];
    double other = takes[EVENT_RETURNS];
    unsigned before = waiter->rehearsals;
    int calibrations = waiter->calibrations;
    (void)state;
    takes[EVENT_TELLS] += WRONG_TICKS;
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(AHEAD_NS);
        timebase_wait_until_ticks(the_waiter(), target, TIMEBASE_WAIT_PLAIN, &result);
    }
    double found = takes[EVENT_TELLS];
    takes[EVENT_TELLS] = known;
    if (waiter->rehearsals - before < ENOUGH || waiter->calibrations != calibrations)
        skip(); /* a slow machine; or the thread has moved */
    assert_true(found < known + WRONG_TICKS - LEARNT_TICKS);
    assert_true(takes[EVENT_RETURNS] == other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_expected_is_told),
        cmocka_unit_test(an_interrupt_is_told),
        cmocka_unit_test(preemption_and_migration_are_told),
        cmocka_unit_test(a_gap_between_polls_is_told),
        cmocka_unit_test(a_late_wait_is_told),
        cmocka_unit_test(how_an_exact_wait_ended_is_told),
        cmocka_unit_test(each_wait_is_counted_as_it_was_told),
        cmocka_unit_test(rehearsals_tell_how_long_it_takes),
    };
    stay_on_this_cpu();
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
