/* SPDX-License-Identifier: MIT */
/* From the first line on the bound holds, and the error shrinks quickly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../repeats.h"
#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

static void the_bound_holds_from_the_first_line_on(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 100 + (uint64_t)repeats(200); seed++) {
        struct world world = world_make(seed);
        struct watch fresh = {0};
        watch = fresh;
        world.disturbed_share = 0.3;
        world.disturbance_ns = 50000;
        watch_run(&watch, &world, SECOND, MILLISECOND / 10);
        watch_expect_sound(&watch, seed);
    }
}

static void ten_milliseconds_are_enough_for_100_ns(void **state)
{
    struct world world = world_make(13);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    watch_run(&watch, &world, 10 * MILLISECOND, MILLISECOND / 10);
    watch_reset_errors(&watch);
    watch_run(&watch, &world, SECOND, MILLISECOND / 10);
    assert_true(watch_percentile(&watch, 0.999) <= 100);
}

static void the_status_goes_from_initializing_to_synchronized(void **state)
{
    struct world world = world_make(14);
    struct watch fresh = {0};
    (void)state;
    watch = fresh;
    struct reading reading = watch_read(&watch, &world);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_INITIALIZING);
    watch_run(&watch, &world, 2 * SECOND, MILLISECOND);
    reading = watch_read(&watch, &world);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_holds_from_the_first_line_on),
        cmocka_unit_test(ten_milliseconds_are_enough_for_100_ns),
        cmocka_unit_test(the_status_goes_from_initializing_to_synchronized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
