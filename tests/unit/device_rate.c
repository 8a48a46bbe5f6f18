/* SPDX-License-Identifier: MIT */
/*
 * Devices against a counter, in virtual time: the device's rate, step and cost of a read are the
 * test's own, and so are the SMIs, which stop the CPU while counter and device go on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "dice.h"
#include "measure/device_fit.h"
#include "measure/device_rate.h"

#define WORLDS 300
#define HZ 2.6e9
#define SEC_TICKS 2600000000
#define PM_HZ 3579545.0
#define PM_COST 220 /* as in QEMU: a third of a count */
#define SMI_TICKS 200000

/* Time is in ticks of the counter. The device is read in the middle of what a read costs. */
static struct world {
    struct dice dice;
    uint64_t now;
    double ticks_per_count, phase;
    uint64_t cost, jitter;
    unsigned smi_in; /* one read in so many is interrupted; 0: none */
    unsigned smis;
    uint64_t held_up_at, held_up_for;
    double bent_at, bent; /* from then on it runs so much slower */
    int stands_still;
} world;

static uint64_t tell_ticks(void *context)
{
    (void)context;
    return world.now += 20;
}

static void rest(void *context, uint64_t ticks)
{
    (void)context;
    world.now += ticks;
    if (world.held_up_for > 0 && world.now > world.held_up_at) {
        world.now += world.held_up_for;
        world.held_up_for = 0;
    }
}

static uint64_t half_a_read(void)
{
    uint64_t takes = world.cost / 2 + dice_below(&world.dice, world.jitter + 1);
    if (world.smi_in > 0 && dice_below(&world.dice, 2 * world.smi_in) == 0) {
        world.smis++;
        takes += SMI_TICKS;
    }
    return takes;
}

static uint64_t shown(double ticks)
{
    if (world.stands_still)
        return 7;
    double bent = fmax(0, ticks - world.bent_at) * world.bent;
    return (uint64_t)(world.phase + (ticks - bent) / world.ticks_per_count);
}

static int read_device(struct device *device, uint64_t *raw)
{
    world.now += half_a_read();
    *raw = shown((double)world.now) & device_mask(device->width);
    world.now += half_a_read();
    return TIMEBASE_OK;
}

static struct device device_of(double hz, unsigned width)
{
    return (struct device){.read = read_device, .hz = hz, .width = width, .fd = -1};
}

/* A device that says `hz`, and runs ppm faster by a counter that is right. */
static void begin(struct dice dice, double hz, double ppm, uint64_t cost)
{
    world = (struct world){.dice = dice, .cost = cost, .jitter = cost / 8, .bent_at = INFINITY};
    world.ticks_per_count = HZ / hz / (1 + ppm / 1e6);
    world.phase = (double)dice_below(&world.dice, 1 << 30);
    world.now = dice_below(&world.dice, (uint64_t)1 << 40);
}

static const struct device_outside outside = {.ticks = tell_ticks, .rest = rest, .hz = HZ};

static struct timebase_bench_timer measure(struct device *device, uint64_t ticks)
{
    struct timebase_bench_timer found;
    assert_int_equal(device_rate(device, &outside, ticks, &found), TIMEBASE_OK);
    return found;
}

static int is_right(const struct timebase_bench_fit *fit)
{
    double off = fabs(fit->ticks_per_count - world.ticks_per_count);
    return fit->has_rate && off <= fit->error_ticks_per_count * (1 + 1e-9) + 1e-9;
}

static double error_ppm(const struct timebase_bench_fit *fit)
{
    return fit->error_ticks_per_count / fit->ticks_per_count * 1e6;
}

/* ---- edges that are seen, and edges that are not ------------------------------------------- */

static void the_pm_timer_s_edge_is_seen_and_waiting_for_it_lowers_the_residual(void **state)
{
    (void)state;
    begin(dice_new(), PM_HZ, 3, PM_COST);
    struct device pm = device_of(PM_HZ, 24);
    struct timebase_bench_timer found = measure(&pm, SEC_TICKS);
    assert_true(found.sees_edge);
    assert_true(found.same > found.reads / 2);
    assert_true(found.read_ticks >= PM_COST && found.read_ticks < 2 * PM_COST);
    assert_true(found.least_ticks <= found.read_ticks && found.read_ticks <= found.slowest_ticks);
    /* A count is 726 ticks: 726 / sqrt(12), as in the prototype's guest. */
    assert_true(found.plain.residual_ticks > 195 && found.plain.residual_ticks < 225);
    assert_true(found.edge.residual_ticks < found.plain.residual_ticks / 2);
    assert_true(is_right(&found.plain) && is_right(&found.edge));
}

static void the_hpet_s_edge_is_not_seen(void **state)
{
    const double hz[] = {14318180, 100000000};
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(dice_new(), hz[i], -40, 1400);
        struct device hpet = device_of(hz[i], 32);
        struct timebase_bench_timer found = measure(&hpet, SEC_TICKS);
        assert_int_equal(found.same, 0);
        assert_false(found.sees_edge);
        assert_int_equal(found.edge.taken, 0);
        assert_false(found.edge.has_rate);
        assert_true(is_right(&found.plain));
        assert_true(error_ppm(&found.plain) < 2);
    }
}

/* A second's edges are looked for at leisure; a few are enough. */
static void a_clock_of_seconds_has_a_rate_too(void **state)
{
    (void)state;
    begin(dice_new(), 1, 150, 20000);
    struct device rtc = device_of(1, 32);
    struct timebase_bench_timer found = measure(&rtc, (uint64_t)10 * SEC_TICKS);
    assert_true(found.sees_edge);
    assert_true(found.edge.taken >= 4);
    assert_true(is_right(&found.edge));
    assert_true(error_ppm(&found.edge) < 150);
}

/* ---- rates --------------------------------------------------------------------------------- */

/* Ten seconds are many wraps, which can be counted while the counter is right to less than half of
 * one. */
static uint64_t longest_hold_up(double hz, double ppm, unsigned width)
{
    double half_a_wrap_sec = ldexp(1, (int)width - 1) / hz;
    double sec = fmin(10, 0.9 * half_a_wrap_sec / (fabs(ppm) / 1e6 + 1e-9));
    return (uint64_t)(sec * HZ);
}

static void the_rate_is_right_to_its_own_error_in_any_world(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        double hz = 1e6 + (double)dice_below(&dice, 50000000);
        double ppm = (double)dice_below(&dice, 60001) - 30000; /* a counter of the wrong crystal */
        uint64_t cost = 40 + dice_below(&dice, 4000);
        struct device device = device_of(hz, dice_below(&dice, 2) ? 24 : 32);
        begin((struct dice){dice_roll(&dice)}, hz, ppm, cost);
        world.smi_in = dice_below(&dice, 2) ? 30 : 0;
        world.held_up_at = world.now + SEC_TICKS / 8;
        world.held_up_for = dice_below(&dice, longest_hold_up(hz, ppm, device.width));
        struct timebase_bench_timer found = measure(&device, SEC_TICKS / 4);
        assert_true(is_right(&found.plain));
        assert_true(found.edge.kept < 3 || is_right(&found.edge));
    }
}

static void brackets_that_an_smi_made_wide_are_dropped(void **state)
{
    struct device pm = device_of(PM_HZ, 24);
    (void)state;
    begin(dice_new(), PM_HZ, 0, PM_COST);
    struct timebase_bench_timer quiet = measure(&pm, SEC_TICKS);
    begin(dice_new(), PM_HZ, 0, PM_COST);
    world.smi_in = 10;
    struct timebase_bench_timer found = measure(&pm, SEC_TICKS);
    assert_true(world.smis > 100);
    assert_true(found.plain.kept < found.plain.taken);
    assert_true(found.edge.kept < found.edge.taken);
    assert_true(found.plain.bracket_ticks < SMI_TICKS && found.edge.bracket_ticks < SMI_TICKS);
    assert_true(found.slowest_ticks >= SMI_TICKS); /* the cost is told as it is */
    assert_true(found.edge.residual_ticks < 1.2 * quiet.edge.residual_ticks);
    assert_true(is_right(&found.plain) && is_right(&found.edge));
}

static void a_rate_that_changes_is_no_rate(void **state)
{
    struct device pm = device_of(PM_HZ, 24);
    (void)state;
    begin(dice_new(), PM_HZ, 0, PM_COST);
    world.bent_at = (double)world.now + SEC_TICKS / 2.0;
    world.bent = 0.001;
    struct timebase_bench_timer found = measure(&pm, SEC_TICKS);
    assert_false(found.plain.has_rate);
    assert_false(found.edge.has_rate);
}

static void a_timer_that_stands_still_is_refused(void **state)
{
    const double hz[] = {PM_HZ, 100000000, 1};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct timebase_bench_timer found;
        struct device device = device_of(hz[i], 32);
        begin(dice_new(), hz[i], 0, 400);
        world.stands_still = 1;
        assert_int_equal(device_rate(&device, &outside, SEC_TICKS / 8, &found),
                         TIMEBASE_E_REFERENCE);
        assert_non_null(strstr(device.reason, "stands still"));
    }
}

/* All of the time is over before the first one. */
static void a_timer_is_seen_once_however_long_that_was_held_up(void **state)
{
    struct device device = device_of(PM_HZ, 24);
    (void)state;
    begin(dice_new(), PM_HZ, 0, PM_COST);
    struct timebase_bench_timer found = measure(&device, 1);
    assert_int_equal(found.plain.taken, 1);
    assert_int_equal(found.edge.taken, 1);
    assert_false(found.plain.has_rate || found.edge.has_rate);
}

/* ---- the fit alone ------------------------------------------------------------------------- */

static void few_sightings_show_no_rate(void **state)
{
    struct device_sighting two[] = {{0, 10, 1}, {100, 110, 2}};
    struct device_sighting same[] = {{0, 1, 5}, {2, 3, 5}, {4, 5, 5}};
    struct timebase_bench_fit fit;
    (void)state;
    device_fit(two, 2, 1, &fit);
    assert_false(fit.has_rate);
    assert_int_equal(fit.kept, 2);
    device_fit(same, 3, 0, &fit);
    assert_false(fit.has_rate);
    device_fit(NULL, 0, 0, &fit);
    assert_false(fit.has_rate);
}

static void edges_bound_the_rate_by_their_brackets(void **state)
{
    struct device_sighting edges[] = {{0, 10, 1}, {995, 1005, 2}, {2000, 2010, 3}};
    struct timebase_bench_fit fit;
    (void)state;
    device_fit(edges, 3, 1, &fit);
    assert_true(fit.has_rate);
    /* from (2000 - 10) / 2 and (995 - 10), (2000 - 1005), to (2010 - 0) / 2 and (1005 - 0) */
    assert_true(fit.ticks_per_count - fit.error_ticks_per_count <= 995);
    assert_true(fit.ticks_per_count + fit.error_ticks_per_count >= 1005);
    assert_true(fit.error_ticks_per_count <= 10);
    assert_true(fit.bracket_ticks == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pm_timer_s_edge_is_seen_and_waiting_for_it_lowers_the_residual),
        cmocka_unit_test(the_hpet_s_edge_is_not_seen),
        cmocka_unit_test(a_clock_of_seconds_has_a_rate_too),
        cmocka_unit_test(the_rate_is_right_to_its_own_error_in_any_world),
        cmocka_unit_test(brackets_that_an_smi_made_wide_are_dropped),
        cmocka_unit_test(a_rate_that_changes_is_no_rate),
        cmocka_unit_test(a_timer_that_stands_still_is_refused),
        cmocka_unit_test(few_sightings_show_no_rate),
        cmocka_unit_test(a_timer_is_seen_once_however_long_that_was_held_up),
        cmocka_unit_test(edges_bound_the_rate_by_their_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
