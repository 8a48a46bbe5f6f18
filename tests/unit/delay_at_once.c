/* SPDX-License-Identifier: MIT */
/*
 * Delays of less than half a microsecond without a result: a run of instructions of our own, or the
 * loop, and what their readings teach.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "dice.h"
#include "timing/wait/waiter.h"
#include "waiting.h"

#define DELAYS 200

enum { BY_LOOP, BY_RUN };

static const double cycle_ticks = 0.5, step_ticks = 26;
static const double fixed_ticks[2] = {109, 150};

static struct dice dice;

static struct {
    uint64_t instructions;
    int calls;
} run;

static void count_instructions(uint64_t instructions)
{
    run.instructions = instructions;
    run.calls++;
}

/* Whatever a run takes, its reading says what was believed; or contradicts it. */
static void believe_runs(struct waiter *waiter, int are_right)
{
    waiter->vernier.step_ticks = are_right ? 1e15 : step_ticks;
    waiter->learnt.at_once[BY_RUN] =
        (struct waiter_at_once){fixed_ticks[BY_RUN], are_right ? 0 : 1e12};
}

/* However long the test is held up between two delays, the second is soon after the first. */
static void keep_hot(struct waiter *waiter, int is_hot)
{
    waiter->learnt.hot_ticks = is_hot ? INT64_MAX : INT64_MIN;
}

static struct timebase_waiter *waiter_with_our_runs(void)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->ways.run = count_instructions;
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = 0.4; /* not this machine's: every machine is to try the same */
    waiter->learnt.at_once[BY_LOOP] = (struct waiter_at_once){fixed_ticks[BY_LOOP], 0};
    tempo_init(&waiter->tempo, cycle_ticks);
    waiter->run_at_once = (struct caution){0};
    keep_hot(waiter, 1);
    believe_runs(waiter, 1);
    run.calls = 0;
    return &ours;
}

static double ticks_asked(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns / waiter->learnt.period_ns;
}

static int is_by_run(struct timebase_waiter *ours, uint64_t ns, unsigned flags)
{
    int before = run.calls;
    assert_in_range(timebase_delay_ns(ours, ns, flags, NULL), 0, 1);
    return run.calls > before;
}

static void a_run_fills_what_the_rest_leaves(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t ns = 150 + dice_below(&dice, 350);
        believe_runs(waiter, 1);
        assert_true(is_by_run(ours, ns, i % 2 ? TIMEBASE_WAIT_PREPARE : 0));
        double wanted = (ticks_asked(waiter, ns) - fixed_ticks[BY_RUN]) / cycle_ticks;
        /* Rounding is the processor's: an x87 keeps more digits. */
        assert_true(fabs((double)run.instructions - wanted) <= 1);
    }
}

/* With a result a delay has more to tell; and others than these are waits, or too short to read. */
static void only_delays_of_that_length_are_so(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    struct timebase_wait_result result;
    (void)state;
    static const unsigned others[] = {TIMEBASE_WAIT_PLAIN, TIMEBASE_WAIT_NEVER_EARLY};
    believe_runs(waiter, 0);
    waiter->delay_taken_ticks = 0;
    timebase_delay_ns(ours, 149, 0, NULL);
    timebase_delay_ns(ours, 500, 0, NULL);
    timebase_delay_ns(ours, 300, 0, &result);
    for (int i = 0; i < 2; i++)
        timebase_delay_ns(ours, 300, others[i], NULL);
    assert_true(waiter->delay_taken_ticks == 0);
    timebase_delay_ns(ours, 150, 0, NULL);
    assert_true(waiter->delay_taken_ticks != 0);
}

/*
 * What is cold would take longer than the delay to fetch: the loop. Who asks for the steadier tail
 * gets it, too, as a run that is held up is late by all of it.
 */
static void cold_delays_and_steady_ones_are_by_the_loop(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t ns = 300 + dice_below(&dice, 200);
        double least = ticks_asked(waiter, ns) - fixed_ticks[BY_LOOP] - waiter->vernier.step_ticks;
        believe_runs(waiter, 0);
        keep_hot(waiter, i % 2);
        uint64_t start = timebase_ticks_ordered();
        assert_false(is_by_run(ours, ns, i % 2 ? TIMEBASE_WAIT_STEADY : 0));
        assert_true((double)(timebase_ticks_ordered() - start) >= least);
    }
}

/* Where instructions cannot be counted on, there is nothing but the loop. */
static void where_exact_waits_are_impossible_it_is_the_loop(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->learnt.exact = 0;
    assert_false(is_by_run(ours, 300, 0));
    waiter->learnt.exact = 1;
    waiter->ways.run = NULL;
    assert_false(is_by_run(ours, 300, 0));
}

/* The approach, and what it has found, belong to the wait before. */
static void the_wait_before_keeps_what_it_has_to_tell(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    timebase_wait_until_ticks(ours, timebase_ticks() + 50000, TIMEBASE_WAIT_PLAIN, NULL);
    struct approach approach = waiter->approach;
    uint64_t uses = waiter->uses;
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, i % 2);
        timebase_delay_ns(ours, 300, 0, NULL);
    }
    assert_memory_equal(&approach, &waiter->approach, sizeof(approach));
    assert_true(waiter->uses == uses);
}

/* After a run that its reading contradicts one delay is by the loop, then two, four ... 64. */
static void runs_that_are_contradicted_are_left_alone_for_ever_longer(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int turns = 1; turns < 1000; turns *= 2) {
        believe_runs(waiter, 0);
        assert_true(is_by_run(ours, 300, 0));
        for (int left = turns < 64 ? turns : 64; left > 0; left--)
            assert_false(is_by_run(ours, 300, 0));
    }
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, 1);
        assert_true(is_by_run(ours, 300, 0));
    }
}

/* Delays that say nothing of runs do not bring the next one nearer. */
static void cold_delays_do_not_count_as_turns(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, 0);
    assert_true(is_by_run(ours, 300, 0));
    keep_hot(waiter, 0);
    for (int i = 0; i < DELAYS; i++)
        assert_false(is_by_run(ours, 300, 0));
    keep_hot(waiter, 1);
    assert_false(is_by_run(ours, 300, 0));
    assert_true(is_by_run(ours, 300, 0));
}

/*
 * By how much a delay moves what is believed of its way, where its reading says as much. One that
 * was held up before it began is late, and asked for again.
 */
static double moved_by(struct timebase_waiter *ours, int way, double after_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    struct waiter_at_once *learnt = &waiter->learnt.at_once[way];
    waiter->learnt.period_ns = 0.001; /* 300,000 ticks: emulators are slow */
    waiter->vernier.step_ticks = step_ticks;
    do {
        *learnt = (struct waiter_at_once){fixed_ticks[way], after_ticks};
        waiter->run_at_once = (struct caution){way == BY_LOOP, 0};
    } while (timebase_delay_ns(ours, 300, 0, NULL) == 1);
    return learnt->fixed_ticks - fixed_ticks[way];
}

/* In small parts, and never by more than one that was held up can tell. */
static void both_ways_follow_their_readings(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    const double most = (step_ticks + 8) / 64;
    (void)state;
    for (int way = BY_LOOP; way <= BY_RUN; way++) {
        assert_true(fabs(moved_by(ours, way, 1e12) - most) < 1e-6);
        assert_true(fabs(moved_by(ours, way, -1e12) + most) < 1e-6);
    }
}

/* A delay that is shorter than its way takes is late, which says nothing of what the way takes. */
static void a_late_delay_teaches_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int way = BY_LOOP; way <= BY_RUN; way++) {
        waiter->run_at_once = (struct caution){way == BY_LOOP, 0};
        waiter->learnt.at_once[way].fixed_ticks = 1e6;
        assert_int_equal(timebase_delay_ns(ours, 300, 0, NULL), 1);
        assert_true(waiter->learnt.at_once[way].fixed_ticks == 1e6);
    }
    assert_int_equal(run.calls, 0);
}

/* By whole delays as everybody calls them: what they take is known afterwards. */
static void calibration_learns_both_ways(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(ours, timebase_clock_default()), 0);
    const struct waiter_at_once *learnt = waiter->learnt.at_once;
    assert_true(learnt[BY_LOOP].fixed_ticks != 0);
    assert_int_equal(learnt[BY_RUN].fixed_ticks != 0, waiter->learnt.exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_fills_what_the_rest_leaves),
        cmocka_unit_test(only_delays_of_that_length_are_so),
        cmocka_unit_test(cold_delays_and_steady_ones_are_by_the_loop),
        cmocka_unit_test(where_exact_waits_are_impossible_it_is_the_loop),
        cmocka_unit_test(the_wait_before_keeps_what_it_has_to_tell),
        cmocka_unit_test(runs_that_are_contradicted_are_left_alone_for_ever_longer),
        cmocka_unit_test(cold_delays_do_not_count_as_turns),
        cmocka_unit_test(both_ways_follow_their_readings),
        cmocka_unit_test(a_late_delay_teaches_nothing),
        cmocka_unit_test(calibration_learns_both_ways),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
