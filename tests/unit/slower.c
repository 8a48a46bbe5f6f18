/* SPDX-License-Identifier: MIT */
/* Beside a neighbour readings take longer, and so what is read behind an exact event comes later. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "timing/stages/event.h"
#include "timing/stages/outcome.h"
#include "timing/stages/result.h"
#include "timing/waiter/slower.h"

/* A tick is 1 ns and two cycles; a poll takes 120 ticks, and took 100 in the calibration. */
enum { NOW = 1000000, TAIL_CYCLES = 400, USUAL = 100, PERIOD = 120, CYCLES_PER_TICK = 2 };

static struct waiter waiter;
static struct timebase_wait_result result;

static void begin_anew(void)
{
    memset(&waiter, 0, sizeof(waiter));
    waiter.learnt.period_ns = 1;
    waiter.learnt.exact = 1;
    waiter.learnt.tail = (struct tempo_tail){.cycles = TAIL_CYCLES, .first_cycles = TAIL_CYCLES};
    waiter.learnt.usual_period_ticks = USUAL;
    waiter.vernier.readings = 1;
    waiter.vernier.step_ticks = waiter.vernier.span_ticks = 1;
    waiter.period.value = PERIOD;
    tempo_init(&waiter.tempo, 1.0 / CYCLES_PER_TICK);
    choice_forget(&waiter.choice);
    waiter.approach.rseq = (const uint32_t[8]){0};
    waiter.approach.target_ticks = NOW;
    waiter.approach.run = 100;
}

static double fixed_cycles(double aim_ticks)
{
    waiter_aim_run(&waiter, aim_ticks);
    return (double)(waiter.approach.fixed_cycles >> APPROACH_CYCLE_BITS);
}

/* The wait's polls are told what those before it took, and see to the rest. */
static void it_is_aimed_at_so_much_sooner(void **state)
{
    const struct approach *a = &waiter.approach;
    (void)state;
    begin_anew();
    double later = 0.65 * (PERIOD - USUAL); /* of a call */
    assert_true(fixed_cycles(5) == floor(TAIL_CYCLES + (later - 5) * CYCLES_PER_TICK + 0.5));
    assert_int_equal(a->usual_ticks, PERIOD);
    assert_int_equal(a->sooner_per_tick, INT64_C(1) << APPROACH_CYCLE_BITS);
}

/* Nor is anything, before a calibration has found what is usual. */
static void where_the_counter_steps_far_nothing_is(void **state)
{
    (void)state;
    begin_anew();
    waiter.learnt.usual_period_ticks = 0;
    assert_true(fixed_cycles(5) == TAIL_CYCLES - 5 * CYCLES_PER_TICK);
    assert_int_equal(waiter.approach.sooner_per_tick, 0);
}

static double told_ns(double usual_ticks, int64_t sooner_cycles)
{
    begin_anew();
    waiter.last = (struct wait){.waiter = &waiter, .exact = 1, .result = &result, .ticks = NOW};
    waiter.learnt.usual_period_ticks = usual_ticks;
    waiter.approach.event_ticks = NOW - 30;
    waiter.approach.sooner_cycles = sooner_cycles << APPROACH_CYCLE_BITS;
    result_tell(&waiter.approach);
    return result.error_ns;
}

static void a_result_tells_when_it_is_read(void **state)
{
    (void)state;
    double known = told_ns(PERIOD, 0);
    double later = 1.2 * (PERIOD - USUAL); /* of one that tells */
    assert_true(fabs(told_ns(USUAL, 0) - known - later) < 1e-6);
    assert_true(fabs(told_ns(PERIOD, 6) - known - 3) < 1e-6);
}

/* One that was learnt from, 20 ns later than its last poll had let it expect. */
static int says_how_good_exact_waits_are(int readings, uint64_t rehearsed_ticks)
{
    begin_anew();
    choice_init(&waiter.choice, CHOICE_EXACT, (const double[]){1}, 1);
    waiter.vernier.readings = readings;
    waiter.rehearsed_ticks = rehearsed_ticks;
    waiter.unsettled = LEFT_TO_COUNT;
    waiter.last = (struct wait){.waiter = &waiter, .exact = 1, .ticks = NOW};
    waiter.approach.event_ticks = NOW;
    waiter.approach.sample_ticks = -(INT64_C(270) << APPROACH_TICK_BITS);
    waiter.approach.marker = 1; /* no interrupt came */
    outcome_settle_open(&waiter);
    return waiter.choice.error_ticks[CHOICE_EXACT][0] > 1;
}

static void by_a_fine_counter_waits_say_how_good_they_are(void **state)
{
    enum { LONG = 10000000 };
    (void)state;
    assert_true(says_how_good_exact_waits_are(1, NOW));
    assert_true(says_how_good_exact_waits_are(1, NOW - LONG));
    assert_false(says_how_good_exact_waits_are(APPROACH_FINE, NOW));
    assert_true(says_how_good_exact_waits_are(APPROACH_FINE, NOW - LONG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_aimed_at_so_much_sooner),
        cmocka_unit_test(where_the_counter_steps_far_nothing_is),
        cmocka_unit_test(a_result_tells_when_it_is_read),
        cmocka_unit_test(by_a_fine_counter_waits_say_how_good_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
