/* SPDX-License-Identifier: MIT */
/* The polling loop beside an exact approach: what it finds, and what it brings near before its end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "approaches.h"
#include "timing/approach/evidence.h"

static struct approach a;
static int events;

static void note(void *argument)
{
    (void)argument;
    events++;
}

static int fetched;

static void note_fetching(struct approach *approach)
{
    assert_ptr_equal(approach, &a);
    fetched++;
}

/* It adds to what came before it, which is an exact approach's. */
static void one_that_polls_on_takes_evidence_and_calls_nobody(void **state)
{
    (void)state;
    for (int32_t gap = 0; gap < 2; gap++) {
        prepare_approach(&a, 100000, note, NULL);
        a.gap_ticks = gap ? 1 << 30 : 0;
        a.run = APPROACH_NO_RUN;
        a.marker = 99;
        events = 0;
        approach_poll_on(&a, note_fetching);
        assert_int_equal(events, 0);
        assert_true(a.run == APPROACH_NO_RUN);
        assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
        int was_in_time = a.overdue_cycles <= a.late_cycles; /* else it did not poll */
        assert_true(a.gap_ticks >= (gap ? 1u << 30 : (unsigned)was_in_time));
        assert_int_equal(a.marker, evidence_marker());
        assert_true(a.rseq_marker == MARK);
        assert_true(evidence_rseq_marker(a.rseq) == 0);
    }
}

/* For the last time some 2000 ticks before the end, and until then every 1000. */
enum { NEAR_TICKS = 1000, FAR_TICKS = 1000000 };

static void what_follows_a_loop_is_fetched_where_there_is_time(void **state)
{
    (void)state;
    fetched = 0;
    prepare_approach(&a, NEAR_TICKS / 2, note, NULL);
    approach_poll_on(&a, note_fetching);
    assert_int_equal(fetched, 0);
    for (int tries = 0; fetched < 2 && tries < 1000; tries++) {
        fetched = 0;
        prepare_approach(&a, FAR_TICKS, note, NULL);
        approach_poll_on(&a, note_fetching);
        assert_true(fetched <= FAR_TICKS / NEAR_TICKS);
    }
    assert_true(fetched >= 2); /* one of them was not held up */
}

static void note_event_foreseen(const void *code, void *argument)
{
    assert_ptr_equal(code, (const void *)(uintptr_t)note);
    assert_ptr_equal(argument, a.argument);
    fetched++;
}

static void the_event_of_a_loop_is_foreseen(void **state)
{
    (void)state;
    fetched = 0;
    for (int tries = 0; fetched == 0 && tries < 1000; tries++) {
        prepare_approach(&a, FAR_TICKS, note, NULL);
        a.foresee = note_event_foreseen;
        approach_poll(&a);
    }
    a.foresee = NULL;
    assert_true(fetched > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_polls_on_takes_evidence_and_calls_nobody),
        cmocka_unit_test(what_follows_a_loop_is_fetched_where_there_is_time),
        cmocka_unit_test(the_event_of_a_loop_is_foreseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
