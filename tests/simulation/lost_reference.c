/* SPDX-License-Identifier: MIT */
/* The reference falls silent: the clock goes on, the bound grows, and the status says when. */
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

/* Reads until the status is no longer `from`; how long that took. */
static double status_lasts(struct world *world, int from, double step_ns)
{
    long double begin_ns = world->now_ns;
    while ((watch_read(&watch, world).instant.flags & TIMEBASE_LINE_STATUS_MASK) == (unsigned)from)
        world_advance(world, step_ns);
    return (double)(world->now_ns - begin_ns);
}

/* The oscillator then strays as far as it may, and nobody is there to tell. */
static void lose(double stray_ppm)
{
    struct world world = watch_begin(&watch, 35);
    world.claim_error_ns = 1000;
    watch_run(&watch, &world, 10 * SECOND, MILLISECOND);
    world.lost_share = 1;
    world.counter_hz *= 1 + stray_ppm * 1e-6;
    double sync_ns = status_lasts(&world, TIMEBASE_STATUS_SYNCHRONIZED, 50 * MILLISECOND);
    assert_true(sync_ns > 4.8 * SECOND && sync_ns < 5.3 * SECOND);
    uint64_t at_loss_ns = watch_read(&watch, &world).instant.maxerror_ns;
    double free_ns = status_lasts(&world, TIMEBASE_STATUS_FREERUNNING, 10 * SECOND);
    struct reading useless = watch_read(&watch, &world);
    print_message("%+.0f ppm: UNKNOWN after %.1f h with a bound of %.1f s (%.6f s when lost)\n",
                  stray_ppm, free_ns / 3600e9, (double)useless.instant.maxerror_ns * 1e-9,
                  (double)at_loss_ns * 1e-9);
    assert_true(free_ns > 7 * 3600 * SECOND);
    assert_true(useless.instant.maxerror_ns > 16000000000);
    watch_expect_sound(&watch, 35);
    watch_print(&watch, "lost");
    assert_true(fabs(stray_ppm) < 40 || watch.tightest_true >= 0.5);
    world.lost_share = 0;
    watch_run(&watch, &world, SECOND, MILLISECOND);
    watch_expect_sound(&watch, 35);
    assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_SYNCHRONIZED);
}

static void the_bound_holds_until_it_is_useless(void **state)
{
    (void)state;
    lose(0);
    lose(49.5);
    lose(-49.5);
}

static void a_reference_that_comes_back_at_once_was_never_lost(void **state)
{
    struct world world = watch_begin(&watch, 36);
    (void)state;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    for (int i = 0; i < 200; i++) {
        world.lost_share = i % 4 != 0;
        watch_run(&watch, &world, SECOND, 50 * MILLISECOND);
        assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                         TIMEBASE_STATUS_SYNCHRONIZED);
    }
    watch_expect_sound(&watch, 36);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_holds_until_it_is_useless),
        cmocka_unit_test(a_reference_that_comes_back_at_once_was_never_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
