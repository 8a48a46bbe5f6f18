/* SPDX-License-Identifier: MIT */
/* What a wait tells of itself, and what happened beside it, agree: for all flags and distances. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "dice.h"
#include "timing/stages/result.h"
#include "timing/waiter/slower.h"
#include "waiting.h"

#define TARGETS 30 /* for each way and each combination of flags */

static struct dice dice;

/* One wait, and what was seen around it. */
struct seen {
    enum way way;
    unsigned flags;
    int64_t target;
    int returned;
    uint64_t before, after;
    struct timebase_wait_result result;
};

static struct seen some_wait(enum way way, unsigned flags)
{
    struct seen seen = {.way = way, .flags = flags};
    uint64_t range = flags & TIMEBASE_WAIT_SLEEP ? 300000 : 15000;
    memset(&seen.result, 0xa5, sizeof(seen.result));
    forget_event();
    seen.target = target_in(way, (int64_t)dice_below(&dice, range) - 300);
    seen.before = timebase_ticks_ordered();
    seen.returned = wait_by(the_waiter(), way, seen.target, flags, &seen.result);
    seen.after = timebase_ticks_ordered();
    return seen;
}

static int is_between(uint64_t ticks, uint64_t from, uint64_t to)
{
    return (int64_t)(ticks - from) >= 0 && (int64_t)(to - ticks) >= 0;
}

static void check_event(const struct seen *seen)
{
    assert_true(is_between(seen->result.event_ticks, seen->before, seen->after));
    assert_int_equal(event.calls, calls_a_function(seen->way));
    if (!calls_a_function(seen->way))
        return;
    assert_ptr_equal(event.argument, &event);
    assert_true(is_between(event.ticks, seen->result.event_ticks, seen->after));
}

static void check_lateness(const struct seen *seen)
{
    assert_true(seen->returned == 0 || seen->returned == 1);
    assert_int_equal(seen->result.late, seen->returned);
    if (seen->result.mechanism == TIMEBASE_MECHANISM_NONE)
        assert_int_equal(seen->result.late, 1);
    if (seen->returned == 0 && !(seen->flags & TIMEBASE_WAIT_NEVER_EARLY))
        assert_true((int64_t)(seen->result.target_ticks - seen->before) >= 0);
}

static void check_mechanism(const struct seen *seen)
{
    int exact = description_of(the_waiter()).mechanism;
    if (seen->flags & WAITER_LOOP_FLAGS || exact == TIMEBASE_MECHANISM_LOOP)
        assert_in_range(seen->result.mechanism, TIMEBASE_MECHANISM_NONE, TIMEBASE_MECHANISM_LOOP);
    else
        assert_true(seen->result.mechanism == exact ||
                    seen->result.mechanism <= TIMEBASE_MECHANISM_LOOP);
}

/* The stamp's middle, and from there to the event: calls by the stamp's way, returns by more. */
static double event_by_stamp(const struct seen *seen)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    int exact = seen->result.mechanism > TIMEBASE_MECHANISM_LOOP;
    enum event_way way = calls_a_function(seen->way) ? EVENT_CALLED : EVENT_TELLS;
    double event_at = waiter_middle(waiter, seen->result.event_ticks, seen->result.target_ticks);
    if (waiter->hurried_ticks == seen->result.target_ticks)
        return event_at - waiter_half_span(waiter) + waiter->learnt.hurry_rest_ticks[way] +
            (seen->flags & TIMEBASE_WAIT_NEVER_EARLY ? waiter->learnt.never_early_more_ticks : 0);
    return event_at +
        (exact ? waiter->learnt.stamp_ticks + waiter->learnt.exit_ticks[1][way] +
                 waiter_sooner_ticks(waiter, way) + wait_unpredicted_ticks(&waiter->last, way)
               : result_rest_of_loop(waiter, way));
}

static void check_error(const struct seen *seen)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    const struct timebase_wait_result *result = &seen->result;
    double ticks = result->error_ns / waiter->learnt.period_ns;
    assert_true(fabs(ticks - (double)result->error_ticks) <= 0.5 + 1e-6);
    assert_true(fabs(ticks - event_by_stamp(seen)) <= waiter->vernier.span_ticks / 2 + 1e-6);
    double half_ns = description_of(the_waiter()).quantum_ns / 2;
    double rounding_ns = waiter->learnt.period_ns / 2; /* of a step that is no whole number of ticks */
    assert_true(result->error_bound_ns > half_ns - 1e-6);
    assert_true(result->error_bound_ns < half_ns + rounding_ns + 1e-6);
}

static void check_preparation(const struct seen *seen)
{
    const struct timebase_wait_result *result = &seen->result;
    assert_in_range(result->prepared, 0, 1);
    if (!(seen->flags & (TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE)))
        assert_int_equal(result->prepared, 0);
    assert_in_range(event.rehearsals, 0,
                    seen->flags & TIMEBASE_WAIT_REHEARSE && calls_a_function(seen->way));
    assert_true(result->margin_ns >= 0);
    if (!(seen->flags & TIMEBASE_WAIT_SLEEP))
        assert_int_equal(result->margin_ns, 0);
    if (result->margin_ns == 0)
        assert_int_equal(result->wake_ns, 0);
}

static void check(const struct seen *seen)
{
    check_event(seen);
    check_lateness(seen);
    check_error(seen); /* before the waiter is asked, which learns from the wait */
    check_mechanism(seen);
    check_preparation(seen);
    assert_in_range(seen->result.disturbance, 0, EVERY_DISTURBANCE);
    if (seen->way == UNTIL_TICKS || seen->way == CALL_TICKS)
        assert_true(seen->result.target_ticks == (uint64_t)seen->target);
}

/* From the last poll, where that is the stamp. */
static void what_must_not_be_early_counts_from_its_last_poll(void **state)
{
    static struct waiter waiter;
    (void)state;
    waiter.learnt.never_early_rest_ticks[EVENT_TELLS] = 50;
    assert_true(result_rest_of_loop(&waiter, EVENT_TELLS) == 0);
    waiter.approach.never_early = 1;
    assert_true(result_rest_of_loop(&waiter, EVENT_TELLS) == 50);
}

static void every_result_agrees_with_what_was_seen_around_it(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (enum way way = 0; way < WAYS; way++)
            for (int i = 0; i < TARGETS; i++) {
                struct seen seen = some_wait(way, flags);
                check(&seen);
            }
}

/* A millisecond: emulated, the conversion of a time takes long. */
static void some_waits_of_each_way_are_in_time(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        int late = 1;
        for (int i = 0; i < 1000 && late; i++) {
            /* Who was held up while it learnt the machine takes it for slow. */
            if (i % 100 == 99)
                timebase_waiter_calibrate(the_waiter());
            late = wait_by(the_waiter(), way, target_in(way, MILLISECOND), 0, NULL);
        }
        assert_int_equal(late, 0);
    }
}

static void the_waiter_counts_what_its_results_told(void **state)
{
    struct timebase_waiter_description before = description_of(the_waiter());
    uint64_t late = 0, disturbed = 0;
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct seen seen = some_wait((enum way)(i % WAYS), (unsigned)i % (EVERY_FLAG + 1));
        late += (uint64_t)seen.result.late;
        disturbed += seen.result.disturbance != 0;
    }
    struct timebase_waiter_description after = description_of(the_waiter());
    assert_true(after.waits - before.waits == 600);
    assert_true(after.late - before.late == late);
    assert_true(after.disturbed - before.disturbed == disturbed);
}

static void waits_without_a_result_are_counted_as_well(void **state)
{
    struct timebase_waiter_description before = description_of(the_waiter());
    uint64_t late = 0;
    (void)state;
    for (int i = 0; i < 100; i++)
        late += (uint64_t)wait_by(the_waiter(), UNTIL_TICKS,
                                  target_in(UNTIL_TICKS, 3000 * (i % 3 - 1)), 0, NULL);
    struct timebase_waiter_description after = description_of(the_waiter());
    assert_int_equal(after.waits - before.waits, 100);
    assert_int_equal(after.late - before.late, late);
    assert_int_equal(timebase_waiter_calibrate(the_waiter()), 0);
    after = description_of(the_waiter());
    assert_int_equal(after.waits - before.waits, 100);
    assert_int_equal(after.late - before.late, late);
}

/* More ticks than a reading's distance from the target can say: the farthest is told instead. */
#define BEYOND_TICKS ((UINT64_C(1) << 23) + 1000)

static struct approach_ways undisturbed;

/* Exact waits are by this until the ways are `undisturbed` again: by code that is near as well. */
static void disturb(struct waiter *waiter, approach_function *exact)
{
    undisturbed = waiter->ways;
    waiter->ways.exact = exact;
    waiter->ways.exact_hot = NULL; /* the other one is taken, then */
}

static int approach_after_being_held_up(struct approach *a)
{
    while ((int64_t)(timebase_ticks() - a->target_ticks) < (int64_t)BEYOND_TICKS)
        continue;
    return undisturbed.exact(a);
}

/* No target is too near for them, whether their code is near or far. */
static void make_the_stages_short(struct waiter *waiter)
{
    waiter->far_stages = (struct caution){0};
    waiter->learnt.near_needs[0].ticks = waiter->learnt.near_needs[1].ticks = 0;
}

/* Whatever neighbours there are: any exact way is better, and all polls agreed. */
static void make_the_loop_bad(struct waiter *waiter)
{
    for (int i = 0; i < CHOICE_QUANTILES; i++)
        waiter->choice.error_ticks[CHOICE_LOOP][i] = 1e12;
    waiter->approach.even_polls = 1 << 19;
    make_the_stages_short(waiter);
}

/* Between the end of polling and the approach a thread may lose its CPU for any time. */
static void an_approach_that_began_long_after_its_target_is_late(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    struct timebase_wait_result result;
    (void)state;
    if (waiter->ways.exact == NULL || !waiter->learnt.exact) {
        print_message("skipped: this machine has no exact waits\n");
        skip();
    }
    disturb(waiter, approach_after_being_held_up);
    int mechanism = TIMEBASE_MECHANISM_LOOP, returned = 0;
    for (int i = 0; i < 1000 && mechanism <= TIMEBASE_MECHANISM_LOOP; i++) {
        /* Near ones are not rehearsed, so that the wait itself is the one that is held up. */
        uint64_t ahead_ticks = (uint64_t)ticks_of(i % 2 ? 850 : MILLISECOND);
        make_the_loop_bad(waiter);
        returned =
            timebase_wait_until_ticks(the_waiter(), timebase_ticks() + ahead_ticks, 0, &result);
        mechanism = result.mechanism;
    }
    waiter->ways = undisturbed;
    if (mechanism <= TIMEBASE_MECHANISM_LOOP)
        skip(); /* held up before each approach: none was exact */
    assert_int_equal(returned, 1);
    assert_int_equal(result.late, 1);
}

/* Where one in 64 goes through them: was it this one, and does it teach? */
static int taught(const struct waiter *waiter, const struct timebase_wait_result *result)
{
    return waiter->last.ticks == result->target_ticks && !result->late && result->disturbance == 0;
}

/*
 * Near waits by the loop, which no rehearsals precede: their own stamps show what is wrong with it,
 * and each moves what is known by a 64th of that, and of a step and 8 ticks at most. What is known
 * is wrong by more than any of them can be late, however slow this machine is.
 */
static void waits_by_the_loop_follow_its_bias(void **state)
{
    enum { WAITS = 10000, ENOUGH = 20, AHEAD_NS = 850, WRONG_NS = 40000, MEAN = 64 };
    struct waiter *waiter = waiter_within(the_waiter());
    double *bias = &waiter->learnt.plain_bias_ticks, known = *bias;
    const double most = (waiter->vernier.step_ticks + 8) / MEAN;
    const uint64_t ahead_ticks = (uint64_t)ticks_of(AHEAD_NS);
    int lessons = 0;
    (void)state;
    *bias = -(double)ticks_of(WRONG_NS);
    for (int i = 0; i < WAITS && lessons < ENOUGH; i++) {
        struct timebase_wait_result result;
        make_the_stages_short(waiter);
        timebase_wait_until_ticks(the_waiter(), timebase_ticks() + ahead_ticks, TIMEBASE_WAIT_PLAIN,
                                  &result);
        double before = *bias;
        description_of(the_waiter()); /* it is learnt from */
        if (!taught(waiter, &result))
            continue;
        lessons++;
        assert_true(fabs(*bias - before - most) < 1e-6);
    }
    *bias = known;
    if (lessons == 0)
        skip(); /* so near a target is too near for this machine, or all were held up */
}

/* Exact waits do well; but the last one was long ago, and such waits have done badly, or have not.
 */
static int exact_waits_after(struct waiter *waiter, uint64_t pause_ticks, unsigned left_alone)
{
    const uint64_t ahead_ticks = (uint64_t)ticks_of(850);
    int exact = 0;
    for (int i = 0; i < 200; i++) {
        struct timebase_wait_result result;
        make_the_loop_bad(waiter);
        waiter->cold.left = left_alone;
        waiter->exact_ticks = timebase_ticks() - pause_ticks;
        timebase_wait_until_ticks(the_waiter(), timebase_ticks() + ahead_ticks, 0, &result);
        exact += result.mechanism > TIMEBASE_MECHANISM_LOOP;
    }
    return exact;
}

static void near_waits_by_code_that_has_gone_cold_are_exact_unless_that_went_wrong(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    uint64_t pause_ticks = (uint64_t)ticks_of(100000);
    (void)state;
    if (waiter->ways.exact == NULL || !waiter->learnt.exact) {
        print_message("skipped: this machine has no exact waits\n");
        skip();
    }
    int64_t near_exact_ticks = waiter->learnt.near_exact_ticks;
    waiter->learnt.near_exact_ticks = 0; /* those have a need of their own: unit/near_exact.c */
    assert_int_equal(exact_waits_after(waiter, pause_ticks, 512), 0);
    int cold = exact_waits_after(waiter, pause_ticks, 0), hot = exact_waits_after(waiter, 0, 512);
    waiter->learnt.near_exact_ticks = near_exact_ticks;
    if (cold == 0 || hot == 0)
        skip(); /* held up before each of them */
}

/* By no more than cold code might. */
static int approach_after_a_microsecond(struct approach *a)
{
    while ((int64_t)(timebase_ticks() - a->target_ticks) < ticks_of(1000))
        continue;
    return undisturbed.exact(a);
}

/* Cold code made it late: the next such waits are by the loop. */
static void an_exact_wait_by_cold_code_that_is_late_is_a_warning(void **state)
{
    enum { TRIES = 1000 };
    struct waiter *waiter = waiter_within(the_waiter());
    const uint64_t ahead_ticks = (uint64_t)ticks_of(850), pause_ticks = (uint64_t)ticks_of(100000);
    int late = 0;
    (void)state;
    if (waiter->ways.exact == NULL || !waiter->learnt.exact)
        skip();
    disturb(waiter, approach_after_a_microsecond);
    for (int i = 0; i < TRIES; i++) {
        struct timebase_wait_result result;
        make_the_loop_bad(waiter);
        waiter->cold = (struct caution){0};
        waiter->tried_cold.left = 2; /* no trial: that one is late as expected */
        waiter->tried_ticks = 0;
        waiter->exact_ticks = timebase_ticks() - pause_ticks;
        timebase_wait_until_ticks(the_waiter(), timebase_ticks() + ahead_ticks, 0, &result);
        if (result.mechanism <= TIMEBASE_MECHANISM_LOOP || result.disturbance != 0 ||
            !waiter->last.is_cold)
            continue; /* it was by the loop, or rehearsed, or proves nothing */
        late++;
        description_of(the_waiter()); /* it is learnt from */
        assert_true(waiter->cold.left > 0);
    }
    waiter->ways = undisturbed;
    waiter->cold = waiter->tried_cold = (struct caution){0};
    if (late == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_must_not_be_early_counts_from_its_last_poll),
        cmocka_unit_test(every_result_agrees_with_what_was_seen_around_it),
        cmocka_unit_test(some_waits_of_each_way_are_in_time),
        cmocka_unit_test(the_waiter_counts_what_its_results_told),
        cmocka_unit_test(waits_without_a_result_are_counted_as_well),
        cmocka_unit_test(an_approach_that_began_long_after_its_target_is_late),
        cmocka_unit_test(waits_by_the_loop_follow_its_bias),
        cmocka_unit_test(near_waits_by_code_that_has_gone_cold_are_exact_unless_that_went_wrong),
        cmocka_unit_test(an_exact_wait_by_cold_code_that_is_late_is_a_warning),
    };
    dice = dice_new();
    stay_on_this_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
