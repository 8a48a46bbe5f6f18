/* SPDX-License-Identifier: MIT */
/* Short delays by a counter with far steps: counted from their caller's reading, and what each teaches. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "counting.h"
#include "timing/calibration/calibration_from_call.h"
#include "timing/delay/delay_from_call.h"

enum { HARDLY_NS = LEAST_NS + 16, STEP_NS = 10 };
enum { EACH_CYCLES = 160, BESIDE_CYCLES = 6, MOST_EIGHTS = 8 };
#define NEVER 1e30 /* the roots have not passed, whatever has come */

static struct timebase_waiter *waiter_that_counts_from_its_call(void)
{
    struct timebase_waiter *ours = waiter_that_counts();
    struct waiter *waiter = waiter_within(ours);
    waiter->counted.roots_from_ns = LEAST_NS;
    waiter->counted.step_ns = STEP_NS;
    waiter->vernier.step_ticks = STEP_NS / PERIOD_NS;
    waiter->counted_lesson.ticks_per_ns = 1 / PERIOD_NS;
    waiter->counted_lesson.hardly_ns = HARDLY_NS;
    waiter->counted_lesson.roots = (struct more_roots){.each_cycles = EACH_CYCLES,
                                                       .each_ticks = NEVER,
                                                       .eights_per_cycle = 1.0 / EACH_CYCLES,
                                                       .beside_cycles = BESIDE_CYCLES};
    waiter->counted_lesson.two.from_ns = UINT64_MAX;
    return ours;
}

/* ---- which, and how many cycles ----------------------------------------------------------- */

static int counts_from_its_call(struct timebase_waiter *ours, uint64_t ns, unsigned flags,
                                struct timebase_wait_result *result)
{
    waiter_within(ours)->counted_lesson.ns = 0;
    int is = is_counted(ours, ns, flags, result);
    assert_int_equal(waiter_within(ours)->counted_lesson.ns != 0, is);
    return is;
}

static void those_of_its_lengths_without_a_result_or_other_wishes(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    assert_true(counts_from_its_call(ours, LEAST_NS, 0, NULL));
    assert_true(counts_from_its_call(ours, LEAST_NS, TIMEBASE_WAIT_PREPARE, NULL));
    assert_true(counts_from_its_call(ours, DELAY_SHORT_NS - 1, 0, NULL));
#ifdef __x86_64__ /* elsewhere there are no runs, which this waiter believes to have */
    struct timebase_wait_result result;
    assert_false(counts_from_its_call(ours, LEAST_NS - 1, 0, NULL));
    assert_false(counts_from_its_call(ours, DELAY_SHORT_NS, 0, NULL));
    assert_false(counts_from_its_call(ours, LEAST_NS, TIMEBASE_WAIT_STEADY, NULL));
    assert_false(counts_from_its_call(ours, LEAST_NS, TIMEBASE_WAIT_PLAIN, NULL));
    assert_false(counts_from_its_call(ours, LEAST_NS, 0, &result));
#endif
}

/* However its first lines are ordered. */
static void what_is_no_waiter_or_flag_is_refused(void **state)
{
    static struct timebase_waiter none;
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    waiter_within(&none)->counted.roots_from_ns = LEAST_NS; /* and looks like one */
    assert_int_equal(timebase_delay_ns(NULL, 200, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_delay_ns(&none, 200, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_delay_ns(&none, 0, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_delay_ns(ours, 200, WAITER_FLAGS + 1, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_delay_ns(ours, 0, WAITER_FLAGS + 1, NULL), TIMEBASE_E_INVALID);
}

/* Two of them at least, or none; and as much is left to the chain as hides its beginning. */
static uint64_t eights_in(uint64_t cycles)
{
    enum { LEFT = BESIDE_CYCLES + 56 };
    uint64_t eights = cycles < LEFT ? 0 : (cycles - LEFT) / EACH_CYCLES;
    return eights < 2 ? 0 : eights < MOST_EIGHTS ? eights : MOST_EIGHTS;
}

/* What so many eights leave. */
static uint64_t behind(uint64_t cycles, uint64_t eights)
{
    return eights == 0 ? cycles : cycles - BESIDE_CYCLES - EACH_CYCLES * eights;
}

/* In one chain, however long ago the counter was read: its roots began with that. */
static void it_counts_what_its_roots_leave(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    for (uint64_t ns = LEAST_NS; ns < DELAY_SHORT_NS; ns += 7) {
        uint64_t cycles = 2 * ns - LESS_CYCLES;
        int calls = counted.calls;
        waiter_within(ours)->counted_lesson.ns = 0; /* it learns nothing */
        uint64_t begin = timebase_delay_begin() - 1000000;
        assert_int_equal(timebase_delay_ns_from(ours, ns, 0, NULL, begin), 0);
        assert_int_equal(counted.calls, calls + 1);
        assert_int_equal(counted.cycles, behind(cycles, eights_in(cycles)));
    }
}

/* ---- by two chains ------------------------------------------------------------------------ */

enum { TWO_NS = 350, LAST_CYCLES = 480 };

/* `last_ticks` from the reading between them to the return. */
static struct timebase_waiter *waiter_that_counts_twice(double last_ticks)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    waiter_within(ours)->counted_lesson.two = (struct two_chains){
        .from_ns = TWO_NS, .last_cycles = LAST_CYCLES, .last_ticks = last_ticks};
    return ours;
}

/* The second is as long each time; roots come before both. */
static void longer_ones_count_what_that_leaves_and_as_much_each_time(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_twice(-1e12);
    (void)state;
    for (uint64_t ns = TWO_NS - 20; ns < DELAY_SHORT_NS; ns += 10) {
        uint64_t cycles = 2 * ns - LESS_CYCLES, hideable = cycles - LAST_CYCLES;
        int calls = counted.calls;
        waiter_within(ours)->counted_lesson.ns = 0;
        assert_true(is_counted(ours, ns, 0, NULL));
        assert_int_equal(counted.calls, calls + (ns < TWO_NS ? 1 : 2));
        if (ns < TWO_NS)
            continue;
        assert_int_equal(counted.cycles, DELAY_SECOND_CYCLES);
        assert_int_equal(counted.first,
                         cycles < LAST_CYCLES ? 0 : behind(hideable, eights_in(hideable)));
        assert_true(waiter_within(ours)->counted_lesson.ns == (double)ns);
    }
}

/* By a clock whose ticks are so short that no time passes: the reading comes so much later than it should. */
static uint64_t second_behind(double held_up_ns)
{
    enum { NS = 400 };
    const double ticks_per_ns = 1e12;
    struct timebase_waiter *ours = waiter_that_counts_twice((NS + held_up_ns) * ticks_per_ns);
    struct waiter *waiter = waiter_within(ours);
    stop_time(waiter);
    waiter->vernier.step_ticks = STEP_NS * ticks_per_ns;
    waiter->counted_lesson.ticks_per_ns = ticks_per_ns;
    assert_true(is_counted(ours, NS, 0, NULL));
    assert_int_equal(counted.calls, 2);
    assert_true(waiter->counted_lesson.ns == NS);
    return counted.cycles;
}

/* Less than a step is none. */
static void what_held_the_first_up_is_made_up_for(void **state)
{
    (void)state;
    assert_int_equal(second_behind(0), DELAY_SECOND_CYCLES);
    assert_int_equal(second_behind(STEP_NS - 1), DELAY_SECOND_CYCLES);
    assert_int_equal(second_behind(-50), DELAY_SECOND_CYCLES);
    assert_in_range(second_behind(50), DELAY_SECOND_CYCLES - 101, DELAY_SECOND_CYCLES - 100);
    assert_int_equal(second_behind(1000), 0);
}

/* ------------------------------------------------------------------------------------------- */

/* What is beside its cycles has become more than it is long: it is over as soon as it can be. */
static void what_takes_longer_than_it_is_counts_nothing(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    waiter_within(ours)->counted.less_cycles = 1000;
    assert_true(is_counted(ours, 200, 0, NULL));
    assert_int_equal(counted.cycles, 0);
}

/* ---- what each teaches -------------------------------------------------------------------- */

/* One of 400 ns took so much longer than that. Returns what the next one takes more of the rest. */
static double learn(struct timebase_waiter *ours, double wrong_ns)
{
    struct waiter *waiter = waiter_within(ours);
    waiter->counted_lesson.ns = 400;
    waiter->counted_lesson.taken_ticks = 800 - AFTER_TICKS + (int64_t)(wrong_ns / PERIOD_NS);
    double before = cycles_of(waiter, 400);
    timebase_delay_ns(ours, 400, 0, NULL);
    begin_choice(waiter);
    waiter->counted.is_worse = 0;
    return before - cycles_of(waiter, 400);
}

static int is_about(double value, double expected)
{
    return fabs(value - expected) <= 0.02 * fabs(expected);
}

/* What is off by more than a step was held up: it counts for half of one. */
static void it_follows_a_64th_of_what_was_wrong(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    assert_true(is_about(learn(ours, 4), 4 * CYCLES_PER_NS / 64));
    assert_true(is_about(learn(ours, -4), -4 * CYCLES_PER_NS / 64));
    assert_true(is_about(learn(ours, 9), 9 * CYCLES_PER_NS / 64));
    assert_true(is_about(learn(ours, -9), -9 * CYCLES_PER_NS / 64));
    assert_true(is_about(learn(ours, 15), STEP_NS * CYCLES_PER_NS / 128));
    assert_true(is_about(learn(ours, 1000), STEP_NS * CYCLES_PER_NS / 128));
}

/* One of `last_ns` that was wrong, and behind it one of `ns`: is it learnt from? */
static int is_learnt(uint64_t last_ns, uint64_t ns)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    waiter->counted_lesson.ns = (double)last_ns;
    waiter->counted_lesson.taken_ticks = 2 * (int64_t)last_ns - AFTER_TICKS + 8;
    assert_true(is_counted(ours, ns, 0, NULL));
    return waiter->counted.rate.cycles_per_ns != CYCLES_PER_NS;
}

static void what_hardly_counts_neither_teaches_nor_learns(void **state)
{
    (void)state;
    assert_true(is_learnt(HARDLY_NS + 1, HARDLY_NS + 1));
    assert_false(is_learnt(HARDLY_NS, 400));
    assert_false(is_learnt(400, HARDLY_NS));
}

static void it_tells_what_it_took_and_what_it_was_to_take(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    uint64_t begin = timebase_delay_begin() - 1000000;
    assert_int_equal(timebase_delay_ns_from(ours, 300, 0, NULL, begin), 0);
    assert_true(waiter->counted_lesson.ns == 300);
    assert_true(waiter->counted_lesson.taken_ticks >= 1000000);
    assert_int_equal(waiter->delay_error_ticks, DELAY_ERROR_UNKNOWN);
}

/* A core's clock, more than what there is beside its cycles. */
static void most_of_it_is_the_clock(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    double more = learn(ours, 4), beside = waiter->counted.less_cycles - LESS_CYCLES;
    assert_true(beside > 0 && beside < more / 10);
    assert_true(waiter->counted.rate.cycles_per_ns < CYCLES_PER_NS);
}

static void four_that_are_far_off_are_believed(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    (void)state;
    for (int i = 1; i < IN_A_ROW_USUALLY; i++)
        assert_true(learn(ours, 30) < 1);
    assert_true(is_about(learn(ours, 40), 30 * CYCLES_PER_NS));
    for (int i = 1; i < 2 * IN_A_ROW_USUALLY; i++)
        assert_true(learn(ours, i % 3 == 0 ? 0 : 30) < 1); /* no four in a row */
}

/* ---- after a pause ------------------------------------------------------------------------ */

static struct timebase_waiter *waiter_after_a_pause(void)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    waiter_within(ours)->learnt.hot_ticks = INT64_MIN;
    waiter_within(ours)->delay_fetched = DELAY_RAN;
    return ours;
}

/* By code that may be cold: it takes so much longer, and what the last one teaches has to wait. */
static void it_counts_less_and_does_not_learn(void **state)
{
    enum { COLD_CYCLES = 20 };
    struct timebase_waiter *ours = waiter_after_a_pause();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->counted_lesson.roots.cold_cycles = COLD_CYCLES;
    waiter->counted_lesson.ns = 400;
    waiter->counted_lesson.taken_ticks = 800;
    assert_true(is_counted(ours, 400, 0, NULL));
    assert_int_equal(counted.cycles, 600 - BESIDE_CYCLES - 3 * EACH_CYCLES - COLD_CYCLES);
    assert_true(waiter->counted.rate.cycles_per_ns == CYCLES_PER_NS);
    assert_int_equal(waiter->counted.pause, COUNTED_TRIED);
    assert_int_equal(waiter->delay_fetched, 0); /* runs' code has gone */
}

/* The first one after a pause took so much longer. Returns what the next first one takes more. */
static double judge(struct timebase_waiter *ours, double wrong_ns)
{
    struct waiter *waiter = waiter_within(ours);
    double before = waiter->counted_lesson.roots.cold_cycles;
    waiter->counted.pause = COUNTED_TRIED;
    learn(ours, wrong_ns);
    assert_true(waiter->counted.rate.cycles_per_ns == CYCLES_PER_NS);
    return waiter->counted_lesson.roots.cold_cycles - before;
}

static void the_next_one_judges_its_code(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    (void)state;
    waiter->far_code.turns = 5;
    assert_true(is_about(judge(ours, 8), 8 * CYCLES_PER_NS / 32));
    assert_int_equal(waiter->counted.pause, COUNTED_NEAR);
    assert_int_equal(waiter->far_code.turns, 4);
    assert_true(is_about(judge(ours, -8), -8 * CYCLES_PER_NS / 32));
    assert_true(is_about(judge(ours, 50), STEP_NS * CYCLES_PER_NS / 32));
    assert_int_equal(waiter->far_code.turns, 6);
    assert_int_equal(waiter->far_code.left, 6);
}

/* Where the roots may have passed before its code had come, the loop has it and the next ones. */
static void where_its_code_is_far_the_loop_has_turns(void **state)
{
    enum { MANY = 60 };
    struct timebase_waiter *ours = waiter_after_a_pause();
    struct waiter *waiter = waiter_within(ours);
    int tried = 0;
    (void)state;
    waiter->counted_lesson.roots.each_ticks = 0;
    for (int i = 0; i < MANY; i++) {
        uint32_t before = waiter->far_code.left;
        assert_false(is_counted(ours, 400, 0, NULL));
        assert_true(waiter->counted_lesson.ns == 0);
        tried += waiter->far_code.left > before;
    }
    assert_in_range(tried, 5, 6); /* 1, 2, 4, 8, 16, 32 turns in between */
    waiter->far_code.left = 0;
    waiter->counted_lesson.roots.each_ticks = NEVER;
    assert_true(is_counted(ours, 400, 0, NULL));
}

static void one_without_the_time_to_look_is_by_the_loop(void **state)
{
    struct timebase_waiter *ours = waiter_after_a_pause();
    (void)state;
    assert_false(is_counted(ours, LEAST_NS, 0, NULL));
    waiter_within(ours)->learnt.hot_ticks = INT64_MAX;
    assert_true(is_counted(ours, LEAST_NS, 0, NULL));
}

/* ---- or by the loop? ---------------------------------------------------------------------- */

/* By this the loop is 20 ticks wide. Off by so much, again and again. */
static int is_worse_if_off_by(double wrong_ns)
{
    enum { MANY = 200 };
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    for (int i = 0; i < MANY && !waiter->counted.is_worse; i++) {
        double wrong = i % 2 ? wrong_ns : -wrong_ns;
        waiter->counted_lesson.ns = 400;
        waiter->counted_lesson.taken_ticks = 800 - AFTER_TICKS + (int64_t)(wrong / PERIOD_NS);
        is_counted(ours, 400, 0, NULL);
    }
    return waiter->counted.is_worse;
}

/* What a step leaves open is no error. */
static void it_is_worse_by_what_its_readings_show(void **state)
{
    (void)state;
    assert_false(is_worse_if_off_by(STEP_NS / 2));
    assert_false(is_worse_if_off_by(STEP_NS));
    assert_false(is_worse_if_off_by(1.5 * STEP_NS));
    assert_true(is_worse_if_off_by(2.5 * STEP_NS));
}

static void after_its_turns_the_loop_gives_way(void **state)
{
    struct timebase_waiter *ours = waiter_that_counts_from_its_call();
    struct waiter *waiter = waiter_within(ours);
    int turns = 0;
    (void)state;
    for (int i = 0; i < CHOICE_QUANTILES; i++)
        waiter->counted_lesson.choice.error_ticks[CHOICE_EXACT][i] = 40;
    waiter->counted.is_worse = 1;
    while (!is_counted(ours, 300, 0, NULL) && turns < 1000)
        turns++;
    assert_in_range(turns, 10, 300);
}

/* ---- calibration -------------------------------------------------------------------------- */

static void what_it_takes_is_calibrated_where_steps_are_far(void **state)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    const struct waiter_counted *known = &waiter->counted;
    const struct more_roots *roots = &waiter->counted_lesson.roots;
    (void)state;
    if (known->span_ns == 0 || !waiter_has_vernier(waiter)) {
        int has_roots = waiter->ways.count != NULL && waiter_has_vernier(waiter);
        assert_int_equal(known->roots_from_ns, has_roots ? DELAY_SHORT_NS : 0);
        return;
    }
    assert_int_equal(known->roots_from_ns, known->least_ns);
    assert_true(waiter->counted_lesson.hardly_ns > known->least_ns + 10);
    assert_true(known->less_cycles > 0 && known->less_cycles < 1000);
    assert_true(known->rate.cycles_per_ns > 0.5 && known->rate.cycles_per_ns < 10);
    assert_true(roots->each_cycles > 8 && roots->each_cycles < 1000);
    assert_true(fabs(roots->each_cycles * roots->eights_per_cycle - 1) < 1e-9);
    assert_true(waiter->counted_lesson.after_ticks > 0);
    assert_true(waiter->counted_lesson.two.last_cycles > DELAY_SECOND_CYCLES);
    assert_true(waiter->counted_lesson.two.last_cycles < DELAY_SECOND_CYCLES + 1000);
    assert_true(waiter->counted_lesson.two.last_ticks > 0);
    assert_true(waiter->counted_lesson.ns == 0); /* there is nothing to learn from it */
}

static void by_a_fine_counter_there_is_none(void **state)
{
    struct waiter *waiter = waiter_within(waiter_that_counts());
    (void)state;
    waiter->vernier.readings = 1;
    calibrate_from_call(waiter);
    assert_int_equal(waiter->counted.roots_from_ns, 0);
    assert_true(waiter->counted.less_cycles == LESS_CYCLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_its_lengths_without_a_result_or_other_wishes),
        cmocka_unit_test(what_is_no_waiter_or_flag_is_refused),
        cmocka_unit_test(it_counts_what_its_roots_leave),
        cmocka_unit_test(longer_ones_count_what_that_leaves_and_as_much_each_time),
        cmocka_unit_test(what_held_the_first_up_is_made_up_for),
        cmocka_unit_test(what_takes_longer_than_it_is_counts_nothing),
        cmocka_unit_test(it_follows_a_64th_of_what_was_wrong),
        cmocka_unit_test(what_hardly_counts_neither_teaches_nor_learns),
        cmocka_unit_test(it_tells_what_it_took_and_what_it_was_to_take),
        cmocka_unit_test(most_of_it_is_the_clock),
        cmocka_unit_test(four_that_are_far_off_are_believed),
        cmocka_unit_test(it_counts_less_and_does_not_learn),
        cmocka_unit_test(the_next_one_judges_its_code),
        cmocka_unit_test(where_its_code_is_far_the_loop_has_turns),
        cmocka_unit_test(one_without_the_time_to_look_is_by_the_loop),
        cmocka_unit_test(it_is_worse_by_what_its_readings_show),
        cmocka_unit_test(after_its_turns_the_loop_gives_way),
        cmocka_unit_test(what_it_takes_is_calibrated_where_steps_are_far),
        cmocka_unit_test(by_a_fine_counter_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
