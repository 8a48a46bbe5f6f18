/* SPDX-License-Identifier: MIT */
/* Short delays by a fine counter that only count: which, and how many cycles. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "counting.h"
#include "timing/calibration/calibration_counted.h"

/* ---- which -------------------------------------------------------------------------------- */

static void those_of_its_lengths_without_a_result_or_other_wishes(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    struct timebase_wait_result result;
    (void)state;
    assert_true(delay_may_be_counted(waiter, LEAST_NS, 0, NULL));
    assert_false(delay_may_be_counted(waiter, LEAST_NS - 1, 0, NULL));
    assert_false(delay_may_be_counted(waiter, 0, 0, NULL));
    assert_true(delay_may_be_counted(waiter, DELAY_SHORT_NS - 1, 0, NULL));
    assert_false(delay_may_be_counted(waiter, DELAY_SHORT_NS, 0, NULL));
    assert_true(delay_may_be_counted(waiter, 300, TIMEBASE_WAIT_PREPARE, NULL));
    assert_false(delay_may_be_counted(waiter, 300, TIMEBASE_WAIT_STEADY, NULL));
    assert_false(delay_may_be_counted(waiter, 300, TIMEBASE_WAIT_PLAIN, NULL));
    assert_false(delay_may_be_counted(waiter, 300, TIMEBASE_WAIT_NEVER_EARLY, NULL));
    assert_false(delay_may_be_counted(waiter, 300, 0, &result));
    waiter->counted.span_ns = 0; /* where the counter steps */
    assert_false(delay_may_be_counted(waiter, 300, 0, NULL));
}

/* Whatever came before it, and after a pause as well. */
static void from_the_first_one_on(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    assert_true(is_counted(ours, 200, 0, NULL));
    assert_false(is_counted(ours, 200, TIMEBASE_WAIT_PLAIN, NULL));
    assert_true(is_counted(ours, 200, 0, NULL));
    assert_true(is_counted(ours, 1500, 0, NULL));
    waiter->delay_fetched = DELAY_RAN;
    waiter->learnt.hot_ticks = INT64_MIN;
    assert_true(is_counted(ours, 200, 0, NULL));
    assert_int_equal(waiter->delay_fetched, 0); /* runs' code has gone */
    assert_false(is_counted(ours, 200, TIMEBASE_WAIT_PLAIN, NULL));
    assert_true(is_counted(ours, 1500, 0, NULL));
}

/* An exact wait at its call would have to load ten times as much code. */
static void the_first_of_a_series_is_counted_however_long(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    waiter->learnt.near_delay_ticks = INT64_MAX;
    waiter->learnt.hot_ticks = INT64_MIN;
    assert_true(is_counted(ours, DELAY_COUNTED_AT_ONCE_NS, 0, NULL));
    assert_true(is_counted(ours, DELAY_SHORT_NS - 1, 0, NULL));
}

/* So that it has no time to count. */
static void drive_its_code_out(struct waiter *waiter)
{
    waiter->counted.less_cycles = 1e6;
}

/* After some pauses the next ones, which load it, do not learn by it. */
static void where_its_code_is_far_the_loop_has_turns(void **state)
{
    enum { NO_LESSON = 4, MANY = 64 };
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    int tried = 0;
    (void)state;
    stop_time(waiter);
    waiter->learnt.hot_ticks = INT64_MIN;
    waiter->counted.only = 2;
    drive_its_code_out(waiter);
    for (int i = 0; i < MANY; i++) {
        uint32_t before = waiter->far_code.left;
        assert_false(is_counted(ours, 200, 0, NULL));
        assert_true(waiter->counted.only >= NO_LESSON);
        tried += waiter->far_code.left > before;
    }
    assert_in_range(tried, 5, 8); /* 1, 2, 4 ... turns in between */
    waiter->far_code.left = 0;
    waiter->counted.less_cycles = LESS_CYCLES;
    uint16_t turns = waiter->far_code.turns;
    assert_int_equal(waiter->counted.pause, COUNTED_FAR);
    assert_true(is_counted(ours, 200, 0, NULL));
    assert_int_equal(waiter->counted.pause, COUNTED_NEAR);
    assert_int_equal(waiter->far_code.turns, turns);
    assert_true(is_counted(ours, 200, 0, NULL)); /* that the last one went well is noted now */
    assert_true(waiter->far_code.turns < turns);
}

/* Nor what held up its chain after a pause: its code had come. */
static void what_is_held_up_in_its_chain_had_its_code_near(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    waiter->learnt.hot_ticks = INT64_MIN;
    counted.late = waiter;
    counted.late_ns = 1000;
    timebase_delay_ns(ours, 400, 0, NULL);
    assert_int_equal(counted.calls, 1); /* behind the first of two chains nothing was left */
    assert_int_equal(waiter->counted.pause, COUNTED_NEAR);
    assert_int_equal(waiter->far_code.left, 0);
}

/* What has just held up one soon after another says nothing of pauses. */
static void what_was_held_up_is_by_the_loop_alone(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    drive_its_code_out(waiter);
    assert_false(is_counted(ours, 200, 0, NULL));
    assert_int_equal(waiter->far_code.left, 0);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_ONLY - 1);
}

/* Not with the steadier tail: that is a run which nobody looks at, as without counted ones. */
static void the_shortest_that_are_to_be_steady_are_no_loop(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->learnt.checked_ns = LEAST_NS + 1;
    assert_true(delay_has_turn_of_loop(waiter, LEAST_NS, 0));
    assert_false(delay_has_turn_of_loop(waiter, LEAST_NS, TIMEBASE_WAIT_STEADY));
    assert_true(delay_has_turn_of_loop(waiter, LEAST_NS + 1, TIMEBASE_WAIT_STEADY));
}

/* ---- how many cycles ---------------------------------------------------------------------- */

/*
 * In two chains, where there is time for them: between them the counter is read again. Before a long first
 * one as well, which is a quarter as long then; but no time passes here.
 */
static void it_counts_what_the_rest_leaves(void **state)
{
    enum { LAST_NS = 60, LEAST_CYCLES = 32, LONG = 800, FIRST_LESS = 30 };
    struct timebase_waiter *ours = waiter_that_counts();
    (void)state;
    stop_time(waiter_within(ours));
    waiter_within(ours)->counted.first_less_cycles = FIRST_LESS;
    for (uint64_t ns = LEAST_NS; ns < DELAY_SHORT_NS; ns += 7) {
        int calls = counted.calls;
        uint64_t cycles = 2 * ns - LESS_CYCLES, last = 2 * LAST_NS + LESS_CYCLES;
        waiter_within(ours)->counted.only = DELAY_COUNTED_ONLY;
        assert_true(is_counted(ours, ns, 0, NULL));
        assert_int_equal(counted.cycles, cycles);
        uint64_t first = cycles >= last + LEAST_CYCLES ? cycles - last : 0;
        assert_int_equal(counted.calls - calls, first > LONG ? 3 : first > 0 ? 2 : 1);
        assert_int_equal(counted.first, first);
        assert_int_equal(counted.unseen, first > LONG ? first - first / 4 - FIRST_LESS : 0);
    }
}

/* From its second reading on; it has read the counter since it was called. */
static void what_has_passed_is_not_counted_again(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->learnt.period_ns = 1e-10; /* the test itself takes less than half a nanosecond */
    uint64_t begin = timebase_delay_begin() - UINT64_C(1000000000000);
    assert_int_equal(timebase_delay_ns_from(ours, 340, 0, NULL, begin), 0);
    assert_in_range(counted.cycles, 2 * (340 - 100) - LESS_CYCLES - 1, 2 * (340 - 100) - LESS_CYCLES);
}

static void the_second_chain_makes_up_for_the_first(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    counted.late = waiter;
    counted.late_ns = 50;
    assert_true(is_counted(ours, 400, 0, NULL));
    assert_int_equal(counted.calls, 2);
    assert_int_equal(counted.cycles, 2 * (400 - 50) - LESS_CYCLES);
}

/* Of 1,000 ticks and more: an emulator's counter may stand still all the way. */
static void delay_with_a_way_in(struct timebase_waiter *ours)
{
    uint64_t begin = timebase_delay_begin() - 1000;
    assert_in_range(timebase_delay_ns_from(ours, 400, 0, NULL, begin), 0, 1);
}

/* What is believed, in cycles per nanosecond, of a core that is a tenth slower than was believed. */
static double rate_believed(struct timebase_waiter *ours, float way_in_ticks)
{
    enum { BESIDE = 30, TICKS_PER_CYCLE = 4000 };
    struct waiter *waiter = waiter_within(ours);
    counted.ticks_per_cycle = TICKS_PER_CYCLE;
    waiter->learnt.period_ns = 1.1 / CYCLES_PER_NS / TICKS_PER_CYCLE;
    waiter->counted.rate = (struct core_rate){CYCLES_PER_NS, 0};
    waiter->counted.step_ns = 1;
    waiter->counted.first_less_cycles = counted.beside = BESIDE;
    waiter->counted.way_in_ticks = way_in_ticks;
    delay_with_a_way_in(ours);
    counted.ticks_per_cycle = 0;
    return waiter->counted.rate.cycles_per_ns;
}

/* By what it took, and what it has beside its cycles. A reading takes some more; and one may be held up. */
static void the_first_of_two_chains_is_the_cores_clock(void **state)
{
    enum { MANY = 1000 };
    const double seen = CYCLES_PER_NS / 1.1;
    struct timebase_waiter *ours = waiter_that_counts();
    double rate = 0;
    (void)state;
    for (int i = 0; i < MANY && !(rate < seen + 1e-6 && rate > seen * 0.97); i++)
        rate = rate_believed(ours, 1e30F);
    assert_true(rate < seen + 1e-6 && rate > seen * 0.97);
    assert_true(waiter_within(ours)->counted.saw_clock);
    stop_time(waiter_within(ours));
    assert_true(is_counted(ours, LEAST_NS, 0, NULL)); /* in one chain */
    assert_false(waiter_within(ours)->counted.saw_clock);
}

/* That is no clock which came behind a longer way in than usual: little of it is believed. */
static void behind_a_long_way_in_there_is_no_other_clock(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(fabs(rate_believed(ours, 1e-3F) / CYCLES_PER_NS - 1) < 0.01);
}

static void what_is_usual_of_ways_in_is_followed(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    float *usual = &waiter->counted.way_in_ticks;
    (void)state;
    stop_time(waiter);
    *usual = 1e30F;
    delay_with_a_way_in(ours);
    assert_true(fabsf(*usual / 1e30F - 1 + 1 / 256.0F) < 1e-6F);
    *usual = 1e-3F;
    delay_with_a_way_in(ours);
    assert_true(fabsf(*usual / 1e-3F - 1 - 1 / 256.0F) < 1e-6F);
    float before = *usual;
    assert_true(is_counted(ours, LEAST_NS, 0, NULL));
    assert_true(*usual == before);
}

static void what_is_too_short_is_by_the_loop(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    waiter->counted.less_cycles = 2 * 300;
    assert_int_equal(timebase_delay_ns(ours, 300, 0, NULL), 1);
    assert_int_equal(counted.calls, 0);
    assert_int_equal(timebase_delay_ns(ours, 301, 0, NULL), 0);
    assert_int_equal(counted.cycles, 2);
}

/* The last of each series has a stamp and counts less; the next one learns from that. */
static void one_in_many_has_a_stamp_and_the_next_one_learns(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    stop_time(waiter);
    for (int i = 1; i < DELAY_COUNTED_ONLY; i++) {
        assert_true(is_counted(ours, 440, 0, NULL));
        assert_int_equal(counted.cycles, 880 - LESS_CYCLES);
    }
    assert_true(waiter->counted_lesson.ns == 0);
    uint64_t first = counted.first;
    assert_true(is_counted(ours, 440, 0, NULL));
    assert_int_equal(counted.cycles, 880 - LESS_CYCLES - STAMP_CYCLES);
    assert_int_equal(counted.first, first);
    assert_true(waiter->counted_lesson.ns == 440);
    assert_true(waiter->counted_lesson.taken_ticks == (int64_t)waiter->delay_taken_ticks);
    waiter->learnt.period_ns = PERIOD_NS;
    waiter->counted_lesson.taken_ticks = 880 - AFTER_TICKS; /* as it should */
    is_counted(ours, 440, 0, NULL);
    assert_true(waiter->counted_lesson.ns == 0);
    assert_true(waiter->counted.less_cycles == LESS_CYCLES);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_ONLY);
}

/* ---- loops without a stamp ---------------------------------------------------------------- */

/* By a fine counter: one in eight has it, or nothing would be learnt from them. */
static void most_loops_by_a_fine_counter_have_no_stamp(void **state)
{
    enum { MANY = 4000 };
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    int with = 0;
    (void)state;
    waiter->learnt.at_once_ticks = waiter->learnt.at_once_rest_ticks = 1;
    for (int i = 0; i < MANY; i++) {
        waiter->learnt.at_once_stamp_ticks = 10;
        waiter->delay_called_ticks = timebase_ticks() | 16;
        delay_at_once(waiter, 300, 0);
        assert_int_equal(waiter->delay_error_ticks, DELAY_ERROR_UNKNOWN);
        waiter->learnt.at_once_stamp_ticks = 0;
        waiter->delay_called_ticks = timebase_ticks() | 16;
        with += delay_at_once(waiter, 1000, 0) == 0 && waiter->delay_error_ticks >= 0;
        waiter->learnt.at_once_ticks = 1e18; /* the loop ends at once */
    }
    assert_true(with > 0 || !waiter_may_read(waiter));
}

/* ---- the chain itself --------------------------------------------------------------------- */

static const uint64_t lengths[] = {0, 1, 2, 3, 47, 48, 49, 50, 51, 95, 96, 97, 5000};

static void a_chain_of_any_length_returns_nothing(void **state)
{
    approach_counting *count = approach_ways().count;
    (void)state;
    for (size_t i = 0; count != NULL && i < sizeof(lengths) / sizeof(lengths[0]); i++)
        assert_int_equal(count(lengths[i], i), 0);
}

/* One after the other they take a cycle each, and no clock is above 10 GHz. */
static void a_chain_takes_a_tenth_of_a_nanosecond_a_cycle_at_least(void **state)
{
    enum { CYCLES = 10000018 };
    approach_counting *count = approach_ways().count;
    const struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    if (count == NULL)
        return;
    uint64_t start = timebase_ticks_ordered();
    count(CYCLES, 1);
    double ns = (double)(timebase_ticks_ordered() - start) * waiter->learnt.period_ns;
    assert_true(ns > CYCLES / 10.0);
}

static uint64_t most_cycles;

/* Ten ticks a cycle, and as for 100 more beside. */
static int take_ticks(uint64_t cycles, uint64_t link)
{
    uint64_t start = timebase_ticks();
    (void)link;
    most_cycles = cycles > most_cycles ? cycles : most_cycles;
    while (timebase_ticks() - start < 10 * (cycles + 100))
        continue;
    return 0;
}

static struct waiter *waiter_to_calibrate(void)
{
    struct waiter *waiter = waiter_within(waiter_that_counts());
    waiter->ways.count = take_ticks;
    waiter->vernier.readings = 1; /* its steps are fine */
    waiter->vernier.step_ticks = 2;
    waiter->is_calibrating = 1;
    most_cycles = 0;
    return waiter;
}

/* The readings take some, too. Others' chains may be held up: the middle ones count. */
static void what_a_chain_takes_beside_its_cycles_is_calibrated(void **state)
{
    struct waiter *waiter = waiter_to_calibrate();
    (void)state;
    if (!waiter_may_read(waiter))
        skip(); /* where nothing is counted */
    assert_in_range((int)calibration_counted_first(waiter), 100, 300);
}

/* What an earlier calibration found of stamps is in no trial of this one. */
static void what_a_stamp_takes_is_found_anew(void **state)
{
    enum { LONGEST_TRIAL = 25000 };
    struct waiter *waiter = waiter_to_calibrate();
    (void)state;
    if (!waiter_may_read(waiter))
        skip();
    waiter->counted_lesson.stamp_cycles = -100.0 * LONGEST_TRIAL;
    calibrate_counted(waiter);
    assert_in_range(most_cycles, LONGEST_TRIAL, 2 * LONGEST_TRIAL);
}

/* As where each reading leaves the guest, or an emulator's counter hardly moves. */
static void with_readings_that_take_longer_than_chains_nothing_is_counted(void **state)
{
    struct waiter *waiter = waiter_to_calibrate();
    (void)state;
    if (!waiter_may_read(waiter))
        skip();
    waiter->ways.count = note_cycles; /* a long one takes no longer than a short one */
    calibrate_counted(waiter);
    assert_true(waiter->counted.less_cycles == LESS_CYCLES); /* no trial was made */
    assert_false(delay_has_length_of_counted(waiter, 300));
    assert_false(delay_has_length_of_counted(waiter, DELAY_SHORT_NS - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_its_lengths_without_a_result_or_other_wishes),
        cmocka_unit_test(from_the_first_one_on),
        cmocka_unit_test(the_first_of_a_series_is_counted_however_long),
        cmocka_unit_test(where_its_code_is_far_the_loop_has_turns),
        cmocka_unit_test(what_is_held_up_in_its_chain_had_its_code_near),
        cmocka_unit_test(what_was_held_up_is_by_the_loop_alone),
        cmocka_unit_test(the_shortest_that_are_to_be_steady_are_no_loop),
        cmocka_unit_test(it_counts_what_the_rest_leaves),
        cmocka_unit_test(what_has_passed_is_not_counted_again),
        cmocka_unit_test(the_second_chain_makes_up_for_the_first),
        cmocka_unit_test(the_first_of_two_chains_is_the_cores_clock),
        cmocka_unit_test(behind_a_long_way_in_there_is_no_other_clock),
        cmocka_unit_test(what_is_usual_of_ways_in_is_followed),
        cmocka_unit_test(what_is_too_short_is_by_the_loop),
        cmocka_unit_test(one_in_many_has_a_stamp_and_the_next_one_learns),
        cmocka_unit_test(most_loops_by_a_fine_counter_have_no_stamp),
        cmocka_unit_test(what_a_chain_takes_beside_its_cycles_is_calibrated),
        cmocka_unit_test(what_a_stamp_takes_is_found_anew),
        cmocka_unit_test(with_readings_that_take_longer_than_chains_nothing_is_counted),
        cmocka_unit_test(a_chain_of_any_length_returns_nothing),
        cmocka_unit_test(a_chain_takes_a_tenth_of_a_nanosecond_a_cycle_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
