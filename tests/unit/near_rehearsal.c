/* SPDX-License-Identifier: MIT */
/* What an exact wait at its call rehearses until its time comes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/near_rehearsal.h"
#include "timing/stages/rehearsal.h"
#include "near_exact.h"

/* Longer than anything holds this thread up: rehearsals end when a test says so. */
#define AHEAD_TICKS ((uint64_t)1 << 40)

/* Cycles of what an approach here believes to have executed; a tick is that of the waiter and a half. */
enum { RUN = 100, TAIL = 400, LATE = 1 };
#define CYCLE_TICKS (1.5 / CYCLE_OF_4)

static int runs, wanted, overdue, gap;
static uint64_t entered;

/* An approach that takes no time: by its stamp a cycle is longer than is known. */
static int approach_once(struct approach *approach)
{
    assert_true(approach->event == approach_event_none); /* it returns to the one that rehearses */
    assert_null(approach->behind);
    assert_int_equal(approach->never_early, 0);
    assert_int_equal(approach->even_least, INT32_MIN);
    assert_true((int64_t)(approach->target_ticks - timebase_ticks()) > -(int64_t)AHEAD_TICKS);
    approach->run = RUN;
    approach->sample_ticks = -(1000 << APPROACH_TICK_BITS);
    approach->event_ticks =
        approach->target_ticks - 1000 + (uint64_t)(int64_t)((TAIL + RUN) * CYCLE_TICKS);
    approach->overdue_cycles = overdue;
    approach->gap_ticks = (uint32_t)gap;
    approach->marker = 1;
    if (++runs == wanted)
        waiter.last.ticks = timebase_ticks(); /* there is no time for another */
    return 0;
}

/* A wait that has the time. */
static void begin_wait(approach_function *approach)
{
    waiter.ways.exact = approach;
    waiter.approach.event_ticks = waiter.exact_ticks = timebase_ticks();
    waiter.learnt.near_rehearsed = need(NEEDS);
    waiter.learnt.near_rehearsal_ticks = 200;
    waiter.last = (struct wait){.waiter = &waiter,
                                .ticks = timebase_ticks() + AHEAD_TICKS,
                                .entered_ticks = entered,
                                .is_near_exact = 1};
}

static void rehearse(int times, int is_cold)
{
    begin_wait(approach_once);
    waiter.last.is_cold = is_cold;
    runs = 0;
    wanted = times;
    near_rehearse(&waiter);
}

static void begin(void)
{
    begin_without_evidence();
    overdue = gap = 0;
    waiter.learnt.period_ns = 1e-6; /* or what holds this thread up by microseconds would be seen */
    entered = UINT64_MAX / 4; /* long after any reading: nothing was between */
    waiter.approach.another_cycles = 2 * RUN;
}

/* By a counter that steps, or by one that does not. */
static void begin_by(int stepped)
{
    begin();
    if (stepped)
        step();
}

static void as_long_as_there_is_time_for_another(void **state)
{
    (void)state;
    begin();
    rehearse(3, 0);
    assert_int_equal(runs, 3);
    assert_int_equal(waiter.last.near_rehearsals, 3);
    assert_true((int64_t)(waiter.last.near_rehearsed_ticks - waiter.last.ticks) >= 0);
}

static void there_may_be_none(void **state)
{
    (void)state;
    begin();
    waiter.ways.exact = approach_once;
    waiter.learnt.near_rehearsed = need(NEEDS);
    waiter.last = (struct wait){.waiter = &waiter, .ticks = timebase_ticks() + AHEAD_TICKS};
    runs = 0;
    near_rehearse(&waiter);
    assert_int_equal(runs, 0);
    assert_int_equal(waiter.last.near_rehearsals, 0);
}

/* Three that agree are believed at once. */
static void they_teach_how_long_a_cycle_is(void **state)
{
    (void)state;
    begin();
    rehearse(1, 0);
    assert_true(waiter.tempo.cycle_ticks > 1.0 / CYCLE_OF_4);
    rehearse(40, 0);
    double believed = waiter.tempo.cycle_ticks * (waiter.learnt.tail.cycles + RUN);
    double wrong = believed - (TAIL + RUN) * CYCLE_TICKS;
    assert_true(wrong < 1 && wrong > -1);
}

static int teaches_nothing(void)
{
    return waiter.tempo.cycle_ticks == 1.0 / CYCLE_OF_4 && waiter.tempo.count == 0;
}

static void the_first_two_by_cold_code_teach_nothing(void **state)
{
    (void)state;
    begin();
    rehearse(2, 1);
    assert_true(teaches_nothing());
    assert_true(waiter.last.is_cold);
    rehearse(3, 1);
    assert_int_equal(waiter.last.near_rehearsals, 3);
    assert_int_equal(waiter.tempo.count, 1);
    assert_false(waiter.last.is_cold);
}

static void one_that_was_disturbed_is_told_and_teaches_nothing(void **state)
{
    (void)state;
    begin();
    gap = 400000000; /* ticks */
    rehearse(1, 0);
    assert_true(teaches_nothing());
    assert_int_equal(waiter.last.disturbance, TIMEBASE_DISTURBED_GAP);
}

static void one_that_came_too_late_for_its_poll_teaches_nothing(void **state)
{
    (void)state;
    begin();
    overdue = LATE;
    rehearse(1, 0);
    assert_true(teaches_nothing());
    assert_int_equal(waiter.last.disturbance, 0);
}

/* Behind so long a gap, be it before the first one: what held this thread up. */
static void what_held_the_way_to_them_up_is_told(void **state)
{
    (void)state;
    begin();
    entered = timebase_ticks() - UINT64_C(4000000000);
    rehearse(1, 0);
    assert_int_equal(waiter.last.disturbance, TIMEBASE_DISTURBED_GAP);
}

static void note_call(void *argument)
{
    (void)argument;
}

/* As a call will come later behind its stamp by code that was cold just now. */
static int approach_a_reading(struct approach *approach)
{
    assert_true(approach->event == rehearsal_read);
    approach->event(approach->argument);
    approach->run = RUN;
    approach->sample_ticks = -((int64_t)1 << (APPROACH_TICK_BITS + 20));
    approach->marker = 1;
    waiter.last.ticks = timebase_ticks();
    return 0;
}

static void one_that_calls_afresh_learns_by_what_its_call_reads(void **state)
{
    (void)state;
    begin();
    begin_wait(approach_a_reading);
    waiter.last.is_afresh = 1;
    waiter.last.function = note_call;
    near_rehearse(&waiter);
    assert_int_equal(waiter.last.near_rehearsals, 1);
    assert_int_equal(waiter.tempo.count, 1); /* its stamp was never set */
}

static int agreeing;

/* All polls agree. */
static int approach_evenly(struct approach *approach)
{
    agreeing = approach->even_polls;
    approach->even_polls += 10;
    approach->polls = 10;
    return approach_once(approach);
}

/* Its stamp is as wide as the counter's step: what it would teach is known better. */
static void by_a_counter_that_steps_only_its_polls_teach(void **state)
{
    (void)state;
    begin_by(1);
    begin_wait(approach_evenly);
    waiter.last.is_cold = 1;
    runs = 0;
    wanted = 4;
    near_rehearse(&waiter);
    assert_true(teaches_nothing());
    assert_int_equal(agreeing, WAITER_EVEN_USUALLY + 10); /* before the last; the first two were cold */
    assert_int_equal(waiter.approach.even_polls, WAITER_EVEN_USUALLY + 20);
}

static int64_t begins_ahead;

static int approach_ahead(struct approach *approach)
{
    begins_ahead = (int64_t)(approach->target_ticks - timebase_ticks());
    return approach_once(approach);
}

static void by_a_counter_that_steps_it_has_time_for_more_polls(void **state)
{
    const double period = (double)(INT64_C(1) << 44); /* longer than anything holds this thread up */
    (void)state;
    for (int stepped = 0; stepped < 2; stepped++) {
        begin_by(stepped);
        begin_wait(approach_ahead);
        waiter.period.value = period;
        runs = 0;
        wanted = 1;
        waiter.last.ticks += INT64_C(1) << 50;
        near_rehearse(&waiter);
        double periods = (double)begins_ahead / period;
        assert_true(periods > (stepped ? 4.9 : 0.9) && periods < (stepped ? 6 : 2));
    }
}

static const void *foreseen[64];
static int foreseen_count;
static int64_t leaves_in;

static void note_foreseen(const void *code, void *argument)
{
    if (argument == &waiter.approach)
        leaves_in = (int64_t)(waiter.approach.leave_ticks - timebase_ticks());
    foreseen[foreseen_count++ % 64] = code;
}

static int was_foreseen(const void *code)
{
    int is_there = 0;
    for (int i = 0; i < foreseen_count; i++)
        is_there |= foreseen[i] == code;
    return is_there;
}

static void rehearse_afresh(int stepped)
{
    static const char run;
    begin_by(stepped);
    begin_wait(approach_once);
    waiter.last.is_afresh = 1;
    waiter.ways.foresee = note_foreseen;
    waiter.ways.runs[0] = waiter.ways.returning_runs[0] = &run;
    waiter.approach.leave_ticks = timebase_ticks() + AHEAD_TICKS;
    foreseen_count = runs = 0;
    wanted = 1;
    near_rehearse(&waiter);
    assert_int_equal(was_foreseen(&run), stepped);
}

/* Which it ends by if polls contradict each other, and no rehearsal does: as if its time had come. */
static void by_a_counter_that_steps_the_loop_is_foreseen(void **state)
{
    (void)state;
    for (int stepped = 0; stepped < 2; stepped++) {
        rehearse_afresh(stepped);
        assert_int_equal(was_foreseen((const void *)(uintptr_t)approach_poll), stepped);
    }
    assert_true(leaves_in < 0);
}

static int ends_by_loop[8];

static int approach_to_either_end(struct approach *approach)
{
    ends_by_loop[runs] = approach->even_least == INT32_MAX;
    assert_true(ends_by_loop[runs] || approach->even_least == INT32_MIN);
    if (ends_by_loop[runs])
        assert_true((int64_t)(approach->leave_ticks - approach->target_ticks) > -(int64_t)AHEAD_TICKS);
    approach->marker = 1;
    if (++runs == wanted)
        waiter.last.ticks = timebase_ticks();
    return 0;
}

/* A call by the loop, as its code is foreseen by nothing. */
static void by_a_counter_that_steps_the_second_call_by_cold_code_is_by_the_loop(void **state)
{
    (void)state;
    for (int stepped = 0; stepped < 2; stepped++) {
        begin_by(stepped);
        begin_wait(approach_to_either_end);
        waiter.approach.leave_ticks = waiter_long_before(timebase_ticks());
        waiter.last.is_afresh = waiter.last.is_cold = 1;
        waiter.last.function = note_call;
        runs = 0;
        wanted = 4;
        near_rehearse(&waiter);
        for (int i = 0; i < wanted; i++)
            assert_int_equal(ends_by_loop[i], stepped && i == 1);
    }
}

/* By cold code the first one takes four times as long, the second one twice. */
static void cold_ones_need_more_time(void **state)
{
    (void)state;
    for (int is_cold = 0; is_cold < 2; is_cold++) {
        begin();
        waiter.ways.exact = approach_once;
        waiter.learnt.near_rehearsed = need(0);
        waiter.learnt.near_rehearsal_ticks = (double)AHEAD_TICKS / 3;
        waiter.last = (struct wait){
            .waiter = &waiter, .ticks = timebase_ticks() + AHEAD_TICKS, .is_cold = is_cold};
        runs = 0;
        wanted = 1;
        near_rehearse(&waiter);
        assert_int_equal(runs, !is_cold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_long_as_there_is_time_for_another),
        cmocka_unit_test(there_may_be_none),
        cmocka_unit_test(they_teach_how_long_a_cycle_is),
        cmocka_unit_test(the_first_two_by_cold_code_teach_nothing),
        cmocka_unit_test(one_that_was_disturbed_is_told_and_teaches_nothing),
        cmocka_unit_test(one_that_came_too_late_for_its_poll_teaches_nothing),
        cmocka_unit_test(what_held_the_way_to_them_up_is_told),
        cmocka_unit_test(one_that_calls_afresh_learns_by_what_its_call_reads),
        cmocka_unit_test(by_a_counter_that_steps_only_its_polls_teach),
        cmocka_unit_test(by_a_counter_that_steps_it_has_time_for_more_polls),
        cmocka_unit_test(by_a_counter_that_steps_the_loop_is_foreseen),
        cmocka_unit_test(by_a_counter_that_steps_the_second_call_by_cold_code_is_by_the_loop),
        cmocka_unit_test(cold_ones_need_more_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
