/* SPDX-License-Identifier: MIT */
/* Short delays by a fine counter that only count: which, how many cycles, and what they teach. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "timing/delay/delay_at_once.h"
#include "timing/delay/delay_counted.h"
#include "waiting.h"

/* A tick is half a nanosecond; two cycles are a nanosecond. */
enum { LEAST_NS = 150, LESS_CYCLES = 200, STAMP_CYCLES = 70, AFTER_TICKS = 60 };
#define PERIOD_NS 0.5
#define CYCLES_PER_NS 2.0

/* The first chain of two, and the last one. */
static struct {
    uint64_t first, cycles;
    int calls;
    struct waiter *late; /* each takes 50 ns more than it should, by the clock of stop_time() */
} counted;

static int note_cycles(uint64_t cycles, uint64_t link)
{
    (void)link;
    counted.first = counted.cycles;
    counted.cycles = cycles;
    counted.calls++;
    if (counted.late != NULL)
        counted.late->delay_called_ticks -= UINT64_C(50000000000000);
    return 0;
}

/* They look alike: then counting is better. */
static void begin_choice(struct waiter *waiter)
{
    choice_forget(&waiter->counted_lesson.choice);
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        waiter->counted_lesson.choice.error_ticks[CHOICE_LOOP][i] = 20;
        waiter->counted_lesson.choice.error_ticks[CHOICE_EXACT][i] = 10;
    }
}

static struct timebase_waiter *waiter_that_counts(void)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->ways.count = note_cycles;
    waiter->learnt.exact = 1;
    waiter->learnt.period_ns = PERIOD_NS;
    waiter->learnt.hot_ticks = INT64_MAX; /* however long the test is held up */
    waiter->learnt.checked_ns = LEAST_NS;
    waiter->learnt.near_delay_ticks = 0; /* no delay is an exact wait: unit/delay_near.c */
    waiter->learnt.at_once_ticks = 1e18; /* the loop ends at once */
    waiter->learnt.at_once_stamp_ticks = 0;
    waiter->counted = (struct waiter_counted){.least_ns = LEAST_NS,
                                              .span_ns = DELAY_SHORT_NS - LEAST_NS,
                                              .cycles_per_ns = CYCLES_PER_NS,
                                              .less_cycles = LESS_CYCLES,
                                              .stamp_cycles = STAMP_CYCLES,
                                              .only = DELAY_COUNTED_ONLY};
    waiter->counted_lesson = (struct counted_lesson){.after_ticks = AFTER_TICKS,
                                                     .usual_ns = DELAY_COUNTED_USUALLY_NS};
    begin_choice(waiter);
    waiter->far_code = (struct caution){0};
    waiter->delay_fetched = DELAY_ASKED;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    memset(&counted, 0, sizeof(counted));
    return &ours;
}

static int is_counted(struct timebase_waiter *ours, uint64_t ns, unsigned flags,
                      struct timebase_wait_result *result)
{
    int before = counted.calls;
    counted.cycles = 0;
    assert_in_range(timebase_delay_ns(ours, ns, flags, result), 0, 1);
    return counted.calls > before;
}

/* As if hardly any time passed: there is as much left as was asked for. */
static void stop_time(struct waiter *waiter)
{
    waiter->learnt.period_ns = 1e-12;
}

static double cycles_of(const struct waiter *waiter, double ns)
{
    return ns * waiter->counted.cycles_per_ns - waiter->counted.less_cycles;
}

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

/* In two chains, where there is time for them: between them the counter is read again. */
static void it_counts_what_the_rest_leaves(void **state)
{
    enum { LAST_NS = 60 };
    struct timebase_waiter *ours = waiter_that_counts();
    (void)state;
    stop_time(waiter_within(ours));
    for (uint64_t ns = LEAST_NS; ns < DELAY_SHORT_NS; ns += 7) {
        int calls = counted.calls;
        uint64_t cycles = 2 * ns - LESS_CYCLES, last = 2 * LAST_NS + LESS_CYCLES;
        waiter_within(ours)->counted.only = DELAY_COUNTED_ONLY;
        assert_true(is_counted(ours, ns, 0, NULL));
        assert_int_equal(counted.cycles, cycles);
        assert_int_equal(counted.calls - calls, cycles > last ? 2 : 1);
        assert_int_equal(counted.first, cycles > last ? cycles - last : 0);
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
    assert_true(is_counted(ours, 400, 0, NULL));
    assert_int_equal(counted.calls, 2);
    assert_int_equal(counted.cycles, 2 * (400 - 50) - LESS_CYCLES);
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
    assert_true(is_counted(ours, 440, 0, NULL));
    assert_int_equal(counted.cycles, 880 - LESS_CYCLES - STAMP_CYCLES);
    assert_true(waiter->counted_lesson.ns == 440);
    assert_true(waiter->counted.taken_ticks == (int64_t)waiter->delay_taken_ticks);
    waiter->learnt.period_ns = PERIOD_NS;
    waiter->counted.taken_ticks = 880 - AFTER_TICKS; /* as it should */
    is_counted(ours, 440, 0, NULL);
    assert_true(waiter->counted_lesson.ns == 0);
    assert_true(waiter->counted.less_cycles == LESS_CYCLES);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_ONLY);
}

/* ---- what they teach ---------------------------------------------------------------------- */

/* One of 400 ns took so much longer than that. Returns what the next one takes more of the rest. */
static double learn(struct timebase_waiter *ours, double wrong_ns)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->counted.only = 0;
    waiter->counted_lesson.ns = 400;
    waiter->counted.taken_ticks = 800 - AFTER_TICKS + (int64_t)(wrong_ns / PERIOD_NS);
    double before = cycles_of(waiter, 400);
    timebase_delay_ns(ours, 400, 0, NULL);
    return before - cycles_of(waiter, 400);
}

static void it_follows_an_eighth_of_what_was_wrong(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    assert_true(fabs(learn(ours, 4) - 4 * CYCLES_PER_NS / 8) < 1e-9);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_ONLY);
    assert_true(learn(ours, -4) < 0);
    waiter->counted_lesson.usual_ns = DELAY_COUNTED_USUALLY_NS;
    double most = waiter->counted.cycles_per_ns;
    assert_true(fabs(learn(ours, 15) - most) < 1e-2);
    assert_true(fabs(learn(ours, -1000) + most) < 1e-2);
    assert_int_equal(waiter->counted.only, DELAY_COUNTED_FAR); /* the next one sooner */
}

/* A calibration may be wrong: the first lessons come sooner. */
static void the_first_lessons_come_sooner(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->counted_lesson.early_lessons = 2;
    for (int i = 0; i < 3; i++) {
        learn(ours, 0);
        assert_int_equal(waiter->counted.only, i < 2 ? DELAY_COUNTED_FAR : DELAY_COUNTED_ONLY);
    }
    assert_int_equal(waiter->counted_lesson.early_lessons, 0);
}

/* One in ten is held up, and by much: the others come as they should. */
static void what_is_late_now_and_then_makes_no_other_early(void **state)
{
    enum { LESSONS = 2000, TEN = 10 };
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    double off_ns = 6;
    (void)state;
    for (int i = 0; i < LESSONS; i++) {
        double wrong = off_ns + (i % TEN == 0 ? 15 : i % 2 ? 0.5 : -0.5);
        off_ns -= learn(ours, wrong) / waiter->counted.cycles_per_ns;
        begin_choice(waiter);
    }
    assert_true(fabs(off_ns) < 0.5);
}

/* The core has another clock. */
static void eight_that_are_far_off_are_believed(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    for (int i = 1; i < 8; i++) {
        assert_true(learn(ours, 30) < 3);
        begin_choice(waiter);
    }
    assert_true(learn(ours, 40) > 50);
}

/* ---- or by the loop? ---------------------------------------------------------------------- */

static void assert_worse_is_left_to_the_loop(int64_t hot_ticks)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    int turns = 0;
    for (int i = 0; i < CHOICE_QUANTILES; i++)
        waiter->counted_lesson.choice.error_ticks[CHOICE_EXACT][i] = 35;
    learn(ours, 19);
    assert_true(waiter->counted.is_worse);
    stop_time(waiter);
    waiter->learnt.hot_ticks = hot_ticks;
    waiter->learnt.at_once_stamp_ticks = 1; /* the loop says nothing of itself */
    assert_int_equal(waiter->counted.only, 0);
    while (waiter->counted.is_worse && turns < 1000) {
        assert_false(is_counted(ours, 300, 0, NULL) && waiter->counted.is_worse);
        turns++;
    }
    assert_in_range(turns, 10, 300);
    assert_int_equal(waiter->counted.only, 1); /* nothing was learnt: one with a stamp is next */
    timebase_delay_ns(ours, 300, 0, NULL);
    assert_true(waiter->counted_lesson.ns == 300);
}

/* Of a series, and one after each pause. */
static void what_looks_worse_than_the_loop_is_left_to_it(void **state)
{
    (void)state;
    assert_worse_is_left_to_the_loop(INT64_MAX);
    assert_worse_is_left_to_the_loop(INT64_MIN);
}

/* By their stamps, where they have one. */
static void its_turns_say_how_good_the_loop_is(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    const double *known = waiter->counted_lesson.choice.error_ticks[CHOICE_LOOP];
    (void)state;
    waiter->learnt.at_once_rest_ticks = 1;
    waiter->delay_error_ticks = 100;
    delay_left_to_loop(waiter);
    assert_true(known[0] > 20);
    double before = known[0];
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    delay_left_to_loop(waiter);
    assert_true(known[0] == before);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_its_lengths_without_a_result_or_other_wishes),
        cmocka_unit_test(from_the_first_one_on),
        cmocka_unit_test(where_its_code_is_far_the_loop_has_turns),
        cmocka_unit_test(what_was_held_up_is_by_the_loop_alone),
        cmocka_unit_test(the_shortest_that_are_to_be_steady_are_no_loop),
        cmocka_unit_test(it_counts_what_the_rest_leaves),
        cmocka_unit_test(what_has_passed_is_not_counted_again),
        cmocka_unit_test(the_second_chain_makes_up_for_the_first),
        cmocka_unit_test(what_is_too_short_is_by_the_loop),
        cmocka_unit_test(one_in_many_has_a_stamp_and_the_next_one_learns),
        cmocka_unit_test(it_follows_an_eighth_of_what_was_wrong),
        cmocka_unit_test(the_first_lessons_come_sooner),
        cmocka_unit_test(what_is_late_now_and_then_makes_no_other_early),
        cmocka_unit_test(eight_that_are_far_off_are_believed),
        cmocka_unit_test(what_looks_worse_than_the_loop_is_left_to_it),
        cmocka_unit_test(its_turns_say_how_good_the_loop_is),
        cmocka_unit_test(most_loops_by_a_fine_counter_have_no_stamp),
        cmocka_unit_test(a_chain_of_any_length_returns_nothing),
        cmocka_unit_test(a_chain_takes_a_tenth_of_a_nanosecond_a_cycle_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
