/* SPDX-License-Identifier: MIT */
/* The kernel's clock may be made to run up to 10 % off (ADJ_TICK): followed, if late. */
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

static void change(double ppm)
{
    struct world world = world_make(18);
    struct watch fresh = {0};
    watch = fresh;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world.reference_rate = 1 + ppm * 1e-6;
    world_advance(&world, 100 * MILLISECOND);
    watch_run(&watch, &world, SECOND, MILLISECOND);
    struct reading early = watch_read(&watch, &world);
    watch_run(&watch, &world, 60 * SECOND, MILLISECOND);
    struct reading late = watch_read(&watch, &world);
    print_message("%+.0f ppm: error %.0f ns after 1 s, %.0f ns after 61 s\n", ppm,
                  early.mono_error_ns, late.mono_error_ns);
    assert_int_equal(watch.backwards, 0);
    assert_true(fabs(late.mono_error_ns) <= 1000);
}

static void a_percent_is_followed(void **state)
{
    (void)state;
    change(10000);
    change(-10000);
}

static void eight_percent_are_followed(void **state)
{
    (void)state;
    change(83333);
    change(-83333);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percent_is_followed),
        cmocka_unit_test(eight_percent_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
