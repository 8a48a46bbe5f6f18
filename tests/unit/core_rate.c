/* SPDX-License-Identifier: MIT */
/* How fast the core is, by what chains of so many cycles took. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "stepped.h"
#include "timing/learn/core_rate.h"

#define STEP_NS 0.75
#define CYCLES 300.0
#define RATE 4.0

static struct dice dice;

/* As a counter shows it that steps. */
static double shown_ns(double ns)
{
    double begin = dice_between(&dice, 0, STEP_NS);
    return STEP_NS * (floor((begin + ns) / STEP_NS) - floor(begin / STEP_NS));
}

static void see_beside(struct core_rate *rate, double cycles_per_ns, double more_ns, int is_quiet)
{
    struct core_chain chain = {.cycles = CYCLES,
                               .expected_ns = CYCLES / rate->cycles_per_ns,
                               .taken_ns = shown_ns(CYCLES / cycles_per_ns + more_ns),
                               .step_ns = STEP_NS,
                               .is_quiet = is_quiet};
    core_rate_follow(rate, &chain);
}

static void see(struct core_rate *rate, double cycles_per_ns, double more_ns)
{
    see_beside(rate, cycles_per_ns, more_ns, 1);
}

static int is_about(double value, double expected, double part)
{
    return fabs(value / expected - 1) < part;
}

/* A step is 1 % of a chain's time; what is off by less than two may be the steps'. */
static void another_clock_is_believed_at_once(void **state)
{
    struct core_rate rate = {3, 0};
    (void)state;
    for (double other = 3; other < 5; other += 0.1) {
        see(&rate, other, 0);
        assert_true(is_about(rate.cycles_per_ns, other, 0.021));
        for (int i = 0; i < 40; i++)
            see(&rate, other, 0);
    }
}

/* What the counter's steps leave open is less in the mean of some. */
static void of_what_agrees_a_quarter_is_believed(void **state)
{
    enum { TIMES = 10000, FIRST = 20 };
    struct core_rate rate = {0.9 * RATE, 0};
    double squares = 0;
    (void)state;
    for (int i = 0; i < FIRST + TIMES; i++) {
        see(&rate, 0.9 * RATE, 0);
        double wrong = rate.cycles_per_ns / (0.9 * RATE) - 1;
        squares += i < FIRST ? 0 : wrong * wrong / TIMES;
    }
    double part = fmod(CYCLES / (0.9 * RATE) / STEP_NS, 1); /* so often it is a step more */
    double of_one = STEP_NS * sqrt(part * (1 - part)) / (CYCLES / (0.9 * RATE));
    assert_in_range((int)(100 * sqrt(squares) / of_one), 34, 42); /* sqrt(1/7) = 38 % */
}

static void a_hold_up_is_no_clock(void **state)
{
    struct core_rate rate = {RATE, 0};
    (void)state;
    see(&rate, RATE, 3000);
    assert_true(is_about(rate.cycles_per_ns, RATE, 0.01));
    see(&rate, RATE, 30);
    assert_true(is_about(rate.cycles_per_ns, RATE, 0.02));
}

/* Beside another thread: none of them is as wrong as a chain may be. */
static void chains_that_differ_are_not_believed(void **state)
{
    enum { MANY = 400, FIRST = 20 };
    struct core_rate rate = {RATE, 0};
    double slower = CYCLES / (CYCLES / RATE + 5);
    (void)state;
    for (int i = 0; i < MANY; i++) {
        see(&rate, RATE, dice_between(&dice, 0, 10));
        assert_true(i < FIRST || is_about(rate.cycles_per_ns, slower, 0.04));
    }
}

/* Once they agree again, whatever the clock is by then. */
static void it_is_found_again(void **state)
{
    enum { MANY = 100 };
    struct core_rate rate = {RATE, 4};
    (void)state;
    for (int i = 0; i < MANY; i++)
        see(&rate, 0.8 * RATE, 0);
    assert_true(is_about(rate.cycles_per_ns, 0.8 * RATE, 0.006));
    see(&rate, 0.9 * RATE, 0);
    assert_true(is_about(rate.cycles_per_ns, 0.9 * RATE, 0.012));
}

/* Where something else says that the core is shared, a single one is no clock, however calm it was. */
static void what_is_not_quiet_is_not_believed(void **state)
{
    struct core_rate rate = {RATE, 0};
    (void)state;
    see_beside(&rate, 0.85 * RATE, 0, 0);
    assert_true(is_about(rate.cycles_per_ns, RATE, 0.01));
    rate = (struct core_rate){RATE, 0};
    see_beside(&rate, 0.85 * RATE, 0, 1);
    assert_true(is_about(rate.cycles_per_ns, 0.85 * RATE, 0.012));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_clock_is_believed_at_once),
        cmocka_unit_test(of_what_agrees_a_quarter_is_believed),
        cmocka_unit_test(a_hold_up_is_no_clock),
        cmocka_unit_test(chains_that_differ_are_not_believed),
        cmocka_unit_test(it_is_found_again),
        cmocka_unit_test(what_is_not_quiet_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
