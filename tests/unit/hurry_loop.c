/* SPDX-License-Identifier: MIT */
/* A wait in a hurry: a loop that begins nothing, and tells and counts what it saw. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <sys/time.h>

#include "timing/calibration/calibration.h"
#include "timing/hurry/hurry_ways.h"
#include "timing/stages/outcome.h"
#include "waiting.h"

static void wait_ahead(int64_t ns)
{
    timebase_wait_until_ticks(the_waiter(), timebase_ticks() + (uint64_t)ticks_of(ns), 0, NULL);
}

/*
 * One after a pause, which lasts a moment for any machine; which does not learn it anew before a long
 * wait, where it has found no exact ones; and which has no time for those that begin afresh, or load
 * their code.
 */
static struct waiter *waiter_after_a_pause(void)
{
    struct waiter *waiter = waiter_within(the_waiter());
    if (waiter->learnt.near_ticks != 0)
        waiter->learnt.near_ticks = ticks_of(SECOND);
    waiter->learnt.cold_ticks = ticks_of(SECOND);
    waiter->learnt.afresh_need.ticks = (double)ticks_of(SECOND);
    waiter->learnt.load_least_ticks = INT64_MAX;
    waiter->calibrations = CALIBRATION_ATTEMPTS;
    waiter->approach.event_ticks = timebase_ticks() - (uint64_t)ticks_of(SECOND);
    waiter->hurried_ticks = waiter->approach.event_ticks;
    return waiter;
}

/* But for what is its own: until when it polled, how many were late, and how it ended. */
static void assert_nothing_begun(const struct waiter *waiter, const struct waiter *before)
{
    struct approach was = before->approach, is = waiter->approach;
    is.hurry_ticks = was.hurry_ticks;
    is.hurry_event_ticks = was.hurry_event_ticks;
    is.hurry_late = was.hurry_late;
    is.hurry_way = was.hurry_way;
    is.edge_sooner_ticks = was.edge_sooner_ticks;
    is.edge_links = was.edge_links;
    is.frame = was.frame;
    is.end = was.end;
    assert_memory_equal(&is, &was, sizeof(is));
    assert_memory_equal(&waiter->last, &before->last, sizeof(before->last));
    assert_int_equal(waiter->unsettled, before->unsettled);
}

static void it_leaves_the_wait_before_all_that_it_has_to_tell(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    static const enum way ways[] = {UNTIL_TICKS, CALL_TICKS};
    struct timebase_wait_result result;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        waiter->unsettled = LEFT_TO_COUNT;
        const struct waiter before = *waiter;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(10 * MILLISECOND);
        int late = wait_by(the_waiter(), ways[i / 2], (int64_t)target, 0, i % 2 ? &result : NULL);
        assert_true((int64_t)(target - timebase_ticks_ordered()) < ticks_of(2000));
        assert_nothing_begun(waiter, &before);
        assert_int_equal(waiter->waits - before.waits, 1);
        assert_int_equal(waiter_late(waiter) - waiter_late(&before), late);
        *waiter = known;
    }
}

static void one_whose_target_has_passed_is_late(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    static const enum way ways[] = {UNTIL_TICKS, CALL_TICKS};
    struct timebase_wait_result result;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        uint64_t late = waiter_late(waiter), waits = waiter->waits;
        int64_t target = (int64_t)timebase_ticks() - 1000;
        event.calls = 0;
        assert_int_equal(wait_by(the_waiter(), ways[i / 2], target, 0, i % 2 ? &result : NULL), 1);
        assert_int_equal(event.calls, i / 2);
        assert_int_equal(waiter_late(waiter), late + 1);
        assert_int_equal(description_of(the_waiter()).late, late + 1);
        assert_int_equal(waiter->waits, waits + 1);
        if (i % 2 != 0) {
            assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_NONE);
            assert_int_equal(result.late, 1);
        }
        *waiter = known;
    }
}

/* Its end, by code that has gone cold: nothing of that is the wait, its event least of all. */
static void what_it_does_in_vain_is_not_the_wait(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    static const enum way ways[] = {UNTIL_TICKS, CALL_TICKS};
    double most_early = known.learnt.plain_bias_ticks + (double)ticks_of(MILLISECOND / 2);
    struct timebase_wait_result result;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        uint64_t late = waiter_late(waiter);
        event.calls = 0;
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(2 * MILLISECOND);
        int was_late =
            wait_by(the_waiter(), ways[i / 2], (int64_t)target, 0, i % 2 ? &result : NULL);
        assert_true((double)(int64_t)(target - timebase_ticks_ordered()) < most_early);
        assert_int_equal(event.calls, i / 2);
        assert_int_equal(waiter_late(waiter), late + (uint64_t)was_late);
        *waiter = known;
    }
}

/* Its stamp is told with what came behind it. */
static void its_result_is_what_it_saw(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    static const enum way ways[] = {UNTIL_TICKS, CALL_TICKS};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        double rest = waiter->learnt.hurry_rest_ticks[i == 0 ? EVENT_TELLS : EVENT_CALLED];
        struct timebase_wait_result result = {.wake_ns = 1, .prepared = 1, .margin_ns = 1};
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(10 * MILLISECOND);
        assert_int_equal(wait_by(the_waiter(), ways[i], (int64_t)target, 0, &result), 0);
        assert_int_equal(result.target_ticks, target);
        assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
        assert_int_equal(result.late + (int)result.prepared, 0);
        assert_int_equal(result.wake_ns + result.margin_ns, 0);
        double event = (double)(int64_t)(result.event_ticks - target) + rest;
        assert_true(fabs(result.error_ns - event * waiter->learnt.period_ns) < 0.01);
        assert_true(fabs((double)result.error_ticks - event) <= 0.51);
        *waiter = known;
    }
}

static void it_is_said_to_be_shared_where_the_loop_was_better_anyway(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    static const unsigned flags[] = {0, TIMEBASE_WAIT_PLAIN};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        struct timebase_wait_result result;
        caution_went_wrong(&waiter->uneven, 8, 8);
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(MILLISECOND);
        timebase_wait_until_ticks(the_waiter(), target, flags[i], &result);
        assert_int_equal((result.disturbance & TIMEBASE_DISTURBED_SHARED) != 0, i == 0);
        assert_int_equal(waiter->uneven.left, 7);
        *waiter = known;
    }
}

static void wait_again(void *waiter)
{
    timebase_wait_until_ticks((struct timebase_waiter *)waiter, timebase_ticks(), 0, NULL);
}

static void a_function_that_uses_its_waiter_is_refused(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    struct timebase_wait_result result = {.target_ticks = 77};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct waiter *waiter = waiter_after_a_pause();
        assert_int_equal(timebase_wait_call_ticks(the_waiter(), timebase_ticks() + 1000, 0, wait_again,
                                                  the_waiter(), i == 0 ? &result : NULL),
                         TIMEBASE_E_INVALID);
        assert_int_equal(result.target_ticks, 77);
        *waiter = known;
    }
}

static int was_in_event;

static void look(void *waiter)
{
    was_in_event = waiter_within((struct timebase_waiter *)waiter)->is_in_event;
}

/* Then its delays leave alone what it has to tell. */
static void it_says_that_it_is_in_its_function(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    struct waiter *waiter = waiter_after_a_pause();
    (void)state;
    assert_in_range(timebase_wait_call_ticks(the_waiter(), timebase_ticks() + 1000, 0, look,
                                             the_waiter(), NULL),
                    0, 1);
    assert_true(was_in_event);
    assert_false(waiter->is_in_event);
    *waiter = known;
}

/* The next one comes by the stages, or near ones would never be exact again. */
static void the_wait_behind_it_is_one_like_others(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    struct waiter *waiter = waiter_after_a_pause();
    (void)state;
    waiter->learnt.pause_ticks = ticks_of(500 * SECOND); /* however long the test is held up */
    waiter->approach.event_ticks -= (uint64_t)ticks_of(1000 * SECOND);
    waiter->hurried_ticks = waiter->approach.event_ticks;
    outcome_settle_open(waiter);
    wait_ahead(10 * MILLISECOND);
    assert_int_equal(waiter->unsettled, NOTHING_LEFT);
    wait_ahead(10 * MILLISECOND);
    assert_int_equal(waiter->unsettled, LEFT_TO_COUNT);
    *waiter = known;
}

static volatile sig_atomic_t signals;

static void hold_up(int signal)
{
    (void)signal;
    uint64_t end = timebase_ticks() + (uint64_t)ticks_of(100 * MICROSECOND);
    while ((int64_t)(timebase_ticks() - end) < 0)
        continue;
    signals++;
}

/* One of so many can come before the first poll, as they do not queue, and one behind the last. */
enum { SIGNALS_THAT_HOLD_UP = 3 };

static void what_holds_it_up_is_told_and_counted(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    const struct itimerval often = {{.tv_usec = 5000}, {.tv_usec = 5000}}, never = {{0}, {0}};
    static const enum way ways[] = {UNTIL_TICKS, CALL_TICKS, CALL_TICKS};
    (void)state;
    signal(SIGALRM, hold_up);
    for (int i = 0; i < 3; i++) { /* the last one without a result: by its polls alone */
        struct timebase_wait_result result = {.disturbance = TIMEBASE_DISTURBED_GAP};
        struct waiter *waiter;
        uint64_t before;
        int late;
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        do { /* held up before it began, it says nothing */
            waiter = waiter_after_a_pause();
            before = waiter->disturbed;
            signals = 0;
            uint64_t target = timebase_ticks() + (uint64_t)ticks_of(50 * MILLISECOND);
            late = wait_by(the_waiter(), ways[i], (int64_t)target, 0, i < 2 ? &result : NULL);
        } while (late || signals < SIGNALS_THAT_HOLD_UP);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        assert_int_equal(waiter->disturbed - before, 1);
        assert_int_not_equal(result.disturbance, 0);
        assert_int_equal(result.disturbance & ~description_of(the_waiter()).evidence, 0);
        *waiter = known;
    }
}

/* A 64th of what the last one's stamp shows, and of a step and 8 ticks at most; either way. */
static void its_stamp_shows_what_is_wrong_with_its_bias(void **state)
{
    const struct waiter known = *waiter_within(the_waiter());
    struct waiter *waiter = waiter_within(the_waiter());
    struct approach *a = &waiter->approach;
    struct waiter_learnt *learnt = &waiter->learnt;
    const double most = waiter->vernier.step_ticks + 8;
    (void)state;
    for (enum event_way way = EVENT_CALLED; way < EVENT_WAYS; way++)
        for (int ticks = -300; ticks <= 300; ticks += 3) {
            double bias = learnt->plain_bias_ticks + learnt->hurry_ticks[way];
            a->hurry_way = way;
            a->hurry_ticks = timebase_ticks();
            a->hurry_event_ticks = a->hurry_ticks + (uint64_t)(int64_t)ticks;
            double event = ticks + learnt->hurry_rest_ticks[way];
            double wrong = fmax(-most, fmin(event - bias, most));
            double before = learnt->plain_bias_ticks;
            hurry_learn_bias(waiter);
            assert_true(fabs(learnt->plain_bias_ticks - before - wrong / 64) < 1e-9);
            learnt->plain_bias_ticks = before;
        }
    *waiter = known;
}

/* By how much the next one's begin changes the bias, if the stamp of this one was that wrong. */
static double learnt_behind_one(unsigned flags)
{
    enum { EIGHT = 8, WRONG_TICKS = 200 };
    const struct waiter known = *waiter_within(the_waiter());
    struct waiter *waiter = waiter_within(the_waiter());
    uint64_t target = timebase_ticks();
    struct hurried asked = {.waiter = waiter, .ticks = target, .entered_ticks = target, .flags = flags};
    hurry_begin(&asked, EVENT_RETURNS);
    waiter->approach.hurry_event_ticks = waiter->approach.hurry_ticks + WRONG_TICKS;
    waiter->uses = EIGHT;
    asked.flags = 0;
    asked.ticks = target + (uint64_t)waiter->learnt.no_rehearsal_ticks;
    hurry_begin(&asked, EVENT_RETURNS);
    double learnt = waiter->learnt.plain_bias_ticks - known.learnt.plain_bias_ticks;
    *waiter = known;
    return learnt;
}

/* Where the processor has one: behind all functions, and without a reading there. */
static void assert_ends_by_such_a_loop(struct wait wait)
{
#ifdef __x86_64__
    void *frame[2] = {NULL, NULL};
    struct approach *a = &wait.waiter->approach;
    wait.frame = &frame[1];
    if (hurry_run(&wait) != APPROACH_ENDS_BEHIND)
        fail_msg("it ends within");
    assert_ptr_equal(frame[0], a);
    assert_true(a->end == approach_hurry_never_early || a->end == approach_hurry_never_early_and_look);
    assert_int_equal(a->end(a), 1); /* its target has passed by now */
    assert_true((int64_t)(a->hurry_event_ticks - wait.ticks) >= 0);
#else
    (void)wait;
#endif
}

/* It would be later by what another reading takes; and it says nothing of others. */
static void of_what_must_not_be_early_the_last_poll_is_the_stamp(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    uint64_t now = timebase_ticks(), target = now + (uint64_t)ticks_of(MICROSECOND);
    struct wait wait = {.waiter = waiter,
                        .ticks = target,
                        .entered_ticks = now,
                        .flags = TIMEBASE_WAIT_NEVER_EARLY};
    assert_in_range(hurry_run(&wait), 0, 1);
    assert_true((int64_t)(waiter->approach.hurry_event_ticks - target) >= 0);
    assert_ends_by_such_a_loop(wait);
    assert_true(learnt_behind_one(0) != 0);
    assert_true(learnt_behind_one(TIMEBASE_WAIT_NEVER_EARLY) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_leaves_the_wait_before_all_that_it_has_to_tell),
        cmocka_unit_test(one_whose_target_has_passed_is_late),
        cmocka_unit_test(what_it_does_in_vain_is_not_the_wait),
        cmocka_unit_test(its_result_is_what_it_saw),
        cmocka_unit_test(it_is_said_to_be_shared_where_the_loop_was_better_anyway),
        cmocka_unit_test(a_function_that_uses_its_waiter_is_refused),
        cmocka_unit_test(it_says_that_it_is_in_its_function),
        cmocka_unit_test(the_wait_behind_it_is_one_like_others),
        cmocka_unit_test(what_holds_it_up_is_told_and_counted),
        cmocka_unit_test(its_stamp_shows_what_is_wrong_with_its_bias),
        cmocka_unit_test(of_what_must_not_be_early_the_last_poll_is_the_stamp),
    };
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
