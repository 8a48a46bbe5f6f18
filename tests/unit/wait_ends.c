/* SPDX-License-Identifier: MIT */
/*
 * Waits that were to be exact, and whose polls contradict each other: they end by the loop. Here
 * they are made to, by a count of polls that agree which is far too low.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "dice.h"
#include "timing/stages/outcome.h"
#include "timing/waiter/waiter.h"
#include "waiting.h"

enum { WAITS = 1500, UNEVEN = -(1 << 28), EVEN = 1 << 19 };

static struct dice dice;

static int has_such_waits(void)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    return waiter->learnt.exact && waiter_has_vernier(waiter);
}

/* There is the time for it. */
static void allow_near(struct waiter *waiter)
{
    waiter->learnt.near_needs[0].ticks = waiter->learnt.near_needs[1].ticks = 0;
}

/* Exact ones look perfect otherwise. The wait before is settled first, or it would say more. */
static void want_exact(struct waiter *waiter, int32_t even_polls)
{
    description_of(the_waiter());
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter->choice.error_ticks[CHOICE_LOOP][i] = 1e12;
        waiter->choice.error_ticks[CHOICE_EXACT][i] = 1;
    }
    waiter->exact_ticks = timebase_ticks();
    waiter->cold = waiter->uneven = (struct caution){0};
    allow_near(waiter);
    waiter->approach.even_polls = even_polls;
}

static uint64_t target_ahead(void)
{
    return timebase_ticks() + (uint64_t)ticks_of(1000 + (int64_t)dice_below(&dice, 6000));
}

/* Then that it came to its loop is written before that is over. */
static int is_told_behind(const struct waiter *waiter, int returns)
{
    return returns && waiter_ends_behind(waiter);
}

/* None of them is exact; those that were in time say why not. */
static void the_result_says_so(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    int ended = 0;
    (void)state;
    if (!has_such_waits())
        skip();
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        want_exact(waiter, UNEVEN);
        waiter->last.ended_by_loop = 0; /* one in a hurry leaves that alone */
        int late = wait_by(the_waiter(), i % 2 ? UNTIL_TICKS : CALL_TICKS, (int64_t)target_ahead(),
                           0, &result);
        if (!waiter->last.ended_by_loop)
            continue; /* held up: there was no time for polls, or for the loop */
        ended++;
        assert_int_equal(result.mechanism,
                         late ? TIMEBASE_MECHANISM_NONE : TIMEBASE_MECHANISM_LOOP);
        assert_true(result.disturbance & TIMEBASE_DISTURBED_SHARED);
        assert_int_equal(result.late, late);
        int is_quiet = !late && result.disturbance == TIMEBASE_DISTURBED_SHARED;
        if (is_quiet && is_told_behind(waiter, i % 2))
            assert_int_equal(waiter->unsettled, LEFT_TO_COUNT);
    }
    assert_true(ended > 0);
}

static void polls_that_agree_are_trusted(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    int exact = 0;
    (void)state;
    if (!has_such_waits())
        skip();
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        want_exact(waiter, EVEN);
        timebase_wait_until_ticks(the_waiter(), target_ahead(), 0, &result);
        exact += result.mechanism > TIMEBASE_MECHANISM_LOOP;
    }
    assert_true(exact > 0);
}

static void wait_with_event(enum event_way way, int64_t ns)
{
    struct timebase_wait_result result;
    uint64_t ahead = (uint64_t)ticks_of(ns + (int64_t)dice_below(&dice, 50));
    uint64_t target = timebase_ticks() + ahead;
    if (way == EVENT_CALLED)
        timebase_wait_call_ticks(the_waiter(), target, 0, note_event, &event, NULL);
    else
        timebase_wait_until_ticks(the_waiter(), target, 0, way == EVENT_TELLS ? &result : NULL);
}

enum { FEW = WAITS / 4 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Of what events the loop has times of its own. */
static int looped_ways(void)
{
    return waiter_ends_behind(waiter_within(the_waiter())) ? EVENT_WAYS : 1;
}

/* A few of each event, by what is believed of their loop. Returns of how many of the rarest it was
 * the end. */
static int follow(double bias_ticks[EVENT_WAYS], int64_t ns)
{
    struct waiter *waiter = waiter_within(the_waiter());
    double *believed = waiter->learnt.loop_bias_ticks;
    int ended[EVENT_WAYS] = {0}, rarest = FEW;
    memcpy(believed, bias_ticks, sizeof(double[EVENT_WAYS]));
    for (int i = 0; i < EVENT_WAYS * FEW; i++) {
        want_exact(waiter, UNEVEN);
        wait_with_event(i % EVENT_WAYS, ns);
        ended[i % EVENT_WAYS] += waiter_ended_by_loop(waiter);
    }
    memcpy(bias_ticks, believed, sizeof(double[EVENT_WAYS]));
    for (int way = 0; way < looped_ways(); way++)
        rarest = least(rarest, ended[way]);
    return rarest;
}

static int are_near(const double a[EVENT_WAYS], const double b[EVENT_WAYS], double ticks)
{
    int near = 0;
    for (int way = 0; way < looped_ways(); way++)
        near += fabs(a[way] - b[way]) < ticks;
    return near == looped_ways();
}

/* Two beliefs come nearer to each other, whatever is true; a wait that is disturbed tells nothing. */
static void assert_the_bias_is_followed(int64_t ns)
{
    enum { APART_TICKS = 200, ROUNDS = 40 };
    double *believed = waiter_within(the_waiter())->learnt.loop_bias_ticks;
    double known[EVENT_WAYS], less[EVENT_WAYS], more[EVENT_WAYS];
    int ended = 0, rounds = 0;
    memcpy(known, believed, sizeof(known));
    for (enum event_way way = 0; way < EVENT_WAYS; way++) {
        less[way] = known[way] - APART_TICKS / 2;
        more[way] = known[way] + APART_TICKS / 2;
    }
    for (; rounds < ROUNDS && !are_near(less, more, APART_TICKS / 2); rounds++)
        ended += least(follow(less, ns), follow(more, ns));
    memcpy(believed, known, sizeof(known));
    if (ended < rounds * FEW / 2)
        skip(); /* held up, or instrumented: there was no time for it */
    assert_true(are_near(less, more, APART_TICKS / 2));
}

/* So near that no rehearsals precede them. */
static void their_stamps_tell_how_late_their_loop_is(void **state)
{
    (void)state;
    if (!has_such_waits())
        skip();
    assert_the_bias_is_followed(840);
}

static void rehearsals_that_end_so_tell_it_too(void **state)
{
    (void)state;
    if (!has_such_waits())
        skip();
    assert_the_bias_is_followed(20000);
}

/* The stamp, which these take, is not before the tick; nor is a return that takes none. */
static void none_is_early_that_must_not_be(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        uint64_t target = target_ahead();
        want_exact(waiter, UNEVEN);
        timebase_wait_until_ticks(the_waiter(), target, TIMEBASE_WAIT_NEVER_EARLY,
                                  i % 2 ? &result : NULL);
        assert_true((int64_t)(timebase_ticks_ordered() - target) >= 0);
    }
}

static int exact_approaches;
static approach_function *real_exact;

static int approach_in_peace(struct approach *approach)
{
    int32_t before = approach->even_polls;
    int late = real_exact(approach);
    approach->even_polls = before + (int32_t)approach->polls; /* as if none contradicted another */
    return late;
}

static int count_and_approach(struct approach *approach)
{
    exact_approaches++;
    int late = real_exact(approach);
    approach->even_polls = 0; /* as if the last poll contradicted the others */
    return late;
}

/*
 * Of waits by such approaches those that count themselves. So near that no rehearsals precede them.
 */
static int exact_ones_of_near_waits(struct waiter *waiter, approach_function *such,
                                    uint64_t pause_ticks)
{
    const uint64_t ahead_ticks = (uint64_t)ticks_of(850);
    exact_approaches = 0;
    const struct approach_ways ways = waiter->ways;
    real_exact = ways.exact;
    waiter->ways.exact = such;
    waiter->ways.exact_hot = NULL; /* the other one is taken, then */
    for (int i = 0; i < WAITS; i++) {
        struct timebase_wait_result result;
        for (int k = 0; k < CHOICE_QUANTILES; k++)
            waiter->choice.error_ticks[CHOICE_LOOP][k] = 1e12;
        waiter->cold = (struct caution){0};
        allow_near(waiter);
        waiter->exact_ticks = timebase_ticks() - pause_ticks;
        timebase_wait_call_ticks(the_waiter(), timebase_ticks() + ahead_ticks, 0, note_event,
                                 &event, &result);
    }
    waiter->ways = ways;
    return exact_approaches;
}

/* Whether the code is near, or has gone cold: then polls say less of who else uses the core. */
static void while_polls_contradict_each_other_few_waits_are_tried(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (!has_such_waits())
        skip();
    int tried = exact_ones_of_near_waits(waiter, count_and_approach, 0);
    int tried_cold =
        exact_ones_of_near_waits(waiter, count_and_approach, (uint64_t)ticks_of(100000));
    assert_true(tried < WAITS / 6);
    assert_true(tried_cold < WAITS / 10);
}

/* Or those behind it would be left to the loop for long. */
static void a_neighbour_that_stays_leaves_it_eight_turns_at_most(void **state)
{
    enum { MOST = 8 };
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (!has_such_waits())
        skip();
    for (int i = 0; i < MOST; i++) {
        waiter->uneven_share = 1;
        waiter->approach.even_polls = 0;
        waiter->last.exact = 1;
        waiter->even_before = 1;
        waiter->unsettled = LEFT_TO_COUNT;
        outcome_count(waiter);
    }
    assert_int_equal(waiter->uneven.left, MOST);
    waiter->uneven_share = 0;
    waiter->uneven = (struct caution){0};
}

/* A core that others use seldom is not suspected for long each time; one that they use often is. */
static void so_many_polls_must_agree_as_they_seldom_do(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (!has_such_waits())
        skip();
    exact_ones_of_near_waits(waiter, count_and_approach, 0);
    int32_t busy = waiter_even_needed(waiter);
    exact_ones_of_near_waits(waiter, approach_in_peace, 0);
    assert_int_equal(busy, WAITER_EVEN_SHARED);
    assert_int_equal(waiter_even_needed(waiter), WAITER_EVEN_USUALLY);
}

/* A burst that is over says nothing of the next wait. */
static void where_few_contradict_each_other_all_are_tried(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (!has_such_waits())
        skip();
    exact_ones_of_near_waits(waiter, approach_in_peace, 0);
    waiter->approach.even_polls = 0;
    waiter->last.exact = 1;
    waiter->even_before = 1; /* one wait's polls, not all of which agreed */
    waiter->unsettled = LEFT_TO_COUNT;
    outcome_count(waiter);
    assert_true(waiter->uneven_share > 0);
    assert_true(caution_allows(&waiter->uneven));
}

/* Of rehearsals that came before it above all. */
static void while_polls_contradict_each_other_one_is_tried_whose_polls_just_agreed(void **state)
{
    struct waiter *waiter = waiter_within(the_waiter());
    uint64_t now = timebase_ticks();
    const struct wait wait = {.waiter = waiter, .ticks = now, .entered_ticks = now};
    (void)state;
    if (!has_such_waits())
        skip();
    want_exact(waiter, 0);
    waiter->exact_ticks = now;
    waiter->uneven_share = 1;
    waiter->uneven = (struct caution){.left = 64, .turns = 64};
    waiter->approach.even_polls = WAITER_EVEN_SHARED - 1;
    assert_false(wait_is_exact_better(&wait));
    waiter->approach.even_polls = WAITER_EVEN_SHARED;
    assert_true(wait_is_exact_better(&wait));
    waiter->uneven_share = 0;
    waiter->uneven = (struct caution){0};
}

/* Where all targets are near and no polls have been seen yet, nobody else would tell. */
static void some_are_tried_where_no_polls_were_seen_yet(void **state)
{
    enum { TRIAL = 16, STEPPED_TRIAL = 8 };
    struct waiter *waiter = waiter_within(the_waiter());
    int of = waiter_has_vernier(waiter) ? STEPPED_TRIAL : TRIAL;
    uint64_t now = timebase_ticks();
    int tried = 0;
    (void)state;
    if (!has_such_waits())
        skip();
    want_exact(waiter, 0);
    waiter->exact_ticks = waiter->rehearsed_ticks = now - (uint64_t)ticks_of(1000000000);
    const struct wait wait = {.waiter = waiter, .ticks = now, .entered_ticks = now};
    for (int i = 0; i < WAITS; i++) {
        waiter->uses++;
        tried += wait_is_exact_better(&wait);
    }
    assert_in_range(tried, WAITS / of, WAITS / of + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_says_so),
        cmocka_unit_test(polls_that_agree_are_trusted),
        cmocka_unit_test(their_stamps_tell_how_late_their_loop_is),
        cmocka_unit_test(rehearsals_that_end_so_tell_it_too),
        cmocka_unit_test(none_is_early_that_must_not_be),
        cmocka_unit_test(some_are_tried_where_no_polls_were_seen_yet),
        cmocka_unit_test(while_polls_contradict_each_other_few_waits_are_tried),
        cmocka_unit_test(a_neighbour_that_stays_leaves_it_eight_turns_at_most),
        cmocka_unit_test(so_many_polls_must_agree_as_they_seldom_do),
        cmocka_unit_test(while_polls_contradict_each_other_one_is_tried_whose_polls_just_agreed),
        cmocka_unit_test(where_few_contradict_each_other_all_are_tried),
    };
    stay_on_this_cpu();
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
