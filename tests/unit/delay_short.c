/* SPDX-License-Identifier: MIT */
/*
 * Delays of less than 1.6 us: a run of instructions of our own, two of them, or the loop; what
 * their readings teach, and what is told.
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

static const double cycle_ticks = 0.5, step_ticks = 26;
static const double fixed_ticks[] = {109, 150, 200, 50}; /* of each way */

static struct dice dice;

static struct {
    uint64_t instructions;
    int calls;
} run;

static void count_instructions(uint64_t instructions)
{
    run.instructions += instructions;
    run.calls++;
}

static void believe(struct waiter *waiter, enum delay_way way, double after_ticks)
{
    for (int measured = 0; measured < 2; measured++)
        waiter->learnt.delays[way][measured] =
            (struct waiter_delay){fixed_ticks[way] + 10 * measured, after_ticks};
}

enum belief { RIGHT, WRONG_AT_THE_END, WRONG_ON_THE_WAY };

/* Whatever a run takes, its reading says what was believed; or contradicts it. */
static void believe_runs(struct waiter *waiter, enum belief belief)
{
    waiter->vernier.step_ticks = belief == RIGHT ? 1e15 : belief == WRONG_AT_THE_END ? 1e9 : 26;
    waiter->learnt.delay_cycle_ticks = cycle_ticks;
    believe(waiter, DELAY_BY_RUN, belief == WRONG_ON_THE_WAY ? 1e12 : 0);
    believe(waiter, DELAY_BY_TWO_RUNS, belief == RIGHT ? 0 : 1e12);
    for (int measured = 0; measured < 2; measured++)
        waiter->learnt.between_ticks[measured] = belief == WRONG_ON_THE_WAY ? -1e12 : 0;
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
    waiter->ways.exact = approach_poll; /* no real one goes by what is made up here */
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = 0.4; /* not this machine's: every machine is to try the same */
    believe(waiter, DELAY_BY_LOOP, 0);
    waiter->learnt.at_once_ticks = fixed_ticks[DELAY_BY_LOOP];
    waiter->learnt.delay_fixed_ticks = fixed_ticks[DELAY_UNCHECKED];
    waiter->contradicted_run = (struct caution){0};
    keep_hot(waiter, 1);
    believe_runs(waiter, RIGHT);
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
    run.instructions = 0;
    assert_in_range(timebase_delay_ns(ours, ns, flags, NULL), 0, 1);
    return run.calls > before;
}

static void assert_runs_fill(const struct waiter *waiter, uint64_t ns, double fixed)
{
    double wanted = (ticks_asked(waiter, ns) - fixed) / cycle_ticks;
    wanted = wanted > 0 ? wanted : 0;
    /* Rounding is the processor's: an x87 keeps more digits. */
    assert_true(fabs((double)run.instructions - wanted) <= 1);
}

static void runs_fill_what_the_rest_leaves(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS * 10; i++) {
        uint64_t ns = dice_below(&dice, 1600);
        enum delay_way way = ns < 150 ? DELAY_UNCHECKED
            : ns < 600                ? DELAY_BY_RUN
                                      : DELAY_BY_TWO_RUNS;
        believe_runs(waiter, RIGHT);
        run.calls = 0;
        assert_true(is_by_run(ours, ns, i % 2 ? TIMEBASE_WAIT_PREPARE : 0));
        assert_int_equal(run.calls, way == DELAY_BY_TWO_RUNS ? 2 : 1);
        assert_runs_fill(waiter, ns, fixed_ticks[way]);
    }
}

/* Others are waits. */
static void only_short_delays_are_so(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    static const unsigned others[] = {TIMEBASE_WAIT_PLAIN, TIMEBASE_WAIT_NEVER_EARLY};
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    waiter->delay_taken_ticks = 0;
    timebase_delay_ns(ours, 1600, 0, NULL);
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
        struct timebase_wait_result result;
        uint64_t ns = 300 + dice_below(&dice, 1200);
        double least = ticks_asked(waiter, ns) - fixed_ticks[DELAY_BY_LOOP] - 10 - step_ticks;
        believe_runs(waiter, WRONG_ON_THE_WAY);
        keep_hot(waiter, i % 2);
        run.calls = 0;
        uint64_t start = timebase_ticks_ordered();
        timebase_delay_ns(ours, ns, i % 2 ? TIMEBASE_WAIT_STEADY : 0, i % 3 ? NULL : &result);
        assert_true((double)(timebase_ticks_ordered() - start) >= least);
        assert_in_range(run.calls, 0, i % 2 == 0 && i % 3 ? 2 : 0); /* rehearsed: see below */
        if (i % 3 == 0 && !result.late) {
            assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
            assert_false(result.disturbance & TIMEBASE_DISTURBED_SHARED);
        }
    }
}

/* What the loop of others takes is no part of theirs. */
static void cold_delays_have_a_loop_of_their_own(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    keep_hot(waiter, 0);
    waiter->learnt.at_once_ticks = 1e12;
    assert_int_equal(timebase_delay_ns(ours, 1000, 0, NULL), 1);
    waiter->learnt.at_once_ticks = step_ticks;
    waiter->learnt.delays[DELAY_BY_LOOP][0].fixed_ticks = 1e12;
    uint64_t start = timebase_ticks_ordered();
    timebase_delay_ns(ours, 1000, 0, NULL);
    assert_true((double)(timebase_ticks_ordered() - start) >=
                ticks_asked(waiter, 1000) - 2 * step_ticks);
}

/* The stages of a wait are cold as well: none up to 3 us, and no run is rehearsed that is not next. */
static void cold_delays_of_some_us_are_no_waits(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    keep_hot(waiter, 0);
    for (uint64_t ns = 1600; ns < 4000; ns += 100) {
        uint64_t uses = waiter->uses, start = timebase_ticks_ordered();
        assert_false(is_by_run(ours, ns, 0));
        double taken = (double)(timebase_ticks_ordered() - start);
        assert_true(taken >= ticks_asked(waiter, ns) - fixed_ticks[DELAY_BY_LOOP] - 2 * step_ticks);
        assert_int_equal(waiter->uses - uses, ns >= 3000);
    }
    uint64_t uses = waiter->uses;
    timebase_delay_ns(ours, 2000, TIMEBASE_WAIT_NEVER_EARLY, NULL);
    assert_int_equal(waiter->uses - uses, 1);
}

/* A cold delay of so long rehearses runs of so many cycles; or was held up, and says 0. */
static int rehearses(struct timebase_waiter *ours, uint64_t ns, double cycles)
{
    struct waiter *waiter = waiter_within(ours);
    struct waiter_learnt known = waiter->learnt;
    run.calls = 0;
    if (!is_by_run(ours, ns, 0))
        return 0;
    assert_in_range(run.instructions, (uint64_t)(cycles - 1), (uint64_t)(cycles + 1));
    assert_memory_equal(&known, &waiter->learnt, sizeof(known));
    assert_true(caution_allows(&waiter->contradicted_run));
    assert_false(waiter->is_calibrating);
    return run.calls;
}

/* As short as can be, in those that have the time: what the next one will do. It teaches nothing.
 */
static void cold_delays_rehearse_runs(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    int ones = 0, twos = 0;
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    keep_hot(waiter, 0);
    waiter->learnt.period_ns = 0.001; /* 1.6 million ticks: emulators are slow */
    double last_cycles = 250 / (waiter->learnt.period_ns * cycle_ticks);
    for (int i = 0; i < DELAYS; i++) {
        assert_false(is_by_run(ours, 190, 0));
        ones += rehearses(ours, 599, 72) == 1;
        int runs = rehearses(ours, 1599, 72 + last_cycles);
        assert_in_range(runs, 0, 2);
        twos += runs == 2;
    }
    assert_true(ones > 0 && twos > 0);
}

/* Where instructions cannot be counted on, there is nothing but waits. */
static void where_exact_waits_are_impossible_it_is_a_wait(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->delay_taken_ticks = 0;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    waiter->learnt.exact = 0;
    assert_false(is_by_run(ours, 300, 0));
    waiter->learnt.exact = 1;
    waiter->ways.run = NULL;
    assert_false(is_by_run(ours, 300, TIMEBASE_WAIT_STEADY));
    assert_true(waiter->delay_taken_ticks == 0);
}

/* The approach, and what it has found, belong to the wait; or to the one whose function calls. */
static void delay_in_event(void *ours)
{
    struct waiter *waiter = waiter_within((struct timebase_waiter *)ours);
    struct approach approach = waiter->approach;
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, i % 2 ? RIGHT : WRONG_ON_THE_WAY);
        assert_in_range(
            timebase_delay_ns((struct timebase_waiter *)ours, i % 3 ? 300 : 1000, 0, NULL), 0, 1);
    }
    assert_memory_equal(&approach, &waiter->approach, sizeof(approach));
}

static void waits_keep_what_they_have_to_tell(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY); /* of the real counter's step */
    timebase_wait_until_ticks(ours, timebase_ticks() + 50000, TIMEBASE_WAIT_PLAIN, NULL);
    uint64_t uses = waiter->uses;
    delay_in_event(ours);
    assert_true(waiter->uses == uses);
    believe_runs(waiter, WRONG_ON_THE_WAY);
    timebase_wait_call_ticks(ours, timebase_ticks() + 50000, TIMEBASE_WAIT_PLAIN, delay_in_event,
                             ours, NULL);
    assert_true(run.calls > 0);
}

/* After a run that its reading contradicts one delay is by the loop, then two, four ... 64. */
static void runs_that_are_contradicted_are_left_alone_for_ever_longer(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int turns = 1; turns < 1000; turns *= 2) {
        believe_runs(waiter, WRONG_ON_THE_WAY);
        assert_true(is_by_run(ours, turns % 3 == 1 ? 300 : 1000, 0));
        for (int left = turns < 64 ? turns : 64; left > 0; left--)
            assert_false(is_by_run(ours, 300, 0));
    }
    for (int i = 0; i < DELAYS; i++) {
        believe_runs(waiter, RIGHT);
        assert_true(is_by_run(ours, 300, 0));
    }
}

/* Of two runs the first: then there is still time for the loop. The result says why it came. */
static void the_loop_makes_up_for_a_first_run_that_was_held_up(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int on_the_way = 0; on_the_way < 2; on_the_way++) {
        struct timebase_wait_result result;
        uint64_t ns = 1500, start = timebase_ticks_ordered();
        believe_runs(waiter, on_the_way ? WRONG_ON_THE_WAY : WRONG_AT_THE_END);
        waiter->contradicted_run = (struct caution){0};
        run.calls = 0;
        timebase_delay_ns(ours, ns, 0, &result);
        double taken = (double)(timebase_ticks_ordered() - start);
        assert_int_equal(run.calls, on_the_way ? 1 : 2);
        assert_true(!on_the_way || taken >= ticks_asked(waiter, ns) - 119 - step_ticks);
        assert_true(result.disturbance & TIMEBASE_DISTURBED_SHARED);
        if (!result.late)
            assert_int_equal(result.mechanism,
                             on_the_way ? TIMEBASE_MECHANISM_LOOP : TIMEBASE_MECHANISM_RUN);
        assert_true(waiter->contradicted_run.left > 0);
    }
}

/* Delays that say nothing of runs do not bring the next one nearer; these rehearse none either. */
static void cold_delays_do_not_count_as_turns(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    believe_runs(waiter, WRONG_ON_THE_WAY);
    assert_true(is_by_run(ours, 300, 0));
    keep_hot(waiter, 0);
    for (int i = 0; i < DELAYS; i++)
        assert_false(is_by_run(ours, 190, 0));
    keep_hot(waiter, 1);
    assert_false(is_by_run(ours, 300, 0));
    assert_true(is_by_run(ours, 300, 0));
}

/*
 * By how much a delay moves what is believed of its way, where its reading says as much. One that
 * was held up before it began is late, and asked for again.
 */
static double moved_by(struct timebase_waiter *ours, enum delay_way way, double after_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    struct waiter_delay *learnt = waiter->learnt.delays[way];
    uint64_t ns = way == DELAY_BY_TWO_RUNS ? 1000 : 300;
    waiter->learnt.period_ns = 0.001; /* 300,000 ticks: emulators are slow */
    waiter->vernier.step_ticks = 1e9;
    believe(waiter, DELAY_BY_RUN, 0);
    do {
        learnt[0] = (struct waiter_delay){fixed_ticks[way], after_ticks};
        waiter->learnt.delay_cycle_ticks = cycle_ticks;
        waiter->contradicted_run = (struct caution){way == DELAY_BY_LOOP, 0};
    } while (timebase_delay_ns(ours, ns, 0, NULL) == 1);
    return learnt[0].fixed_ticks - fixed_ticks[way];
}

/* So is the reading between two runs. */
static double between_moved_by(struct timebase_waiter *ours, double wrong_ticks)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->learnt.period_ns = 0.4;
    waiter->contradicted_run = (struct caution){0};
    believe_runs(waiter, WRONG_AT_THE_END);
    waiter->learnt.between_ticks[0] = -wrong_ticks;
    assert_true(is_by_run(ours, 1000, 0));
    return waiter->learnt.between_ticks[0] + wrong_ticks;
}

/* In small parts, and never by more than one that was held up can tell. */
static void all_ways_follow_their_readings(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    const double most = (1e9 + 8) / 64;
    (void)state;
    for (int way = DELAY_BY_LOOP; way < DELAY_WAYS; way++) {
        assert_true(fabs(moved_by(ours, (enum delay_way)way, 1e12) - most) < 1);
        assert_true(fabs(moved_by(ours, (enum delay_way)way, -1e12) + most) < 1);
    }
    assert_true(fabs(between_moved_by(ours, 1e12) - most) < 1);
    assert_true(fabs(between_moved_by(ours, -1e12) + most) < 1);
}

/* A delay that is shorter than its way takes is late, which says nothing of what the way takes. */
static void a_late_delay_teaches_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int way = DELAY_BY_LOOP; way <= DELAY_BY_RUN; way++)
        for (int measured = 0; measured < 2; measured++) {
            struct timebase_wait_result result;
            struct waiter_delay *learnt = &waiter->learnt.delays[way][measured];
            waiter->contradicted_run = (struct caution){way == DELAY_BY_LOOP, 0};
            learnt->fixed_ticks = 1e6;
            assert_int_equal(timebase_delay_ns(ours, 300, 0, measured ? &result : NULL), 1);
            assert_true(learnt->fixed_ticks == 1e6);
            if (measured)
                assert_true(result.late && result.mechanism == TIMEBASE_MECHANISM_NONE);
        }
    assert_int_equal(run.calls, 0);
}

/* To a step of the counter, by the reading at the end; of the shortest ones, too. */
static void a_delay_tells_how_far_its_end_was_from_its_target(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        uint64_t ns = 100 + dice_below(&dice, 1400);
        believe_runs(waiter, RIGHT);
        run.instructions = 0;
        uint64_t before = timebase_ticks_ordered();
        assert_int_equal(timebase_delay_ns(ours, ns, 0, &result), 0);
        uint64_t after = timebase_ticks_ordered();
        int64_t asked = (int64_t)(ticks_asked(waiter, ns) + 0.5);
        assert_runs_fill(waiter, ns, fixed_ticks[ns < 600 ? DELAY_BY_RUN : DELAY_BY_TWO_RUNS] + 10);
        assert_true(result.target_ticks - (uint64_t)asked - before <= after - before);
        assert_true(result.event_ticks - before <= after - before);
        assert_int_equal(result.error_ticks, (int64_t)(result.event_ticks - result.target_ticks));
        assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_RUN);
        assert_false(result.disturbance & TIMEBASE_DISTURBED_SHARED);
    }
}

/* By whole delays as everybody calls them: what they take is known afterwards. */
static void calibration_learns_all_ways(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_runs();
    const struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(ours, timebase_clock_default()), 0);
    for (int way = DELAY_BY_LOOP; way < DELAY_WAYS; way++)
        for (int measured = 0; measured < 2; measured++)
            assert_int_equal(waiter->learnt.delays[way][measured].fixed_ticks != 0,
                             waiter->learnt.exact);
    assert_int_equal(waiter->learnt.at_once_ticks != 0, waiter->learnt.exact);
    assert_int_equal(waiter->contradicted_run.left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_fill_what_the_rest_leaves),
        cmocka_unit_test(only_short_delays_are_so),
        cmocka_unit_test(cold_delays_and_steady_ones_are_by_the_loop),
        cmocka_unit_test(where_exact_waits_are_impossible_it_is_a_wait),
        cmocka_unit_test(waits_keep_what_they_have_to_tell),
        cmocka_unit_test(runs_that_are_contradicted_are_left_alone_for_ever_longer),
        cmocka_unit_test(the_loop_makes_up_for_a_first_run_that_was_held_up),
        cmocka_unit_test(cold_delays_do_not_count_as_turns),
        cmocka_unit_test(cold_delays_have_a_loop_of_their_own),
        cmocka_unit_test(cold_delays_of_some_us_are_no_waits),
        cmocka_unit_test(cold_delays_rehearse_runs),
        cmocka_unit_test(all_ways_follow_their_readings),
        cmocka_unit_test(a_late_delay_teaches_nothing),
        cmocka_unit_test(a_delay_tells_how_far_its_end_was_from_its_target),
        cmocka_unit_test(calibration_learns_all_ways),
    };
    stay_on_this_cpu();
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
