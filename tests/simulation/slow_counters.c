/* SPDX-License-Identifier: MIT */
/* From 1 MHz to 5 GHz: the error is a tick and a half at most, where a tick is long. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

static void run_at(double hz, double system_call_ns)
{
    struct world world = world_make(23);
    struct watch fresh = {0};
    double tick_ns = 1e9 / hz;
    watch = fresh;
    world.counter_hz = hz * (1 - 7e-6);
    world.bracket_ns = system_call_ns;
    watch_run(&watch, &world, 5 * SECOND, MILLISECOND);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, 30 * SECOND, MILLISECOND);
    print_message("%.0f Hz: p50 %.1f ns, p99.9 %.1f ns\n", hz, watch_percentile(&watch, 0.5),
                  watch_percentile(&watch, 0.999));
    watch_expect_sound(&watch, world.seed);
    assert_int_equal(world.events & DISCIPLINE_DISRUPTED, 0);
    /* A tick of the sample, and half of one: the reading is of a moment somewhere in its tick. */
    assert_true(watch_percentile(&watch, 0.999) <= 50 + 1.5 * tick_ns);
    /* A slope from ticks of 1 µs never gets below 1 ppm; that is as good as it gets. */
    assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void every_frequency_is_tracked(void **state)
{
    const double hz[] = {1e6, 3579545, 14318180, 24e6, 62.5e6, 512e6, 1e9, 2.6e9, 4.096e9, 5e9};
    (void)state;
    for (unsigned i = 0; i < sizeof hz / sizeof hz[0]; i++)
        run_at(hz[i], 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frequency_is_tracked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
