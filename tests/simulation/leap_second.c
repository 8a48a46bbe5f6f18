/* SPDX-License-Identifier: MIT */
/* A second is put in at midnight or the last one is left out: the bound has it in time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

struct kind {
    uint32_t flag;
    int64_t step_ns;            /* of UTC */
    int64_t before_midnight_ns; /* when it steps */
};

static struct kind insert = {TIMEBASE_LINE_LEAP_INSERT, -1000000000, 0};
static struct kind delete = {TIMEBASE_LINE_LEAP_DELETE, 1000000000, 1000000000};

static struct watch watch;

/* Three seconds before the end of a day, true and by CLOCK_REALTIME alike. */
static struct world before_midnight(const struct kind *kind, uint64_t seed)
{
    const int64_t day_ns = 86400000000000;
    struct world world = watch_begin(&watch, seed);
    int64_t now_ns = world.utc_offset_ns + (int64_t)world.reference_ns;
    int64_t late_ns = day_ns - now_ns % day_ns - 3000000000;
    world.utc_offset_ns += late_ns;
    world.utc_epoch_ns += late_ns;
    world.claim_flags = kind->flag;
    return world;
}

static double to_leap_ns(const struct kind *kind, int64_t utc_ns)
{
    return (double)(86400000000000 - utc_ns % 86400000000000 - kind->before_midnight_ns);
}

/*
 * The reference is off by so much, so that it and true UTC leap one after the other; the kernel
 * does it at a tick of its own, up to 10 ms late.
 */
static void leap(const struct kind *kind, double off_ns, double kernel_late_ns,
                 bool announcement_stays)
{
    struct world world = before_midnight(kind, 32);
    bool is_true = false, is_kernel = false;
    world.utc_offset_ns += (int64_t)off_ns;
    world.claim_error_ns = 3000000;
    double to_true_ns = to_leap_ns(kind, world.utc_epoch_ns);
    double to_kernel_ns =
        to_leap_ns(kind, world.utc_offset_ns + (int64_t)world.reference_ns) + kernel_late_ns;
    for (int i = 0; i < 20000; i++) {
        world_advance(&world, 300000);
        if (!is_true && (double)world.now_ns >= to_true_ns) {
            is_true = true;
            world.utc_epoch_ns += kind->step_ns;
        }
        if (!is_kernel && (double)world.now_ns >= to_kernel_ns) {
            is_kernel = true;
            world.utc_offset_ns += kind->step_ns;
            world.claim_flags = announcement_stays ? world.claim_flags : 0;
        }
        struct reading reading = watch_read(&watch, &world);
        uint32_t status = reading.instant.flags & TIMEBASE_LINE_STATUS_MASK;
        assert_true(status == TIMEBASE_STATUS_SYNCHRONIZED || i < 1000);
    }
    struct reading reading = watch_read(&watch, &world);
    assert_true(is_true && is_kernel);
    assert_true(reading.instant.utc_maxerror_ns < 20000000); /* and it is over */
    watch_expect_sound(&watch, 32);
    watch_print(&watch, "leap");
    assert_true(watch.tightest_true >= 0.5);
}

static void both_bounds_hold_throughout_the_second(void **state)
{
    const struct kind *kind = *state;
    leap(kind, 0, 0, false);
    leap(kind, 0, 9 * MILLISECOND, true);
}

static void a_reference_ahead_of_utc_leaps_too_early(void **state)
{
    const struct kind *kind = *state;
    leap(kind, 2.5 * MILLISECOND, 0, false);
    leap(kind, 2.5 * MILLISECOND, 4 * MILLISECOND, true);
}

static void a_reference_behind_utc_leaps_too_late(void **state)
{
    const struct kind *kind = *state;
    leap(kind, -2.5 * MILLISECOND, 0, false);
    leap(kind, -2.5 * MILLISECOND, 9 * MILLISECOND, true);
}

/* What the widening is for. */
static void unannounced_it_is_a_step_that_breaks_the_bound(void **state)
{
    const struct kind *kind = *state;
    struct world world = before_midnight(kind, 33);
    world.claim_flags = 0;
    watch_run(&watch, &world, 2.9 * SECOND, MILLISECOND);
    assert_true(watch.untrue == 0);
    world.utc_epoch_ns += kind->step_ns;
    world.utc_offset_ns += kind->step_ns;
    world_advance(&world, MILLISECOND);
    watch_read(&watch, &world);
    assert_true(watch.untrue > 0 && watch.outside > 0);
}

#define OF_BOTH(test)                                                                              \
    cmocka_unit_test_prestate(test, &insert), cmocka_unit_test_prestate(test, &delete)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_BOTH(both_bounds_hold_throughout_the_second),
        OF_BOTH(a_reference_ahead_of_utc_leaps_too_early),
        OF_BOTH(a_reference_behind_utc_leaps_too_late),
        OF_BOTH(unannounced_it_is_a_step_that_breaks_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
