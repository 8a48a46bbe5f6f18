/* SPDX-License-Identifier: MIT */
/*
 * Delays: what carries them and how far they aim, whatever holds the thread up, and told as they
 * were. How long they take is measured, not asserted: `make accuracy`.
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

static uint64_t some_delay(void)
{
    static const uint64_t most_ns[] = {20, 200, 1000, 5000, 100000};
    return dice_below(&dice, most_ns[dice_below(&dice, 5)]);
}

struct delay {
    uint64_t ns;
    unsigned flags;
    int returned;
    uint64_t before, after;
    struct timebase_wait_result result;
};

static struct delay delay_for(uint64_t ns, unsigned flags, int with_result)
{
    struct delay delay = {.ns = ns, .flags = flags};
    memset(&delay.result, 0xa5, sizeof(delay.result));
    delay.before = timebase_ticks_ordered();
    delay.returned = timebase_delay_ns(the_waiter(), ns, flags, with_result ? &delay.result : NULL);
    delay.after = timebase_ticks_ordered();
    return delay;
}

static void check_result(const struct delay *delay)
{
    const struct timebase_wait_result *result = &delay->result;
    int mechanism = result->mechanism;
    assert_true((int64_t)(result->event_ticks - delay->before) >= 0);
    assert_true((int64_t)(delay->after - result->event_ticks) >= 0);
    assert_true((int64_t)(result->target_ticks - delay->before) >= 0);
    assert_int_equal(result->late, delay->returned);
    assert_in_range(result->disturbance, 0, EVERY_DISTURBANCE);
    assert_in_range(mechanism, TIMEBASE_MECHANISM_NONE, TIMEBASE_MECHANISM_RUN);
    if (mechanism == TIMEBASE_MECHANISM_NONE)
        assert_int_equal(result->late, 1);
    if (mechanism == TIMEBASE_MECHANISM_RUN)
        assert_true(delay->ns < 1600 && result->wake_ns == 0 && result->margin_ns == 0);
    assert_true(result->error_bound_ns > 0);
}

static void every_delay_returns_and_tells_what_it_was(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; i < DELAYS / 4; i++) {
            struct delay delay = delay_for(some_delay(), flags, i % 2);
            assert_in_range(delay.returned, 0, 1);
            if (i % 2)
                check_result(&delay);
        }
}

static double ticks_asked(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns / waiter->learnt.period_ns;
}

/*
 * The fine reading that a delay starts from lies between our readings, but for a step of the
 * counter. The target is as far from it as asked for, less what such a delay is known to be late.
 */
static void check_target(const struct delay *delay, int with_result)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    int never_early = (delay->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double bias = never_early ? 0 : waiter->learnt.delay_bias_ticks[with_result];
    double from_before = (double)(int64_t)(waiter->last.ticks - delay->before);
    double from_after = (double)(int64_t)(waiter->last.ticks - delay->after);
    double asked = ticks_asked(waiter, delay->ns) - bias;
    assert_true(from_before >= asked - 2);
    assert_true(from_after <= (asked > 0 ? asked : 0) + waiter->vernier.step_ticks + 2);
}

static void a_wait_carries_a_delay_to_its_target(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        for (int i = 0; i < DELAYS / 10; i++) {
            uint64_t ns = 2000 + dice_below(&dice, i % 4 ? 5000 : 100000);
            struct delay delay = delay_for(ns, flags, i % 2);
            check_target(&delay, i % 2);
        }
}

/* A delay that comes back late, far later than one is called. */
enum { HELD_NS = 200000 };

static int held_up_behind(struct timebase_waiter *waiter, uint64_t ns, unsigned flags,
                          struct timebase_wait_result *result)
{
    int late = timebase_delay_ns(waiter, ns, flags, result);
    uint64_t start = timebase_ticks_ordered();
    double held_ticks = ticks_asked(waiter_within(waiter), HELD_NS);
    while ((double)(timebase_ticks_ordered() - start) < held_ticks)
        ;
    return late;
}

/*
 * How late a delay by a wait is, is how late it begins. The wait's end is followed, as long as the
 * waiter lives: what the calibration made of it too would be counted twice, and for ever.
 */
static void a_late_end_is_no_part_of_what_a_delay_is_late(void **state)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->delay = held_up_behind;
    assert_int_equal(timebase_waiter_calibrate(&ours), 0);
    for (int measured = 0; measured < 2; measured++)
        assert_true(waiter->learnt.delay_bias_ticks[measured] < ticks_asked(waiter, HELD_NS) / 2);
}

/* ---- short delays, with a run of instructions of our own ---------------------------------- */

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

/* ---- ... and an approach of our own ------------------------------------------------------- */

enum { POLLS = 12 };

static struct {
    struct approach asked;
    int calls;
    int64_t way_in_ticks, event_ticks; /* since the delay's reading */
    int is_told;                       /* the event's */
} approached;

/* Since the delay's reading, so that the waiter's tempo is right: the last poll sees the target. */
static int64_t event_as_believed(const struct waiter *waiter, const struct approach *approach)
{
    int64_t target = (int64_t)(approach->target_ticks - waiter->delay_start_ticks);
    double after = waiter->learnt.tail_cycles * waiter->tempo.cycle_ticks -
        waiter->learnt.stamp_ticks[1] - (waiter->vernier.step_ticks - 1);
    return target + lround(after);
}

/* Polls as far apart as the waiter believes them to be. */
static void approach_as_told(struct approach *approach)
{
    const struct waiter *waiter = (const struct waiter *)(const void *)approach;
    approached.asked = *approach;
    approached.calls++;
    uint64_t start = waiter->delay_start_ticks;
    int64_t first = (int64_t)(start - approach->target_ticks) + approached.way_in_ticks;
    for (int k = 0; k < POLLS; k++)
        approach->poll_ticks[k] = (int32_t)lround((double)first + k * waiter->period.value);
    approach->polls = POLLS;
    if (!approached.is_told)
        approached.event_ticks = event_as_believed(waiter, approach);
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
    tempo_init(&waiter->tempo, 0.5);
    waiter->learnt.tail_cycles = 100;
    estimate_init(&waiter->period, ticks_asked(waiter, 20), WAITER_PERIOD_MEAN);
    estimate_init(&waiter->way_in, ticks_asked(waiter, 25), WAITER_PERIOD_MEAN);
    waiter->learnt.delay_call_ticks = 3;
    for (int measured = 0; measured < 2; measured++) {
        waiter->learnt.delay_fixed_ticks[measured] = ticks_asked(waiter, 20) * (measured + 1);
        waiter->learnt.exit_ticks[1][measured] = 7 + measured;
    }
    run.least_ticks = 0;
    approached.way_in_ticks = (int64_t)waiter->way_in.value;
    approached.is_told = 0;
    return &ours;
}

/* So that what one delay taught does not change the next. */
static void forget(struct waiter *waiter)
{
    waiter->delay_is_open = 0;
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
    double target = (double)(int64_t)(a->target_ticks - waiter->delay_start_ticks);
    double fixed = (double)a->fixed_cycles / (double)(INT64_C(1) << APPROACH_CYCLE_BITS);
    double late_cycles = waiter->learnt.tail_cycles + 0.5 - fixed;
    return target - in_ticks(a->span_ticks) / 2 + late_cycles * waiter->tempo.cycle_ticks;
}

static double first_poll_at(const struct waiter *waiter)
{
    const struct approach *a = &approached.asked;
    double earliest = in_ticks(a->first_earliest_ticks + a->earliest_ticks);
    double latest = in_ticks(a->first_latest_ticks + a->latest_ticks);
    double target = (double)(int64_t)(a->target_ticks - waiter->delay_start_ticks);
    assert_true(latest >= earliest);
    assert_true(latest - earliest < 10);
    return target - in_ticks(a->span_ticks) / 2 + (earliest + latest) / 2;
}

/* Two readings are less than a step from where they were taken, each. */
static void short_delays_are_approaches_to_so_long_after_a_reading(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 0; i < DELAYS * 10; i++) {
        struct timebase_wait_result result;
        uint64_t ns = 200 + dice_below(&dice, 1400), before = timebase_ticks_ordered();
        double wanted = ticks_asked(waiter, ns) - waiter->learnt.delay_call_ticks -
            waiter->learnt.exit_ticks[1][i % 2];
        run.calls = approached.calls = 0;
        assert_int_equal(timebase_delay_ns(ours, ns, 0, i % 2 ? &result : NULL), 0);
        assert_int_equal(approached.calls, 1);
        assert_int_equal(run.calls, 0);
        uint64_t after = timebase_ticks_ordered();
        assert_true(waiter->delay_start_ticks - before <= after - before);
        assert_true(fabs(aimed_at(waiter) - wanted) < 0.1);
        assert_true(fabs(first_poll_at(waiter) - waiter->way_in.value) < 0.1);
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
    assert_true(waiter->delay_is_open);
    waiter_aim(waiter, timebase_ticks(), 0, 1);
    assert_true(in_ticks(waiter->approach.span_ticks) == waiter->vernier.step_ticks - 1);
    assert_true(waiter->approach.first_earliest_ticks == -APPROACH_NEVER);
    assert_true(waiter->approach.first_latest_ticks == APPROACH_NEVER);
    assert_false(waiter->delay_is_open);
}

/* What one took is believed in parts; four in a row that are far off at once. */
static void delays_follow_the_way_to_their_first_poll(void **state)
{
    struct timebase_waiter *ours = waiter_with_our_ways();
    struct waiter *waiter = waiter_within(ours);
    double believed = waiter->way_in.value, far = waiter->vernier.step_ticks + 100;
    (void)state;
    approached.way_in_ticks = (int64_t)(believed + 5);
    for (int i = 0; i <= WAITER_PERIOD_MEAN * 8; i++)
        timebase_delay_ns(ours, 1000, 0, NULL);
    assert_true(fabs(waiter->way_in.value - believed - 5) < 2);
    believed = waiter->way_in.value;
    approached.way_in_ticks = (int64_t)(believed + far);
    for (int i = 0; i < 4; i++) {
        timebase_delay_ns(ours, 1000, 0, NULL);
        assert_true(fabs(waiter->way_in.value - believed) < 1);
    }
    timebase_delay_ns(ours, 1000, 0, NULL);
    assert_true(waiter->way_in.value - believed > 20);
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

/* ---- and with the processor's ------------------------------------------------------------- */

static void no_delay_at_all_returns_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        struct delay delay = delay_for(0, (unsigned)i & EVERY_FLAG, i % 2);
        assert_in_range(delay.returned, 0, 1);
    }
}

/* Without an approach of its own a processor polls. */
static void short_delays_are_exact_where_waits_are(void **state)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    int can = waiter->ways.run != NULL && waiter->learnt.exact;
    (void)state;
    struct delay delay = delay_for(1000, 0, 1);
    if (can && !delay.result.late)
        assert_int_equal(delay.result.mechanism, waiter->ways.mechanism);
    assert_int_not_equal(delay_for(50000, 0, 1).result.mechanism, TIMEBASE_MECHANISM_RUN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_delay_returns_and_tells_what_it_was),
        cmocka_unit_test(a_wait_carries_a_delay_to_its_target),
        cmocka_unit_test(a_late_end_is_no_part_of_what_a_delay_is_late),
        cmocka_unit_test(the_shortest_delays_are_as_many_instructions_as_fill_them),
        cmocka_unit_test(short_delays_are_approaches_to_so_long_after_a_reading),
        cmocka_unit_test(a_wait_after_a_delay_knows_nothing_of_it),
        cmocka_unit_test(delays_follow_the_way_to_their_first_poll),
        cmocka_unit_test(a_delay_tells_how_far_its_event_was_from_its_target),
        cmocka_unit_test(a_delay_in_a_waits_function_is_of_instructions),
        cmocka_unit_test(no_delay_at_all_returns_at_once),
        cmocka_unit_test(short_delays_are_exact_where_waits_are),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
