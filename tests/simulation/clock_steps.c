/* SPDX-License-Identifier: MIT */
/* The system clock is stepped: UTC follows at once, monotonic time does not notice. */
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

static void step(int64_t step_ns)
{
    struct world world = world_make(6);
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world.utc_offset_ns += step_ns;
    /* Until the next sample nobody can know; from then on UTC is right. */
    world_advance(&world, 100 * MILLISECOND);
    world_read(&world);
    world_advance(&world, MILLISECOND);
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);

    print_message("%+.3f s: monotonic error at most %.1f ns\n", (double)step_ns * 1e-9,
                  watch_percentile(&watch, 1));
    watch_expect_sound(&watch, world.seed);
    assert_true(watch_percentile(&watch, 1) <= 50);
    assert_true(world.servo.discipline.utc_step_ns == step_ns);
    assert_int_equal(world.events, DISCIPLINE_UTC_STEPPED);
    assert_int_equal(world.event_count[1], 1);
}

static void a_step_of_50_ms_changes_utc_only(void **state)
{
    (void)state;
    step(50000000);
    step(-50000000);
}

static void a_step_of_2_s_changes_utc_only(void **state)
{
    (void)state;
    step(2000000000);
    step(-2000000000);
}

static void a_step_of_1_ns_is_counted_too(void **state)
{
    (void)state;
    step(1);
    step(-1);
}

/* The line before the step keeps its offset, so that earlier ticks keep their UTC. */
static void ticks_before_the_step_keep_their_time(void **state)
{
    struct world world = world_make(7);
    struct timebase_instant then, again;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        world_advance(&world, MILLISECOND);
        world_read(&world);
    }
    uint64_t ticks = world_ticks(&world);
    timebase_page_convert(&world.page, ticks, &then);
    world.utc_offset_ns -= 2000000000;
    for (int i = 0; i < 101; i++) {
        world_advance(&world, MILLISECOND);
        world_read(&world);
    }
    assert_int_equal(world.events, DISCIPLINE_UTC_STEPPED);
    timebase_page_convert(&world.page, ticks, &again);
    assert_true(fabs((double)(again.utc_ns - then.utc_ns)) <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_50_ms_changes_utc_only),
        cmocka_unit_test(a_step_of_2_s_changes_utc_only),
        cmocka_unit_test(a_step_of_1_ns_is_counted_too),
        cmocka_unit_test(ticks_before_the_step_keep_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
