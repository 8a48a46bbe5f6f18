/* SPDX-License-Identifier: MIT */
/*
 * esterror is no promise but a figure: in quiet, and while the reference is steered as NTP daemons
 * steer it, it contains 99.9 % of the errors; half of it does not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock/discipline/bound.h"
#include "coverage.h"
#include "world.h"

#define SECOND 1e9
#define WARM_NS (300 * SECOND)
#define READINGS 150000

struct scene {
    struct world world;
    double steered_ppm; /* each 16 to 64 s to a pace within so much */
    long double steer_ns;
    double estimates[READINGS];
    double maxerrors[READINGS];
    unsigned count;
    struct coverage coverage;
};

enum { HALF = 1, WHOLE = 2 }; /* of coverage_multiples */

static struct scene scene;

static void steer(void)
{
    struct world *world = &scene.world;
    if (world->now_ns < scene.steer_ns)
        return;
    scene.steer_ns = world->now_ns + (16 + 48 * world_random(world)) * SECOND;
    world->reference_rate = 1 + (world_random(world) * 2 - 1) * scene.steered_ppm * 1e-6;
}

static void look(void)
{
    struct world *world = &scene.world;
    world_advance(world, 1e6 * (0.5 + 3 * world_random(world)));
    steer();
    struct reading reading = world_read(world);
    if (world->now_ns < WARM_NS)
        return;
    double estimated_ns = (double)reading.instant.esterror_ns;
    coverage_add(&scene.coverage, reading.mono_error_ns, estimated_ns);
    scene.maxerrors[scene.count] = (double)reading.instant.maxerror_ns;
    scene.estimates[scene.count++] = estimated_ns;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values)
{
    qsort(values, scene.count, sizeof values[0], compare);
    return values[scene.count / 2];
}

static double median(void)
{
    return median_of(scene.estimates);
}

static double share_within_half(void)
{
    return coverage_share(&scene.coverage, HALF);
}

/* Brackets so wide; answered near the middle, or with a delay of any length on either side. */
static void begin(double bracket_ns, double any_share)
{
    static const struct scene fresh;
    scene = fresh;
    scene.world = world_make(46);
    scene.world.bracket_ns = bracket_ns * (1 - any_share);
    scene.world.disturbed_share = any_share > 0 ? 1 : 0;
    scene.world.disturbance_ns = bracket_ns * any_share;
    scene.world.wander_ppm = 0.003;
    /* As the kernel's driver tells, which cannot know better. */
    scene.world.claim_ppb = 500000;
    scene.world.slew_limit_ppm = 500;
}

/* Within a quarter, a half, once, twice, four times. */
static void expect_calibrated(const char *what)
{
    char text[100];
    print_message("seed 46, %s: median %.0f ns of %.0f; %s\n", what, median(),
                  median_of(scene.maxerrors), coverage_text(&scene.coverage, text, sizeof text));
    assert_true(coverage_share(&scene.coverage, WHOLE) >= 0.999);
}

static void run(const char *what)
{
    while (scene.count < READINGS)
        look();
    expect_calibrated(what);
}

static void in_quiet_it_is_some_nanoseconds(void **state)
{
    (void)state;
    begin(40, 0);
    run("quiet");
    assert_true(median() <= 10);
}

static void readings_anywhere_in_the_bracket_widen_it(void **state)
{
    (void)state;
    begin(40, 0.95);
    run("quiet, anywhere in the bracket");
    assert_true(median() <= 25);
    assert_true(share_within_half() < 0.999);
}

static void wide_brackets_of_a_virtual_machine_widen_it(void **state)
{
    (void)state;
    begin(1500, 0);
    run("brackets of 1.5 µs");
    assert_true(median() <= 300);
}

static void a_reference_that_is_steered_a_little_changes_little(void **state)
{
    (void)state;
    begin(40, 0);
    scene.steered_ppm = 0.02;
    run("steered by 0.02 ppm");
    assert_true(median() <= 20);
}

static void a_reference_that_is_steered_is_followed(void **state)
{
    static const double ppm[] = {0.1, 0.3, 1, 3, 10};
    (void)state;
    for (unsigned i = 0; i < sizeof ppm / sizeof ppm[0]; i++) {
        begin(40, i % 2 == 0 ? 0 : 0.95);
        scene.steered_ppm = ppm[i];
        char what[60];
        snprintf(what, sizeof what, "steered by %.1f ppm%s", ppm[i],
                 i % 2 == 0 ? "" : ", anywhere");
        run(what);
        assert_true(median() <= 50 + 50 * ppm[i]);
    }
    assert_true(share_within_half() < 0.999);
}

static void steering_shows_under_wide_brackets_too(void **state)
{
    (void)state;
    begin(1500, 0);
    scene.steered_ppm = 1;
    run("brackets of 1.5 µs, steered by 1 ppm");
    assert_true(median() <= 500);
}

/* A reading shows the beginning of the counter's step, as a sample does, but of another step. */
static void steps_of_the_counter_widen_it(void **state)
{
    (void)state;
    begin(40, 0);
    scene.world.step_ticks = 26;
    run("a counter that steps by 10 ns");
    assert_true(median() <= 20);
    begin(40, 0);
    scene.world.counter_hz = 24e6;
    run("a counter of 24 MHz");
    begin(40, 0);
    scene.world.counter_hz = 1e6;
    run("a counter of 1 MHz");
}

static void steps_of_the_reference_widen_it(void **state)
{
    (void)state;
    begin(40, 0);
    scene.world.reference_step_ns = 100;
    run("a reference that steps by 100 ns");
    begin(40, 0);
    scene.world.step_ticks = 26;
    scene.world.reference_step_ns = 10;
    run("both step by 10 ns");
}

/* Two of three are interrupted for up to 20 µs, as on a crowded machine. */
static void wide_brackets_among_narrow_ones_are_no_change_of_pace(void **state)
{
    (void)state;
    begin(40, 0);
    scene.world.disturbed_share = 0.67;
    scene.world.disturbance_ns = 20000;
    run("two of three brackets up to 20 µs wide");
}

/* A minute without samples, again and again; an oscillator that wanders by some parts in 10^7. */
static void without_samples_it_grows_as_the_oscillator_strays(void **state)
{
    (void)state;
    begin(40, 0);
    scene.world.wander_ppm = 0.05;
    while (scene.count < READINGS) {
        bool is_lost = fmodl(scene.world.now_ns, 70 * SECOND) > 10 * SECOND;
        scene.world.lost_share = scene.world.now_ns > WARM_NS && is_lost ? 1 : 0;
        look();
    }
    expect_calibrated("a minute without samples");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_quiet_it_is_some_nanoseconds),
        cmocka_unit_test(readings_anywhere_in_the_bracket_widen_it),
        cmocka_unit_test(wide_brackets_of_a_virtual_machine_widen_it),
        cmocka_unit_test(a_reference_that_is_steered_a_little_changes_little),
        cmocka_unit_test(a_reference_that_is_steered_is_followed),
        cmocka_unit_test(steering_shows_under_wide_brackets_too),
        cmocka_unit_test(steps_of_the_counter_widen_it),
        cmocka_unit_test(steps_of_the_reference_widen_it),
        cmocka_unit_test(wide_brackets_among_narrow_ones_are_no_change_of_pace),
        cmocka_unit_test(without_samples_it_grows_as_the_oscillator_strays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
