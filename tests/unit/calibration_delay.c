/* SPDX-License-Identifier: MIT */
/* What a calibration finds of short delays, where something holds up some of its trials. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/wait/calibration_delay.h"
#include "waiting.h"

#define CYCLE_NS 0.4

static int passes;

static void poll_for_ns(double ns)
{
    uint64_t start = timebase_ticks_ordered(), ticks = (uint64_t)ticks_of(ns);
    while (timebase_ticks_ordered() - start < ticks)
        continue;
}

/* The shorter ones come first and take 2 us: every other one of these is held up for 10 times as long. */
static void pass_held_up(const struct waiter *waiter, uint64_t cycles)
{
    enum { FOUR = 4, HELD_UP_NS = 20000 };
    int is_held_up = passes++ % FOUR == 0;
    (void)waiter;
    poll_for_ns((double)cycles * CYCLE_NS + (is_held_up ? HELD_UP_NS : 0));
}

/* A counter that is read slowly, or steps far, makes a trial of 10 us wrong by some of that. */
static void a_cycle_is_no_shorter_where_short_runs_are_held_up(void **state)
{
    const struct waiter *waiter = waiter_within(the_waiter());
    (void)state;
    passes = 0;
    double cycle_ns = calibration_delay_cycle(waiter, pass_held_up) * waiter->learnt.period_ns;
    assert_true(cycle_ns > 0.75 * CYCLE_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_is_no_shorter_where_short_runs_are_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
