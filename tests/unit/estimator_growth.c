/* SPDX-License-Identifier: MIT */
/* A slope is as far from UTC's as was told along its run, not only at its end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/estimator.h"

#define MS 1000000

struct scene {
    struct estimator estimator;
    uint64_t ticks;
    int64_t ns;
    uint32_t limit_ppm; /* told with each point */
};

/* 1 ns a tick and so many ppm more, for so long; then a point so wide, and what is told with it. */
static void observe(struct scene *scene, int64_t pass_ns, int64_t ppm, uint64_t width_ns,
                    uint32_t growth_ppb)
{
    scene->ticks += (uint64_t)pass_ns;
    scene->ns += pass_ns + pass_ns / 1000000 * ppm;
    struct estimator_point point = {scene->ticks, scene->ns, width_ns, growth_ppb,
                                    scene->limit_ppm};
    estimator_observe(&scene->estimator, &point);
}

static uint64_t growth_ppb(const struct scene *scene)
{
    return scene->estimator.growth_frac / (UINT64_MAX / 1000000000);
}

static struct scene quiet_scene(unsigned points)
{
    struct scene scene = {.ticks = 1000, .ns = 5000, .limit_ppm = 500};
    for (unsigned i = 0; i < points; i++)
        observe(&scene, 100 * MS, 0, 20, 0);
    return scene;
}

static void what_is_told_counts_as_long_as_the_run_has_it(void **state)
{
    struct scene scene = quiet_scene(ESTIMATOR_POINTS);
    (void)state;
    assert_int_equal(growth_ppb(&scene), 0);
    observe(&scene, 100 * MS, 0, 20, 900);
    for (unsigned i = 0; i < ESTIMATOR_POINTS - 1; i++) {
        assert_in_range(growth_ppb(&scene), 899, 900);
        observe(&scene, 100 * MS, 0, 20, 0);
    }
    for (int i = 0; i < 2; i++)
        observe(&scene, 100 * MS, 0, 20, 0);
    assert_int_equal(growth_ppb(&scene), 0);
}

/* Wide points are not kept, so the run may go back to a slew that ended many samples ago. */
static void a_slew_that_ended_is_in_the_slope_as_long_as_it_is_in_the_run(void **state)
{
    struct scene scene = {.ticks = 1000, .ns = 5000, .limit_ppm = 500};
    (void)state;
    observe(&scene, MS, -226, 20, 226000);
    observe(&scene, MS, -226, 20, 226000);
    observe(&scene, 40 * MS, -226, 20, 226000);
    observe(&scene, 94 * MS, -226, 740, 226000);
    for (int i = 0; i < 6; i++) {
        observe(&scene, 5 * MS, 0, 740, 0);
        assert_true(scene.ns - scene.estimator.points[0].ns > 94 * MS);
        assert_in_range(growth_ppb(&scene), 225000, 226000);
    }
}

/* A slope that stays because no better one is known says, too, what the newer ones know of UTC. */
static void a_slope_that_stays_forgets_the_growth_that_newer_ones_do_not_have(void **state)
{
    struct scene scene = {.ticks = 1000, .ns = 5000, .limit_ppm = 500};
    (void)state;
    for (int i = 0; i < 16; i++)
        observe(&scene, 100 * MS, 0, 20, 500000);
    uint64_t error_frac = scene.estimator.period_error_frac;
    for (int i = 0; i < 40; i++)
        observe(&scene, 100 * MS, 0, 60, 0);
    assert_true(scene.estimator.period_error_frac == error_frac);
    assert_in_range(growth_ppb(&scene), 1, 100);
}

static void a_slew_that_nobody_tells_is_seen(void **state)
{
    struct scene scene = quiet_scene(20);
    (void)state;
    for (int i = 0; i < 30; i++) {
        observe(&scene, 100 * MS, 5000, 20, 0);
        assert_in_range(growth_ppb(&scene), 4990000, 5010000);
    }
    for (int i = 0; i < 3; i++)
        observe(&scene, 100 * MS, 0, 20, 0);
    assert_int_equal(growth_ppb(&scene), 0);
}

/* A counter that jumped may have another pace now: what is known of UTC's is of the old one. */
static void after_a_jump_the_pace_of_utc_is_learnt_anew(void **state)
{
    struct scene scene = quiet_scene(20);
    (void)state;
    scene.ticks += 1000 * MS;
    observe(&scene, 100 * MS, 300, 20, 0);
    for (int i = 0; i < 20; i++)
        observe(&scene, 100 * MS, 300, 20, 0);
    assert_int_equal(growth_ppb(&scene), 0);
}

/* It may change back from any pace that the slope is of. */
static void the_limit_told_counts_as_long_as_the_run_has_it(void **state)
{
    struct scene scene = quiet_scene(ESTIMATOR_POINTS);
    (void)state;
    assert_int_equal(scene.estimator.slew_limit_ppm, 500);
    scene.limit_ppm = 9000;
    observe(&scene, 100 * MS, 0, 20, 0);
    scene.limit_ppm = 500;
    for (unsigned i = 0; i < ESTIMATOR_POINTS - 1; i++) {
        assert_int_equal(scene.estimator.slew_limit_ppm, 9000);
        observe(&scene, 100 * MS, 0, 20, 0);
    }
    for (int i = 0; i < 2; i++)
        observe(&scene, 100 * MS, 0, 20, 0);
    assert_int_equal(scene.estimator.slew_limit_ppm, 500);
}

/* A point so wide that the past says more. */
static void the_past_is_worth_as_much_less_as_the_pace_may_have_changed(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        struct scene scene = quiet_scene(ESTIMATOR_POINTS);
        scene.limit_ppm = 10000;
        if (after)
            observe(&scene, 100 * MS, 0, 20, 0);
        scene.limit_ppm = after ? 500 : 10000;
        observe(&scene, 100 * MS, 0, 5 * MS, 0);
        assert_in_range(scene.estimator.error_ns, MS, MS + 6000); /* 50 ppm is the oscillator's */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_told_counts_as_long_as_the_run_has_it),
        cmocka_unit_test(the_past_is_worth_as_much_less_as_the_pace_may_have_changed),
        cmocka_unit_test(what_is_told_counts_as_long_as_the_run_has_it),
        cmocka_unit_test(a_slew_that_ended_is_in_the_slope_as_long_as_it_is_in_the_run),
        cmocka_unit_test(a_slope_that_stays_forgets_the_growth_that_newer_ones_do_not_have),
        cmocka_unit_test(a_slew_that_nobody_tells_is_seen),
        cmocka_unit_test(after_a_jump_the_pace_of_utc_is_learnt_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
