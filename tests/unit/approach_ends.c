/* SPDX-License-Identifier: MIT */
/* How an exact approach ends: by a run, or by the loop where its polls contradicted each other. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "approaches.h"
#include "timing/approach/evidence.h"

enum { APPROACHES = 300, LOOP_AT = 400 }; /* the loop ends so many ticks after the target */

#if defined(__x86_64__)

static struct approach a;
static int events;

static void note(void *argument)
{
    ++*(int *)argument;
}

/* The approaches that look at what their polls say together: all but the loop. */
static const struct named_approach *next_exact(const struct named_approach *before)
{
    const struct named_approach *named = next_approach(before);
    return named != NULL && named->approach == approach_poll ? next_approach(named) : named;
}

/* No two polls are as far apart as this says. */
static void contradict(struct approach *approach)
{
    approach->earliest_ticks = approach->latest_ticks = INT64_C(1) << (20 + APPROACH_TICK_BITS);
}

static void prepare(int64_t ahead_ticks, int32_t even_polls, int32_t even_least)
{
    prepare_approach(&a, ahead_ticks, note, &events);
    a.leave_ticks = a.target_ticks + LOOP_AT;
    a.even_polls = even_polls;
    a.even_least = even_least;
    events = 0;
}

static void one_that_contradicts_the_others_begins_the_count_anew(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++) {
            prepare(2000, 1000, INT32_MIN);
            contradict(&a);
            named->approach(&a);
            assert_int_equal(a.even_polls, a.polls > 1 ? 0 : 1001);
            assert_int_equal(events, 1);
            assert_true(a.run != APPROACH_NO_RUN);
        }
}

static void after_too_few_that_agree_the_loop_is_the_end(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++) {
            prepare(1000 + i * 7, 0, INT32_MAX);
            a.loop_cycles = 0; /* there is always the time */
            a.marker = 99;
            named->approach(&a);
            assert_int_equal(events, 1);
            assert_true(a.run == APPROACH_NO_RUN);
            assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
            assert_int_equal(a.marker, evidence_marker());
            assert_true(evidence_rseq_marker(a.rseq) == 0);
        }
}

static void with_enough_of_them_a_run_is(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++) {
            prepare(1000 + i * 7, 50, 51);
            named->approach(&a);
            assert_int_equal(events, 1);
            assert_true(a.run <= APPROACH_LONGEST_RUN);
        }
}

/* Else it would begin too late. */
static void where_there_is_no_time_for_the_loop_a_run_is(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++) {
            prepare(1000, 0, INT32_MAX);
            a.loop_cycles = APPROACH_FARTHEST;
            named->approach(&a);
            assert_true(a.run <= APPROACH_LONGEST_RUN);
        }
}

static void the_loop_says_whether_it_was_over_when_it_began(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_exact(named)) != NULL)
        for (int late = 0; late < 2; late++) {
            prepare(1000, 0, INT32_MAX);
            a.loop_cycles = 0;
            a.leave_ticks = a.target_ticks + (late ? -1000 : INT64_C(1000000));
            named->approach(&a);
            assert_true(a.run == APPROACH_NO_RUN);
            assert_int_equal(a.overdue_cycles > a.late_cycles, late);
        }
}

static approach_function *the_loop;

/* The end takes the evidence: its marks are as they were. */
static int note_end(struct approach *approach)
{
    assert_ptr_equal(approach, &a);
    assert_true(evidence_rseq_marker(a.rseq) == MARK);
    assert_true(a.run == APPROACH_NO_RUN);
    assert_true(a.polls > 0);
    assert_true(a.gap_ticks > 0 || a.polls == 1);
    return 5;
}

static int end_behind(void *exact, uint64_t ticks, uint64_t nothing, void *null, void *frame)
{
    const struct named_approach *named = (const struct named_approach *)exact;
    (void)nothing, (void)null;
    prepare(1000, 0, INT32_MAX);
    a.loop_cycles = 0;
    a.marker = 99;
    a.frame = frame;
    a.event = approach_event_none;
    a.behind = the_loop;
    a.leave_ticks = a.target_ticks + ticks;
    approach_end_behind(&a, named->approach);
    return APPROACH_ENDS_BEHIND;
}

static int wait_that_ends_by_loop(const struct named_approach *named, int64_t ticks)
{
    return approach_from((void *)(uintptr_t)named, (uint64_t)ticks, 0, NULL, end_behind);
}

static void one_behind_a_wait_ends_by_the_loop_too(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    the_loop = approach_poll_bare;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++) {
            int late = i % 2;
            assert_int_equal(wait_that_ends_by_loop(named, late ? -1000 : 1000000), late);
            assert_int_equal(events, 0);
            assert_true(a.run == APPROACH_NO_RUN);
            assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
            assert_true((int64_t)(timebase_ticks_ordered() - a.event_ticks) >= 0);
            assert_int_equal(a.marker, evidence_marker());
            assert_true(evidence_rseq_marker(a.rseq) == 0);
            assert_true(a.polls > 0);
        }
}

static void another_loop_is_as_good(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    the_loop = note_end;
    while ((named = next_exact(named)) != NULL)
        for (int i = 0; i < APPROACHES; i++)
            assert_int_equal(wait_that_ends_by_loop(named, 1000000), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_contradicts_the_others_begins_the_count_anew),
        cmocka_unit_test(after_too_few_that_agree_the_loop_is_the_end),
        cmocka_unit_test(with_enough_of_them_a_run_is),
        cmocka_unit_test(where_there_is_no_time_for_the_loop_a_run_is),
        cmocka_unit_test(the_loop_says_whether_it_was_over_when_it_began),
        cmocka_unit_test(one_behind_a_wait_ends_by_the_loop_too),
        cmocka_unit_test(another_loop_is_as_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* Their ways into the run are not hidden, and nothing is asked of their polls together. */
int main(void)
{
    return 77;
}

#endif
