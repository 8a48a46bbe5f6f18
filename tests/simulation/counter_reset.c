/* SPDX-License-Identifier: MIT */
/* The counter begins again, by a reset of the machine or of its processor: told, then right. */
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

static void reset_to(uint64_t origin, double asleep_ns)
{
    struct world world = watch_begin(&watch, 39);
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    if (asleep_ns > 0)
        world_suspend(&world, asleep_ns);
    world.counter_origin = origin;
    world.ticks = 0;
    struct reading reading = watch_read(&watch, &world);
    assert_true(world.events & DISCIPLINE_DISRUPTED);
    assert_int_equal(reading.instant.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNRELIABLE);
    watch_run(&watch, &world, 5 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, 39);
    watch_print(&watch, "reset");
    assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_counter_that_begins_again_is_unreliable_and_then_right(void **state)
{
    (void)state;
    reset_to(0, 0);
    reset_to(77, 3600 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_begins_again_is_unreliable_and_then_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
