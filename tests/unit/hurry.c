/* SPDX-License-Identifier: MIT */
/* A wait after a pause: when it hurries, what is learnt of it, and that it is a wait like any
 * other. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include "timing/hurry/hurry.h"
#include "timing/stages/outcome.h"
#include "timing/stages/stages.h"
#include "waiting.h"

/* ---- when ---------------------------------------------------------------------------------- */

enum { PAUSE = 10000, HOT = 100, COLD = 5000 };

static struct waiter waiter_with_limits(void)
{
    struct waiter waiter = {.learnt.period_ns = 1};
    waiter.learnt.pause_ticks = PAUSE;
    waiter.learnt.hot_ticks = HOT;
    waiter.learnt.cold_ticks = COLD;
    waiter.approach.event_ticks = UINT64_MAX - 10; /* the counter wraps meanwhile */
    waiter.hurried_ticks = waiter.approach.event_ticks;
    return waiter;
}

static int is_due(const struct waiter *waiter, uint64_t since_event, int64_t left)
{
    uint64_t now = waiter->approach.event_ticks + since_event;
    return hurry_is_due(waiter, now, now + (uint64_t)left, 0);
}

static int hurries(uint64_t since_event, int64_t left)
{
    struct waiter waiter = waiter_with_limits();
    return is_due(&waiter, since_event, left);
}

static void it_is_due_after_a_pause_and_where_the_target_is_near(void **state)
{
    (void)state;
    assert_true(hurries(PAUSE + 1, COLD - 1));
    assert_true(hurries(PAUSE + 1, -5000));
    assert_false(hurries(PAUSE + 1, COLD));
    assert_false(hurries(PAUSE, COLD - 1));
}

static void nothing_is_due_before_a_calibration_is_complete(void **state)
{
    static struct waiter waiter;
    (void)state;
    assert_false(hurry_is_due(&waiter, 5000, 4000, 0));
}

/* Others' code has driven it out of some caches, and the last waits that it happened to were late. */
static void it_is_due_by_cold_code_that_has_been_late(void **state)
{
    struct waiter waiter = waiter_with_limits();
    (void)state;
    assert_false(is_due(&waiter, HOT + 1, 0));
    waiter.learnt.cold_near_ticks = WAITER_COLD_NS;
    caution_went_wrong(&waiter.far_stages, 8, 8);
    assert_true(is_due(&waiter, HOT + 1, WAITER_COLD_NS - 1));
    assert_false(is_due(&waiter, HOT + 1, WAITER_COLD_NS));
    assert_false(is_due(&waiter, HOT, 0));
}

/* ---- near targets, whatever is cold --------------------------------------------------------- */

enum { NO_REHEARSAL = 900, NEEDS = 300, NEEDS_LEARNING = 500, NEEDS_COLD = 600 };

/* The last event was just now. */
static int near_is_due(struct waiter *waiter, int64_t left, unsigned flags)
{
    uint64_t now = waiter->approach.event_ticks;
    return hurry_is_due(waiter, now, now + (uint64_t)left, flags);
}

static struct waiter waiter_with_near_targets(void)
{
    struct waiter waiter = waiter_with_limits();
    waiter.learnt.no_rehearsal_ticks = NO_REHEARSAL;
    waiter.learnt.near_needs[0].ticks = NEEDS;
    waiter.learnt.near_needs[1].ticks = NEEDS_COLD;
    waiter.learnt.learning_need.ticks = NEEDS_LEARNING;
    waiter.uses = 1;
    return waiter;
}

static void it_is_due_where_there_is_no_time_for_the_stages(void **state)
{
    struct waiter waiter = waiter_with_near_targets();
    (void)state;
    assert_true(near_is_due(&waiter, NEEDS - 1, 0));
    assert_false(near_is_due(&waiter, NEEDS, 0));
    assert_false(near_is_due(&waiter, NEEDS - 1, TIMEBASE_WAIT_REHEARSE));
    assert_true(near_is_due(&waiter, NEEDS_LEARNING - 1, TIMEBASE_WAIT_STEADY));
    assert_false(near_is_due(&waiter, NEEDS_LEARNING, TIMEBASE_WAIT_STEADY));
    assert_true(is_due(&waiter, HOT + 1, NEEDS_COLD - 1));
    assert_false(is_due(&waiter, HOT + 1, NEEDS_COLD));
}

/* One in 64 takes the stages all the same, if there is the time. */
static void it_is_due_for_near_targets_by_the_loop(void **state)
{
    struct waiter waiter = waiter_with_near_targets();
    (void)state;
    assert_true(near_is_due(&waiter, NO_REHEARSAL - 1, TIMEBASE_WAIT_PLAIN));
    assert_false(near_is_due(&waiter, NO_REHEARSAL, TIMEBASE_WAIT_PLAIN));
    caution_went_wrong(&waiter.uneven, 2, 64);
    assert_true(near_is_due(&waiter, NO_REHEARSAL - 1, 0));
    waiter.uses = 64;
    assert_false(near_is_due(&waiter, NO_REHEARSAL - 1, 0));
    assert_true(near_is_due(&waiter, NEEDS - 1, 0));
}

/* Of times that differ all the same, by their order: nothing depends on how long the longest is. */
static double what_is_learnt(int is_cold, int times)
{
    enum { ROUNDS = 50, TICK_NS = 1 };
    static struct waiter waiter;
    waiter.learnt.period_ns = TICK_NS;
    hurry_init(&waiter);
    struct waiter_need *need = &waiter.learnt.near_needs[is_cold];
    for (int i = 0; i < times * ROUNDS; i++)
        hurry_learn_near(need, i % times == 7 ? 1e9 : i % times);
    return need->ticks;
}

static void what_near_targets_need_is_enough_for_49_of_50(void **state)
{
    enum { TIMES = 200 };
    (void)state;
    assert_in_range((int64_t)what_is_learnt(0, TIMES), TIMES - 45, TIMES + 45);
}

/* In steps of 5 ns: one in 100 raises it by 495. */
static void what_they_need_by_cold_code_is_enough_for_99_of_100(void **state)
{
    enum { TIMES = 4000 };
    (void)state;
    assert_in_range((int64_t)what_is_learnt(1, TIMES), TIMES - 600, TIMES + 600);
}

static void what_takes_longer_is_believed_at_once(void **state)
{
    static struct waiter waiter;
    (void)state;
    waiter.learnt.period_ns = 1;
    waiter.vernier.readings = 32;
    hurry_init(&waiter);
    assert_int_equal(waiter.learnt.pause_ticks, 4000000);
    waiter.vernier.readings = 1; /* by a fine counter a millisecond is one */
    hurry_init(&waiter);
    assert_int_equal(waiter.learnt.pause_ticks, 1000000);
    int64_t first = waiter.learnt.cold_ticks;
    hurry_learn(&waiter, 50000); /* no rehearsal: it says nothing */
    assert_int_equal(waiter.learnt.cold_ticks, first);
    waiter.first_ones_ticks = 10000;
    hurry_learn(&waiter, 50000);
    int64_t longest = waiter.learnt.cold_ticks;
    assert_in_range(longest, 60000, 80000);
    hurry_learn(&waiter, 1000);
    assert_in_range(waiter.learnt.cold_ticks, longest / 2, longest - 1);
    hurry_learn(&waiter, INT64_C(1) << 50);
    assert_true(waiter.learnt.cold_ticks <= waiter.learnt.pause_ticks);
}

/* What it finds would be of another way to read the counter. */
static void a_calibration_reads_the_counter_as_waits_do(void **state)
{
    static struct waiter waiter;
    (void)state;
    waiter.is_calibrating = 1;
    waiter.learnt.near_ticks = 1;
    waiter.first_ones_ticks = 10000;
    hurry_learn(&waiter, 50000);
    assert_int_equal(waiter.learnt.near_ticks, 1);
    assert_int_equal(waiter.learnt.cold_ticks, 0);
}

/* ---- whole waits ---------------------------------------------------------------------------- */

/* Who did nothing for longer than that, but for less than a pause; and there is no time to load it. */
static void let_code_go_cold(struct waiter *waiter)
{
    waiter->learnt.load_least_ticks = INT64_MAX;
    int64_t since = 2 * waiter->learnt.hot_ticks;
    waiter->approach.event_ticks = timebase_ticks() - (uint64_t)since;
    waiter->hurried_ticks = waiter->approach.event_ticks;
}

static void wait_ahead(int64_t ns)
{
    timebase_wait_until_ticks(the_waiter(), timebase_ticks() + (uint64_t)ticks_of(ns), 0, NULL);
}

/* One that hurries is a turn; and it is the stages' turn again then. */
static void turns_are_left_to_it(void **state)
{
    enum { TURNS = 3 };
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    outcome_settle_open(waiter);
    caution_went_wrong(&waiter->far_stages, TURNS, TURNS);
    caution_went_wrong(&waiter->cold, TURNS, TURNS);
    for (unsigned left = TURNS; left-- > 0;) {
        uint64_t uses = waiter->uses;
        let_code_go_cold(waiter);
        wait_ahead(1500);
        assert_int_equal(waiter->far_stages.left, left);
        assert_int_equal(waiter->cold.left, left);
        assert_int_equal(waiter->uses, uses + 1);
        assert_int_equal(waiter->unsettled, NOTHING_LEFT);
    }
    waiter->far_stages = waiter->cold = (struct caution){0};
}

/* What is too near for the stages says nothing of cold code; and in time the stages are tried. */
static void near_targets_need_less_after_each_that_hurried(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    const struct waiter known = *waiter;
    (void)state;
    const double needed = (double)ticks_of(100 * MILLISECOND);
    waiter->learnt.near_needs[0].ticks = needed;
    waiter->learnt.no_rehearsal_ticks = waiter->learnt.cold_ticks = ticks_of(SECOND);
    waiter->learnt.hot_ticks = ticks_of(SECOND);
    waiter->far_stages.left = waiter->cold.left = 9;
    waiter->approach.event_ticks = timebase_ticks();
    wait_ahead(10 * MILLISECOND); /* an emulator takes some 0.1 ms until it is asked for */
    assert_true(waiter->learnt.near_needs[0].ticks < needed);
    assert_int_equal(waiter->far_stages.left, 9);
    assert_int_equal(waiter->cold.left, 9);
    waiter->learnt = known.learnt;
    waiter->far_stages = known.far_stages;
    waiter->cold = known.cold;
}

/* ---- what a near wait by the stages needs ---------------------------------------------------- */

/* As if all that is less than a second ahead were near, and there were time for all of it. */
static void let_all_be_near(struct waiter *waiter)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    waiter->uneven = waiter->far_stages = (struct caution){0};
    learnt->near_needs[0].ticks = learnt->near_needs[1].ticks = 0;
    learnt->no_rehearsal_ticks = learnt->cold_near_ticks = ticks_of(SECOND);
    learnt->lead_need.ticks = (double)ticks_of(SECOND);
    learnt->hot_ticks = learnt->pause_ticks = ticks_of(SECOND);
    waiter->approach.event_ticks = timebase_ticks();
    waiter->uses = 2; /* its turn is not due: outcome_settle_some() */
}

/* Which of its needs has changed: near, by cold code, or where the wait before it teaches. */
static int need_that_changed(struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    const struct waiter_learnt known = *learnt;
    uint64_t now = timebase_ticks(); /* whatever holds it up from here on */
    const struct wait asked = {.waiter = waiter,
                               .function = approach_event_none,
                               .entered_ticks = now,
                               .ticks = now + (uint64_t)ticks_of(MILLISECOND)};
    stages_run(&asked);
    int near = learnt->near_needs[0].ticks != known.near_needs[0].ticks;
    int cold = learnt->near_needs[1].ticks != known.near_needs[1].ticks;
    int learning = learnt->learning_need.ticks != known.learning_need.ticks;
    assert_int_equal(near + cold + learning, 1);
    return cold + 2 * learning;
}

static void one_that_learns_from_the_wait_before_has_a_need_of_its_own(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    const struct waiter known = *waiter;
    (void)state;
    if (!waiter->learnt.exact)
        skip();
    let_all_be_near(waiter);
    waiter->learnt.learning_need.ticks = (double)ticks_of(SECOND); /* none has the time */
    assert_int_equal(need_that_changed(waiter), 0);
    assert_int_not_equal(waiter->unsettled, NOTHING_LEFT);
    let_all_be_near(waiter);
    waiter->learnt.learning_need.ticks = 0;
    assert_int_equal(need_that_changed(waiter), 2);
    let_all_be_near(waiter);
    waiter->unsettled = NOTHING_LEFT; /* there is nothing to be learnt */
    assert_int_equal(need_that_changed(waiter), 0);
    let_all_be_near(waiter);
    waiter->learnt.hot_ticks = -1;
    assert_int_equal(need_that_changed(waiter), 1);
    *waiter = known;
}

/*
 * By cold code, so long before its target; that this is 5 ms away it is not told. Returns how many
 * rehearsals there were.
 */
static unsigned rehearsals_by_cold_code(struct waiter *waiter, int64_t asked_before_ticks)
{
    uint64_t entered = timebase_ticks() + (uint64_t)ticks_of(5 * MILLISECOND);
    const struct wait asked = {.waiter = waiter,
                               .function = approach_event_none,
                               .entered_ticks = entered,
                               .ticks = entered + (uint64_t)asked_before_ticks};
    unsigned before = waiter->rehearsals;
    waiter->uneven = waiter->far_stages = (struct caution){0};
    waiter->learnt.near_needs[1].ticks = 0;
    waiter->approach.event_ticks = entered - 2 * (uint64_t)waiter->learnt.hot_ticks;
    stages_run(&asked);
    return waiter->rehearsals - before;
}

static void what_leads_up_to_a_wait_is_not_done_by_cold_code_in_a_hurry(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    const struct waiter known = *waiter;
    (void)state;
    waiter->unsettled = LEFT_TO_LEARN;
    assert_int_equal(rehearsals_by_cold_code(waiter, waiter->learnt.cold_near_ticks - 1), 0);
    assert_false(waiter->last.has_learnt);
    *waiter = known;
}

/* What a wait by the stages says of cold code: it was late, so many ns after it was asked for. */
static unsigned turns_after(int is_at_once, int64_t asked_before_ns, int is_late, int is_disturbed)
{
    struct waiter *waiter = waiter_within(the_waiter());
    struct approach *a = &waiter->approach;
    waiter->far_stages = (struct caution){0};
    waiter->last = (struct wait){.waiter = waiter, .is_at_once = is_at_once};
    waiter->last.cpu = (int)waiter->evidence.cpu_before;
    waiter->last.ticks = (uint64_t)ticks_of(asked_before_ns);
    a->overdue_cycles = is_late ? INT32_MAX : a->late_cycles;
    a->gap_ticks = is_disturbed ? UINT32_MAX : 0;
    a->marker = 1;
    a->rseq_marker = waiter->evidence.rseq_mark;
    a->rseq_cpu = waiter->evidence.cpu_before;
    waiter->unsettled = LEFT_TO_COUNT;
    outcome_count_open(waiter);
    unsigned turns = waiter->far_stages.left;
    waiter->far_stages = (struct caution){0};
    return turns;
}

static void what_was_late_by_cold_code_leaves_turns_to_it(void **state)
{
    (void)state;
    assert_int_not_equal(turns_after(1, 1000, 1, 0), 0);
    assert_int_equal(turns_after(1, 1000, 0, 0), 0);
    assert_int_equal(turns_after(0, 1000, 1, 0), 0);
    assert_int_equal(turns_after(1, 100, 1, 0), 0); /* whatever its code */
    assert_int_equal(turns_after(1, 1000, 1, 1), 0);
}

/* An exact wait in time, whose polls contradicted each other by so much. */
static unsigned turns_after_misfit(int is_cold, int32_t ticks)
{
    struct waiter *waiter = waiter_within(the_waiter());
    const struct waiter known = *waiter;
    waiter->cold = (struct caution){0};
    waiter->last = (struct wait){.waiter = waiter, .exact = 1, .is_cold = is_cold};
    waiter->approach.overdue_cycles = waiter->approach.late_cycles;
    waiter->approach.width_ticks = -ticks * (1 << APPROACH_TICK_BITS);
    waiter->disturbance = 0;
    waiter->unsettled = LEFT_TO_LEARN;
    outcome_settle_open(waiter);
    unsigned turns = waiter->cold.left;
    *waiter = known;
    return turns;
}

static void polls_that_cold_code_made_uneven_leave_turns_to_it(void **state)
{
    (void)state;
    assert_int_not_equal(turns_after_misfit(1, 100), 0);
    assert_int_equal(turns_after_misfit(0, 100), 0);
}

static void pause_longer_than_that(void)
{
    const struct timespec pause = {.tv_nsec = 3 * MILLISECOND};
    nanosleep(&pause, NULL);
}

static unsigned rehearsals_of(enum way way, int64_t ahead_ns, unsigned flags)
{
    struct timebase_wait_result result;
    struct waiter *waiter = waiter_within(the_waiter());
    pause_longer_than_that();
    unsigned before = waiter->rehearsals;
    event.calls = 0;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(ahead_ns);
    int late = wait_by(the_waiter(), way, (int64_t)target, flags, &result);
    assert_in_range(late, 0, 1);
    assert_int_equal(event.calls, calls_a_function(way));
    assert_int_equal(result.target_ticks, target);
    if (flags & TIMEBASE_WAIT_NEVER_EARLY)
        assert_true((int64_t)(result.event_ticks - target) >= 0);
    return waiter->rehearsals - before;
}

static void it_rehearses_nothing(void **state)
{
    static const unsigned flags[] = {0, TIMEBASE_WAIT_PLAIN, TIMEBASE_WAIT_NEVER_EARLY,
                                     TIMEBASE_WAIT_STEADY, TIMEBASE_WAIT_SLEEP};
    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        assert_int_equal(rehearsals_of(UNTIL_TICKS, 5 * MICROSECOND, flags[i]), 0);
        assert_int_equal(rehearsals_of(CALL_TICKS, 5 * MICROSECOND, flags[i]), 0);
    }
}

static void a_target_of_long_ago_has_passed(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    for (int power = 10; power < 62; power++) {
        int64_t ago = INT64_C(0x5a827999fcef3242) >> (62 - power);
        waiter_within(the_waiter())->approach.event_ticks -= UINT64_C(1) << 40; /* a pause */
        uint64_t target = timebase_ticks() - (uint64_t)ago;
        int late = timebase_wait_until_ticks(the_waiter(), target, 0, power % 2 ? &result : NULL);
        assert_int_equal(late, 1);
    }
}

static void each_one_is_counted(void **state)
{
    (void)state;
    uint64_t before = description_of(the_waiter()).waits;
    for (int i = 0; i < 10; i++) {
        pause_longer_than_that();
        wait_ahead(5000);
    }
    assert_int_equal(description_of(the_waiter()).waits - before, 10);
}

static void it_is_not_early_by_more_than_the_loop_is(void **state)
{
    (void)state;
    double bias_ns = description_of(the_waiter()).plain_bias_ns;
    for (int i = 0; i < 20; i++) {
        pause_longer_than_that();
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(8000);
        timebase_wait_until_ticks(the_waiter(), target, 0, NULL);
        int64_t early = (int64_t)(target - timebase_ticks_ordered());
        assert_true((double)early < (double)ticks_of((int64_t)bias_ns + 1000));
    }
}

static void no_number_beyond_the_flags_is_taken(void **state)
{
    (void)state;
    pause_longer_than_that();
    uint64_t soon = timebase_ticks() + 1000;
    assert_int_equal(timebase_wait_until_ticks(the_waiter(), soon, EVERY_FLAG + 1, NULL),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_until_ticks(the_waiter(), UINT64_MAX, 0, NULL),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_until_ticks(NULL, soon, 0, NULL), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_due_after_a_pause_and_where_the_target_is_near),
        cmocka_unit_test(nothing_is_due_before_a_calibration_is_complete),
        cmocka_unit_test(it_is_due_by_cold_code_that_has_been_late),
        cmocka_unit_test(it_is_due_where_there_is_no_time_for_the_stages),
        cmocka_unit_test(it_is_due_for_near_targets_by_the_loop),
        cmocka_unit_test(what_near_targets_need_is_enough_for_49_of_50),
        cmocka_unit_test(near_targets_need_less_after_each_that_hurried),
        cmocka_unit_test(one_that_learns_from_the_wait_before_has_a_need_of_its_own),
        cmocka_unit_test(what_leads_up_to_a_wait_is_not_done_by_cold_code_in_a_hurry),
        cmocka_unit_test(what_they_need_by_cold_code_is_enough_for_99_of_100),
        cmocka_unit_test(turns_are_left_to_it),
        cmocka_unit_test(what_was_late_by_cold_code_leaves_turns_to_it),
        cmocka_unit_test(polls_that_cold_code_made_uneven_leave_turns_to_it),
        cmocka_unit_test(what_takes_longer_is_believed_at_once),
        cmocka_unit_test(a_calibration_reads_the_counter_as_waits_do),
        cmocka_unit_test(it_rehearses_nothing),
        cmocka_unit_test(a_target_of_long_ago_has_passed),
        cmocka_unit_test(each_one_is_counted),
        cmocka_unit_test(it_is_not_early_by_more_than_the_loop_is),
        cmocka_unit_test(no_number_beyond_the_flags_is_taken),
    };
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
