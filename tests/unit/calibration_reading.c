/* SPDX-License-Identifier: MIT */
/* What the call of a fine reading adds, by made-up readings of a counter with far steps. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/calibration/calibration_calls.h"
#include "waiting.h"

/* Ticks: of a step; from reading to reading, and from call to call; and what is added. */
enum { STEP = 26, SPACING = 47, BETWEEN = 10007, ADDED = 77 };

static uint64_t now;

static uint32_t seen(uint64_t ticks)
{
    return (uint32_t)(ticks / STEP * STEP);
}

static void take_from(uint64_t first, int from, uint32_t readings[APPROACH_FINE])
{
    for (int i = from; i < APPROACH_FINE; i++)
        readings[i] = seen(first + (uint64_t)(i - from) * SPACING);
}

/* A rehearsal's event comes sooner by so much than a fine reading: that is what its call adds. */
static void take_fine(uint32_t readings[APPROACH_FINE])
{
    now += BETWEEN;
    take_from(now, 0, readings);
}

static void take_event(uint32_t readings[APPROACH_FINE])
{
    now += BETWEEN;
    take_from(now - ADDED, APPROACH_FINE - APPROACH_VERNIER, readings);
}

static void it_is_by_how_much_an_event_comes_sooner_to_a_part_of_a_step(void **state)
{
    static struct timebase_waiter ours;
    struct waiter *waiter = waiter_within(&ours);
    (void)state;
    assert_int_equal(timebase_waiter_init(&ours, timebase_clock_default()), 0);
    waiter->learnt.period_ns = 0.5;
    vernier_init(&waiter->vernier, STEP);
    waiter->vernier.readings = APPROACH_FINE;
    waiter->vernier.spacing_ticks = SPACING;
    waiter->learnt.series = 0;
    waiter->ways.fine[0] = take_fine;
    waiter->ways.series[0] = take_event;
    waiter->learnt.reading_ticks = 0;
    now = 0;
    calibrate_reading(waiter);
    assert_true(fabs(waiter->learnt.reading_ticks - ADDED) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_by_how_much_an_event_comes_sooner_to_a_part_of_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
