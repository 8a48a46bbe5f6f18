/* SPDX-License-Identifier: MIT */
/* What holds a wait up leaves no return predicted: it is aimed sooner by that. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/stages.h"
#include "timing/waiter/slower.h"
#include "near_waits.h"

enum { AHEAD_NS = 5000000, NEARER_NS = 60000, HELD_UP_NS = 1000000, UNPREDICTED = 50 };
enum { OFTEN = 20 }; /* something else may hold one up, too, but not all */

static struct waiter *real;
static uint64_t target;
static void (*function)(void *); /* of the wait; null: it returns */
static int calls; /* the one that is held up comes when so many are left */

static void spin(void)
{
    uint64_t from = timebase_ticks(), ticks = (uint64_t)waiter_ticks_of_ns(real, HELD_UP_NS);
    if (calls-- != 0)
        return;
    while (timebase_ticks() - from < ticks)
        ;
}

typedef uint64_t converting(const timebase_clock *clock, int64_t ns);

/* Until the stages have seen to one: what else holds this up may leave no time for them. */
static const struct wait *wait_for(int64_t ahead_ns, unsigned flags, converting *ticks_at, int until_spin)
{
    do {
        uint64_t now = timebase_ticks();
        target = now + (uint64_t)waiter_ticks_of_ns(real, (double)ahead_ns);
        const struct wait asked = {.waiter = real,
                                   .ticks_at = ticks_at,
                                   .flags = flags,
                                   .function = function,
                                   .entered_ticks = now,
                                   .ticks = target};
        real->far_stages = (struct caution){0}; /* the last one was late */
        calls = until_spin;
        stages_run(&asked);
    } while (real->last.ticks != target);
    return &real->last;
}

static uint64_t at_the_target(const timebase_clock *clock, int64_t ns)
{
    (void)clock;
    (void)ns;
    spin();
    return target;
}

static void it_is_seen_by_the_polls_before_the_approach(void **state)
{
    enum { POLLS = 50 };
    (void)state;
    for (int seen = 0; seen < OFTEN; seen += calls < 0) {
        const struct wait *wait = wait_for(AHEAD_NS, 0, at_the_target, POLLS);
        assert_true(calls >= 0 || wait->was_held_up);
    }
}

/* Behind the first two, which are by cold code and take any time. */
static void spin_for(const void *code, void *argument)
{
    (void)code;
    (void)argument;
    if (real->first_ones_ticks != 0)
        spin();
}

/* Where a rehearsal takes long there may be too few of them. */
static void and_between_rehearsals(void **state)
{
    approach_foresight *known = real->ways.foresee;
    int are_seen = 1;
    (void)state;
    real->ways.foresee = spin_for;
    function = approach_event_none;
    for (int i = 0; i < OFTEN; i++) {
        const struct wait *wait = wait_for(NEARER_NS, 0, NULL, 0);
        are_seen &= calls >= 0 || wait->was_held_up;
    }
    real->ways.foresee = known;
    function = NULL;
    assert_true(are_seen);
}

static void who_sleeps_is(void **state)
{
    (void)state;
    for (int i = 0; i < OFTEN; i++)
        assert_true(wait_for(HELD_UP_NS, TIMEBASE_WAIT_SLEEP, NULL, -1)->was_held_up);
}

/* Exact ones alone: a loop is wider than that. */
static void it_is_aimed_sooner_by_that(void **state)
{
    (void)state;
    real->learnt.unpredicted_ticks[EVENT_RETURNS] = UNPREDICTED;
    choice_learn(&real->choice, CHOICE_LOOP, 1e6);
    memset(real->choice.error_ticks[CHOICE_EXACT], 0, sizeof(real->choice.error_ticks[0]));
    const struct wait *wait = wait_for(AHEAD_NS, TIMEBASE_WAIT_SLEEP, NULL, -1);
    double exit = waiter_exit_ticks(real, wait->exact, EVENT_RETURNS);
    assert_true(wait->aim == (wait->exact ? -exit - UNPREDICTED : -exit));
    wait = wait_for(AHEAD_NS, TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PLAIN, NULL, -1);
    exit = waiter_exit_ticks(real, 0, EVENT_RETURNS);
    assert_true(wait->aim == -exit);
}

static void each_way_has_its_own(void **state)
{
    struct waiter waiter = {.learnt = {.unpredicted_ticks = {0, 3, 4}}};
    struct wait wait = {.waiter = &waiter};
    (void)state;
    assert_true(wait_unpredicted_ticks(&wait, EVENT_RETURNS) == 0);
    wait.was_held_up = 1;
    assert_true(wait_unpredicted_ticks(&wait, EVENT_RETURNS) == 3);
    assert_true(wait_unpredicted_ticks(&wait, EVENT_TELLS) == 4);
    assert_true(wait_unpredicted_ticks(&wait, EVENT_CALLED) == 0);
}

static int begin(void **state)
{
    (void)state;
    stay_on_this_cpu();
    real = waiter_within(the_waiter());
    real->evidence.marks_es = 0; /* it would tell of interrupts, which hold a wait up as well */
    real->evidence.rseq_mark = 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_has_its_own),
        cmocka_unit_test(it_is_seen_by_the_polls_before_the_approach),
        cmocka_unit_test(and_between_rehearsals),
        cmocka_unit_test(who_sleeps_is),
        cmocka_unit_test(it_is_aimed_sooner_by_that),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
