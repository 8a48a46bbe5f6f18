/* SPDX-License-Identifier: MIT */
/* What the polls of a wait teach: how far apart they are, and whether a neighbour has gone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/waiter/waiter.h"
#include "waiting.h"

static struct timebase_waiter waiter;

static struct waiter *fresh_waiter(void)
{
    assert_int_equal(timebase_waiter_init(&waiter, timebase_clock_default()), 0);
    return waiter_within(&waiter);
}

/* By a fine counter one is enough to aim by, and some more tell how far apart they are. */
static void polls_are_many_where_the_counter_steps_far(void **state)
{
    struct waiter *inner = fresh_waiter();
    (void)state;
    inner->period.value = 100;
    inner->vernier.readings = APPROACH_FINE;
    assert_true(waiter_polls_ticks(inner) == 1000);
    inner->vernier.readings = 1;
    inner->learnt.exact = 1;
    assert_true(waiter_polls_ticks(inner) == 300);
    inner->learnt.exact = 0;
    assert_true(waiter_polls_ticks(inner) == 1000);
}

/* Three of them teach that then. */
static void as_many_polls_teach_their_distance(void **state)
{
    struct waiter *inner = fresh_waiter();
    uint32_t polls[APPROACH_VERNIER];
    (void)state;
    inner->learnt.exact = 1;
    inner->vernier.readings = 1;
    inner->approach.polls = 2;
    assert_int_equal(waiter_last_polls(inner, polls), 0);
    inner->approach.polls = 3;
    inner->approach.poll_ticks[1] = -250;
    inner->approach.poll_ticks[2] = -130;
    assert_int_equal(waiter_last_polls(inner, polls), 2);
    assert_int_equal((int32_t)(polls[1] - polls[0]), 120);
    inner->vernier.readings = APPROACH_FINE;
    assert_int_equal(waiter_last_polls(inner, polls), 0);
}

/* From a wait behind which that many polls are kept, so far apart. */
static void learn_from_polls(struct waiter *inner, double apart_ticks)
{
    inner->approach.polls = APPROACH_VERNIER + 1;
    for (int k = 0; k <= APPROACH_VERNIER; k++)
        inner->approach.poll_ticks[k % APPROACH_VERNIER] = (int32_t)(apart_ticks * k) - 4000;
    waiter_learn_period(inner);
}

/* One by which polls are believed to be so far apart, and which leaves exact waits alone for long. */
static struct waiter *waiter_that_knows(double apart_ticks, double step_ticks)
{
    struct waiter *inner = fresh_waiter();
    vernier_init(&inner->vernier, step_ticks);
    inner->vernier.readings = step_ticks > 1 ? APPROACH_FINE : 1;
    inner->learnt.exact = 1;
    vernier_note_open(&inner->vernier, APPROACH_VERNIER);
    tempo_init(&inner->tempo, 0.7);
    estimate_init(&inner->period, apart_ticks, WAITER_PERIOD_MEAN);
    inner->uneven = (struct caution){.left = 60, .turns = 64};
    return inner;
}

/* It makes polls only longer. So one wait is enough to say that it has gone, and the next is tried. */
static void polls_that_are_shorter_say_that_the_neighbour_has_gone(void **state)
{
    struct waiter *inner = waiter_that_knows(120, 26);
    (void)state;
    learn_from_polls(inner, 114);
    assert_true(fabs(inner->period.value - 114) < 0.2);
    assert_true(caution_allows(&inner->uneven));
}

/* A hold-up does that, and three of them in a row as well. */
static void polls_that_are_longer_say_so_four_times(void **state)
{
    struct waiter *inner = waiter_that_knows(114, 26);
    (void)state;
    for (int k = 0; k < 4; k++) {
        assert_true(inner->period.value == 114);
        learn_from_polls(inner, 120);
    }
    assert_true(fabs(inner->period.value - 120) < 0.2);
    assert_int_equal(inner->uneven.left, 60);
}

/* By little more than the counter's step explains: four times, too, but each next one is tried. */
static void polls_that_are_a_little_shorter_are_looked_at_again(void **state)
{
    struct waiter *inner = waiter_that_knows(115.5, 26);
    (void)state;
    for (int k = 0; k < 4; k++) {
        assert_true(inner->period.value == 115.5);
        inner->uneven.left = 60;
        learn_from_polls(inner, 114);
        assert_true(caution_allows(&inner->uneven));
    }
    assert_true(fabs(inner->period.value - 114) < 0.2);
}

/* What the counter's step explains is a part of the mean. */
static void polls_that_are_shorter_by_what_a_step_hides_say_nothing(void **state)
{
    struct waiter *inner = waiter_that_knows(114, 26);
    (void)state;
    learn_from_polls(inner, 113);
    assert_true(inner->period.value > 113.9);
    assert_int_equal(inner->uneven.left, 60);
}

/* Of a fine counter one poll is enough, and none contradicts another. */
static void a_fine_counter_takes_the_mean(void **state)
{
    struct waiter *inner = waiter_that_knows(60, 1);
    (void)state;
    learn_from_polls(inner, 50);
    assert_true(inner->period.value > 55);
}

static void know_errors(struct waiter *inner, double exact_ticks, double loop_ticks)
{
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        inner->choice.error_ticks[CHOICE_EXACT][i] = exact_ticks;
        inner->choice.error_ticks[CHOICE_LOOP][i] = loop_ticks;
    }
}

/* Both are off by most of a step, as far as stamps of a step see. */
static void where_polls_agree_stamps_have_to_look_twice_as_bad(void **state)
{
    struct waiter *inner = waiter_that_knows(114, 26);
    (void)state;
    inner->approach.even_polls = 1000;
    inner->uneven = (struct caution){0};
    know_errors(inner, 26, 17);
    assert_true(waiter_prefers_exact(inner, 0));
    know_errors(inner, 26, 26);
    assert_true(waiter_prefers_exact(inner, TIMEBASE_WAIT_STEADY));
    know_errors(inner, 52, 17);
    assert_false(waiter_prefers_exact(inner, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polls_are_many_where_the_counter_steps_far),
        cmocka_unit_test(as_many_polls_teach_their_distance),
        cmocka_unit_test(polls_that_are_shorter_say_that_the_neighbour_has_gone),
        cmocka_unit_test(polls_that_are_longer_say_so_four_times),
        cmocka_unit_test(polls_that_are_a_little_shorter_are_looked_at_again),
        cmocka_unit_test(polls_that_are_shorter_by_what_a_step_hides_say_nothing),
        cmocka_unit_test(a_fine_counter_takes_the_mean),
        cmocka_unit_test(where_polls_agree_stamps_have_to_look_twice_as_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
