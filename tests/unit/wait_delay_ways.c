/* SPDX-License-Identifier: MIT */
/*
 * Delays by a run of instructions and an approach of our own: which of them makes a delay, what it
 * is told, and what it teaches. delays_at_once.c has those of less than half a microsecond.
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

static struct dice dice;

static double ticks_asked(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns / waiter->learnt.period_ns;
}

static struct {
    uint64_t instructions;
    int calls;
    uint64_t least_ticks; /* that it takes */
} run;

static void count_instructions(uint64_t instructions)
{
    uint64_t start = timebase_ticks_ordered();
    run.instructions = instructions;
    run.calls++;
    while (timebase_ticks_ordered() - start < run.least_ticks)
        ;
}

enum { POLLS = 12 };

static struct {
    struct approach asked;
    int calls;
    int64_t way_in_ticks, event_ticks; /* since the delay's reading */
    int64_t held_up_ticks;             /* before the event, if it is not told */
    int is_told;                       /* the event's */
} approached;

/* Whenever the next delay comes, exact ones were a moment ago. */
static void keep_hot(struct waiter *waiter)
{
    waiter->exact_ticks = timebase_ticks() + (UINT64_C(1) << 60);
}

static void prefer(struct waiter *waiter, enum choice_way way)
{
    const double less = 1, more = 100;
    choice_init(&waiter->choice, way, &less, 1);
    choice_init(&waiter->choice, way == CHOICE_EXACT ? CHOICE_LOOP : CHOICE_EXACT, &more, 1);
}

/* Since the delay's reading, so that the waiter's tempo is right: the last poll sees the target. */
static int64_t event_as_believed(const struct waiter *waiter, const struct approach *approach)
{
    int64_t target = (int64_t)(approach->target_ticks - waiter->last.entered_ticks);
    double after = waiter->learnt.tail_cycles * waiter->tempo.cycle_ticks -
        waiter->learnt.stamp_ticks[1] - (waiter->vernier.step_ticks - 1);
    return target + lround(after);
}

/* Polls as far apart as the waiter believes them to be. */
static void approach_as_told(struct approach *approach)
{
    struct waiter *waiter = (struct waiter *)(void *)approach;
    approached.asked = *approach;
    approached.calls++;
    keep_hot(waiter);
    uint64_t start = waiter->last.entered_ticks;
    int64_t first = (int64_t)(start - approach->target_ticks) + approached.way_in_ticks;
    for (int k = 0; k < POLLS; k++)
        approach->poll_ticks[k] = (int32_t)lround((double)first + k * waiter->period.value);
    approach->polls = POLLS;
    if (!approached.is_told)
        approached.event_ticks = event_as_believed(waiter, approach) + approached.held_up_ticks;
    approach->event_ticks = start + (uint64_t)approached.event_ticks;
    approach->sample_ticks = 0;
    approach->run = 0;
    approach->overdue_cycles = 0;
}

_Static_assert(offsetof(struct waiter, approach) == 0, "approach_as_told() finds its waiter");

static struct timebase_waiter *waiter_with_our_ways(void)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->ways.run = count_instructions;
    waiter->ways.exact = approach_as_told;
    waiter->ways.leaves = 0;
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = 0.4; /* not this machine's: every machine is to try the same */
    waiter->vernier = (struct vernier){.step_ticks = 26, .half_step_ticks = 12.5, .readings = 1};
    keep_hot(waiter);
    prefer(waiter, CHOICE_EXACT);
    tempo_init(&waiter->tempo, 0.5);
    waiter->learnt.tail_cycles = 100;
    estimate_init(&waiter->period, ticks_asked(waiter, 20), WAITER_PERIOD_MEAN);
    for (int learns = 0; learns < 2; learns++)
        estimate_init(&waiter->way_in[learns], ticks_asked(waiter, 25), WAITER_PERIOD_MEAN);
    waiter->learnt.hot_ticks = INT64_C(1) << 60; /* however long this test is held up */
    waiter->learnt.plain_bias_ticks = 100;
    for (int measured = 0; measured < 2; measured++) {
        waiter->learnt.delay_fixed_ticks[measured] = ticks_asked(waiter, 20) * (measured + 1);
        waiter->learnt.exit_ticks[0][measured] = 9 + measured;
        waiter->learnt.exit_ticks[1][measured] = 7 + measured;
    }
    run.least_ticks = 0;
    approached.way_in_ticks = (int64_t)waiter->way_in[0].value;
    approached.is_told = 0;
    return &ours;
}

/* So that what one delay taught does not change the next. */
static void forget(struct waiter *waiter)
{
    waiter->wait_is_open = 0;
}

static void the_shortest_delays_are_as_many_instructions_as_fill_them(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS * 10; i++) {
        struct timebase_wait_result result;
        uint64_t ns = dice_below(&dice, 45);
        double left = ticks_asked(waiter, ns) - waiter->learnt.delay_fixed_ticks[i % 2];
        double count = left / waiter->tempo.cycle_ticks + 0.5;
        run.calls = approached.calls = 0;
        int late = timebase_delay_ns(ours, ns, 0, i % 2 ? &result : NULL);
        assert_int_equal(run.calls, 1);
        assert_int_equal(approached.calls, 0);
        /* Rounding is the processor's: an x87 keeps more digits. */
        assert_true(fabs((double)run.instructions - (count > 0 ? floor(count) : 0)) <= 1);
        assert_int_equal(late, run.instructions == 0);
    }
}

static double in_ticks(int64_t scaled)
{
    return (double)scaled / (1 << APPROACH_TICK_BITS);
}

/*
 * Where the event is aimed at, by an approach that takes none of its polls for anything but what it
 * reads; and where its first poll is believed to be. Both since the delay's reading.
 */
static double aimed_at(const struct waiter *waiter)
{
    const struct approach *a = &approached.asked;
    double target = (double)(int64_t)(a->target_ticks - waiter->last.entered_ticks);
    double fixed = (double)a->fixed_cycles / (double)(INT64_C(1) << APPROACH_CYCLE_BITS);
    double late_cycles = waiter->learnt.tail_cycles + 0.5 - fixed;
    return target - in_ticks(a->span_ticks) / 2 + late_cycles * waiter->tempo.cycle_ticks;
}

static double first_poll_at(const struct waiter *waiter)
{
    const struct approach *a = &approached.asked;
    double earliest = in_ticks(a->first_earliest_ticks + a->earliest_ticks);
    double latest = in_ticks(a->first_latest_ticks + a->latest_ticks);
    double target = (double)(int64_t)(a->target_ticks - waiter->last.entered_ticks);
    assert_true(latest >= earliest);
    assert_true(latest - earliest < 10);
    return target - in_ticks(a->span_ticks) / 2 + (earliest + latest) / 2;
}

/* Two readings are less than a step from where they were taken, each. With a result from 0.2 us on.
 */
static void short_delays_are_approaches_to_so_long_after_a_reading(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS * 10; i++) {
        struct timebase_wait_result result;
        uint64_t least = i % 2 ? 200 : 500, ns = least + dice_below(&dice, 1600 - (unsigned)least);
        uint64_t before = timebase_ticks_ordered();
        double wanted = ticks_asked(waiter, ns) - waiter->learnt.exit_ticks[1][i % 2];
        run.calls = approached.calls = 0;
        assert_int_equal(timebase_delay_ns(ours, ns, 0, i % 2 ? &result : NULL), 0);
        assert_int_equal(approached.calls, 1);
        assert_int_equal(run.calls, 0);
        uint64_t after = timebase_ticks_ordered();
        assert_true(waiter->last.entered_ticks - before <= after - before);
        assert_true(fabs(aimed_at(waiter) - wanted) < 0.1);
        assert_true(fabs(first_poll_at(waiter) - waiter->way_in[0].value) < 0.1);
        assert_true(in_ticks(approached.asked.span_ticks) == 2 * (waiter->vernier.step_ticks - 1));
        forget(waiter);
    }
    approached.calls = run.calls = 0;
    assert_true(
        timebase_delay_ns(ours, 500, TIMEBASE_WAIT_NEVER_EARLY | TIMEBASE_WAIT_PLAIN, NULL) >= 0);
    assert_int_equal(approached.calls + run.calls, 0);
}

/* Readings of a wait stand for a step each, and for no poll before the first. */
static void a_wait_after_a_delay_knows_nothing_of_it(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_int_equal(timebase_delay_ns(ours, 1000, 0, NULL), 0);
    assert_true(waiter->wait_is_open && waiter->last.is_delay);
    waiter_aim(waiter, timebase_ticks(), 0, 1);
    assert_true(in_ticks(waiter->approach.span_ticks) == waiter->vernier.step_ticks - 1);
    assert_true(waiter->approach.first_earliest_ticks == -APPROACH_NEVER);
    assert_true(waiter->approach.first_latest_ticks == APPROACH_NEVER);
}

static void delay_often(struct timebase_waiter *waiter, int times)
{
    for (int i = 0; i < times; i++)
        timebase_delay_ns(waiter, 1000, 0, NULL);
}

/*
 * What one took is believed in parts; four in a row that are far off at once. One in eight is
 * learnt from, and one in 64 of those that learn on their way.
 */
static void delays_follow_the_way_to_their_first_poll(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    struct estimate *way_in = waiter->way_in;
    double believed = way_in[0].value, far = waiter->vernier.step_ticks + 100;
    (void)state;
    approached.way_in_ticks = (int64_t)(believed + 5);
    delay_often(ours, WAITER_PERIOD_MEAN * 8 * 64);
    for (int learns = 0; learns < 2; learns++)
        assert_true(fabs(way_in[learns].value - believed - 5) < 2);
    believed = way_in[0].value;
    approached.way_in_ticks = (int64_t)(believed + far);
    delay_often(ours, 3 * 8);
    assert_true(fabs(way_in[0].value - believed) < 1);
    delay_often(ours, 2 * 8);
    assert_true(way_in[0].value - believed > 20);
    delay_often(ours, 5 * 64);
    assert_true(way_in[1].value - believed > 20);
}

static void a_delay_tells_how_far_its_event_was_from_its_target(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int off = -50; off < 50; off++) {
        struct timebase_wait_result result;
        approached.is_told = 1;
        approached.event_ticks = (int64_t)(ticks_asked(waiter, 1000) + 0.5) + off;
        assert_int_equal(timebase_delay_ns(ours, 1000, 0, &result), 0);
        assert_int_equal(result.error_ticks, off);
        assert_true(result.event_ticks - result.target_ticks == (uint64_t)(int64_t)off);
        assert_int_equal(result.mechanism, waiter->ways.mechanism);
        forget(waiter);
    }
}

/* Where rehearsals or delays have seen that the loop does better; or code that has gone cold. */
static void a_delay_is_polled_where_that_is_better(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    prefer(waiter, CHOICE_LOOP);
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        approached.calls = 0;
        assert_in_range(timebase_delay_ns(ours, 1000, 0, i % 2 ? &result : NULL), 0, 1);
        assert_int_equal(approached.calls, 0);
        assert_false(waiter->last.exact);
        if (i % 2 && !result.late)
            assert_int_equal(result.mechanism, TIMEBASE_MECHANISM_LOOP);
        assert_true(i % 2 == 0 || result.disturbance & TIMEBASE_DISTURBED_SHARED);
        forget(waiter);
    }
}

/*
 * The code of exact delays has gone out of the caches before each. One that its stamp shows far off
 * makes the next ones loops; but one that was well does not.
 */
static void delays_by_cold_code_are_exact_until_one_is_bad(void **state)
{
    enum { LEFT_ALONE = 8 };
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    int most = 8 * (LEFT_ALONE + 16); /* one in eight is learnt from */
    (void)state;
    for (int is_bad = 0; is_bad < 2; is_bad++) {
        approached.calls = 0;
        for (int i = 0; i < most; i++) {
            prefer(waiter, CHOICE_EXACT);
            tempo_init(&waiter->tempo, 0.5);
            approached.held_up_ticks = is_bad * 200;
            waiter->exact_ticks = timebase_ticks() - (UINT64_C(1) << 60);
            waiter->rehearsed_ticks = timebase_ticks() + (UINT64_C(1) << 60);
            timebase_delay_ns(ours, 1000, 0, NULL);
        }
        if (is_bad)
            assert_in_range(approached.calls, 1, most - LEFT_ALONE);
        else
            assert_int_equal(approached.calls, most);
    }
    approached.held_up_ticks = 0;
}

/* ... until the counter is as far from the reading at the call as its own lateness leaves. */
static void a_polled_delay_leaves_by_the_reading_at_its_call(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->learnt.plain_bias_ticks = 60;
    waiter->learnt.exit_ticks[0][1] = 11;
    for (int i = 0; i < DELAYS; i++) {
        struct timebase_wait_result result;
        uint64_t ns = 300 + dice_below(&dice, 1200);
        prefer(waiter, CHOICE_LOOP);
        timebase_delay_ns(ours, ns, 0, &result);
        double wanted = ticks_asked(waiter, ns) - 11 - 60;
        double left = (double)(int64_t)(waiter->approach.leave_ticks - waiter->last.entered_ticks);
        assert_true(fabs(left - wanted) <= 1);
        forget(waiter);
    }
}

static int delayed;

static void delay_in_event(void *waiter)
{
    run.calls = approached.calls = 0;
    delayed = timebase_delay_ns((struct timebase_waiter *)waiter, 1000, 0, NULL);
}

/* The approach still belongs to the wait. */
static void a_delay_in_a_waits_function_is_of_instructions(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct timebase_wait_result result;
    (void)state;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_asked(waiter_within(ours), 50000);
    assert_true(timebase_wait_call_ticks(ours, target, TIMEBASE_WAIT_PLAIN, delay_in_event, ours,
                                         &result) >= 0);
    assert_int_equal(run.calls, 1);
    assert_int_equal(approached.calls, 0);
    assert_int_equal(delayed, 0);
    assert_int_equal(timebase_delay_ns(ours, 1000, 0, NULL), 0);
    assert_int_equal(approached.calls, 1);
}

/*
 * A delay by a wait counts from the reading at its call, too. Its fine reading says where within a
 * step that was, unless it came later or sooner than is usual.
 */
static void a_late_fine_reading_does_not_move_a_delay(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    double asked = ticks_asked(waiter, 5000);
    (void)state;
    for (int late = 0; late < 2; late++) {
        double at = late ? waiter->vernier.step_ticks - 1 : 0;
        waiter->learnt.delay_read_ticks = late ? -1e9 : 1e9;
        timebase_delay_ns(ours, 5000, TIMEBASE_WAIT_PLAIN, NULL);
        double target = (double)(int64_t)(waiter->last.ticks - waiter->last.entered_ticks);
        assert_true(fabs(target + waiter->last.fraction - asked - at) < 0.1);
    }
}

/* Few instructions that take long, each of which needs the one before: a core that runs ahead of
 * itself has all of them under way, and what comes behind them too. */
static void compute(void)
{
    static volatile double seed = 1.5;
    double value = seed;
    for (int i = 0; i < 40; i++)
        value = 1 / (value + 0.5);
    seed = value;
}

static uint64_t least_time_of_computing(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t start = timebase_ticks_ordered();
        compute();
        uint64_t taken = timebase_ticks_ordered() - start;
        least = taken < least ? taken : least;
    }
    return least;
}

static void a_delay_begins_when_all_before_it_is_done(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    uint64_t least = least_time_of_computing();
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        uint64_t start = timebase_ticks_ordered();
        compute();
        timebase_delay_ns(ours, 1000, 0, NULL);
        assert_true(waiter_within(ours)->last.entered_ticks - start >= least / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_delays_are_as_many_instructions_as_fill_them),
        cmocka_unit_test(short_delays_are_approaches_to_so_long_after_a_reading),
        cmocka_unit_test(a_wait_after_a_delay_knows_nothing_of_it),
        cmocka_unit_test(delays_follow_the_way_to_their_first_poll),
        cmocka_unit_test(a_delay_tells_how_far_its_event_was_from_its_target),
        cmocka_unit_test(a_delay_is_polled_where_that_is_better),
        cmocka_unit_test(delays_by_cold_code_are_exact_until_one_is_bad),
        cmocka_unit_test(a_polled_delay_leaves_by_the_reading_at_its_call),
        cmocka_unit_test(a_delay_in_a_waits_function_is_of_instructions),
        cmocka_unit_test(a_delay_begins_when_all_before_it_is_done),
        cmocka_unit_test(a_late_fine_reading_does_not_move_a_delay),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
