/* SPDX-License-Identifier: MIT */
/* The kernel's tick is found among synthetic gaps, and is not found where there is none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calendar/tick.h"
#include "../repeats.h"
#include "calendar_units.h"
#include "dice.h"

struct scene {
    struct tick_gap gaps[2 * TICK_GAPS_MAX];
    int count;
    int64_t watched_ns;
};

static struct scene scene;
static struct timebase_tick_comb comb;

static void add(int64_t start_ns, int64_t length_ns)
{
    if (scene.count == 2 * TICK_GAPS_MAX)
        return;
    scene.gaps[scene.count].start_ns = start_ns;
    scene.gaps[scene.count++].length_ns = length_ns;
}

static int earlier(const void *a, const void *b)
{
    const struct tick_gap *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int64_t between(struct dice *dice, int64_t low, int64_t high)
{
    return low + (int64_t)dice_below(dice, (uint64_t)(high - low + 1));
}

/* A tick every period from phase on, that begins up to scatter later and lasts about length. */
static void add_ticks(struct dice *dice, int64_t period, int64_t phase, int64_t scatter,
                      int64_t length)
{
    for (int64_t t = SEC + phase; t < SEC + scene.watched_ns; t += period) {
        int64_t late = between(dice, 0, scatter);
        add(t + late, length + between(dice, 0, length / 10));
    }
}

static void add_noise(struct dice *dice, int64_t per_second)
{
    int64_t n = per_second * scene.watched_ns / SEC;
    for (int64_t i = 0; i < n; i++) {
        int64_t start = SEC + between(dice, 0, scene.watched_ns - 1);
        add(start, between(dice, 500, 30000));
    }
}

static void begin(int64_t watched_ns)
{
    scene.count = 0;
    scene.watched_ns = watched_ns;
}

/* As the library does, watching ends when there are enough. */
static void find(void)
{
    qsort(scene.gaps, (size_t)scene.count, sizeof(scene.gaps[0]), earlier);
    int64_t watched = scene.watched_ns;
    if (scene.count > TICK_GAPS_MAX) {
        scene.count = TICK_GAPS_MAX;
        watched = scene.gaps[scene.count - 1].start_ns - SEC;
    }
    tick_find(scene.gaps, scene.count, watched, &comb);
}

static int64_t circular(int64_t difference, int64_t period)
{
    int64_t d = ((difference % period) + period) % period;
    return d > period / 2 ? period - d : d;
}

static const struct {
    int hz;
    int64_t period_ns;
} kernels[] = {{100, 10000000}, {250, 4000000}, {300, 3333333}, {1000, 1000000},
               {1024, 976563},  {128, 7812500}, {24, 41666667}};

static void the_tick_of_every_kernel_is_found(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        int64_t period = kernels[k].period_ns, phase = between(&dice, 0, period - 1);
        begin(SEC);
        /* Second 1 of the clock is no multiple of every period. */
        add_ticks(&dice, period, phase, 3000, 15000);
        add_noise(&dice, 100);
        find();
        assert_int_equal(comb.period_ns, period);
        assert_true(circular(comb.phase_ns - (SEC + phase + 9000), period) < 4000);
        assert_in_range(comb.width_ns, 14000, 21000);
        assert_in_range(comb.phase_ns, 0, period - 1);
        assert_true(comb.longest_ns >= 15000);
        assert_int_equal(comb.gaps, scene.count);
    }
}

static void a_tick_that_scatters_across_its_period_s_end_is_found_whole(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    begin(SEC);
    add_ticks(&dice, 4 * MS, 4 * MS - 25000, 50000, 16000);
    find();
    assert_int_equal(comb.period_ns, 4 * MS);
    assert_true(circular(comb.phase_ns - 8000, 4 * MS) < 8000);
    assert_true(comb.width_ns > 50000 && comb.width_ns < 75000);
    assert_true(comb.share > 0.99);
}

/* On a busy CPU others run for whole ticks, and their turns begin with one. */
static void preemptions_do_not_make_the_tick_longer(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    begin(SEC);
    add_ticks(&dice, 4 * MS, MS, 5000, 16000);
    for (int i = 0; i < scene.count; i += 3)
        scene.gaps[i].length_ns = 8 * MS;
    find();
    assert_int_equal(comb.period_ns, 4 * MS);
    assert_in_range(comb.width_ns, 15000, 25000);
    assert_int_equal(comb.longest_ns, 8 * MS);
}

static void three_times_as_much_noise_does_not_hide_the_tick(void **state)
{
    struct dice dice = dice_new();
    int found = 0, tries = repeats(200);
    (void)state;
    for (int i = 0; i < tries; i++) {
        begin(SEC);
        add_ticks(&dice, 4 * MS, between(&dice, 0, 4 * MS - 1), 5000, 16000);
        add_noise(&dice, 750);
        find();
        found += comb.period_ns == 4 * MS;
        if (comb.period_ns != 0)
            assert_true(comb.share > 0.2 && comb.share < 0.4);
    }
    assert_int_equal(found, tries);
}

static void noise_alone_is_no_comb(void **state)
{
    static const int64_t rates[] = {50, 300, 1000, 3000, 20000};
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(4000); i++) {
        begin(between(&dice, 10 * MS, SEC));
        add_noise(&dice, rates[i % 5]);
        find();
        assert_int_equal(comb.period_ns, 0);
        assert_int_equal(comb.phase_ns, 0);
        assert_int_equal(comb.width_ns, 0);
    }
}

/* Fifty gaps in one go are one thing that happened, not fifty. */
static void bursts_are_no_comb(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(1000); i++) {
        begin(SEC);
        for (int burst = 0; burst < 12; burst++) {
            int64_t at = SEC + between(&dice, 0, SEC - MS);
            for (int gap = 0; gap < 50; gap++)
                add(at + gap * 4000, 1000);
        }
        find();
        assert_int_equal(comb.period_ns, 0);
    }
}

static void a_period_that_no_kernel_has_is_no_comb(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    begin(SEC);
    add_ticks(&dice, 2718281, 0, 1000, 16000);
    find();
    assert_int_equal(comb.period_ns, 0);
}

/* All of them fall onto one phase of 4 ms, but the kernel that has this tick has it every time. */
static void one_gap_in_four_periods_is_no_comb(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    begin(2 * (int64_t)SEC);
    add_ticks(&dice, 16 * MS, 0, 1000, 16000);
    find();
    assert_int_equal(comb.period_ns, 0);
}

static void a_fifth_of_the_ticks_missing_leaves_the_same_tick(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(100); i++) {
        begin(SEC);
        for (int64_t t = SEC; t < 2 * (int64_t)SEC; t += 4 * MS)
            if (dice_below(&dice, 10) < 8)
                add(t, 16000);
        find();
        assert_int_equal(comb.period_ns, 4 * MS);
    }
}

static void four_ticks_are_too_few_and_six_are_enough(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    begin(16 * MS);
    add_ticks(&dice, 4 * MS, MS, 1000, 16000);
    assert_int_equal(scene.count, 4);
    find();
    assert_int_equal(comb.period_ns, 0);
    begin(24 * MS);
    add_ticks(&dice, 4 * MS, MS, 1000, 16000);
    find();
    assert_int_equal(comb.period_ns, 4 * MS);
}

static void no_gaps_are_no_comb(void **state)
{
    (void)state;
    begin(SEC);
    find();
    assert_int_equal(comb.period_ns, 0);
    assert_int_equal(comb.gaps, 0);
    assert_true(comb.share == 0);
}

static void learning_checks_its_arguments(void **state)
{
    const timebase_clock *clock = timebase_clock_default();
    (void)state;
    assert_int_equal(timebase_tick_comb_learn(NULL, SEC, &comb), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_tick_comb_learn(clock, SEC, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_tick_comb_learn(clock, 10 * MS - 1, &comb), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_tick_comb_learn(clock, 10 * (int64_t)SEC + 1, &comb),
                     TIMEBASE_E_INVALID);
}

/* Whatever this machine is like, what is learnt is one that a calendar may be given. */
static void what_is_learnt_here_is_a_comb_or_none(void **state)
{
    const struct timebase_unit unit = unit_of("any", 0, MS, 10 * US);
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    (void)state;
    assert_int_equal(timebase_tick_comb_learn(timebase_clock_default(), 200 * MS, &comb), 0);
    print_message("a tick every %lld ns, at %lld +/- %lld ns, %.0f %% of %llu gaps\n",
                  (long long)comb.period_ns, (long long)comb.phase_ns, (long long)comb.width_ns / 2,
                  comb.share * 100, (unsigned long long)comb.gaps);
    calendar.comb = &comb;
    calendar.avoid_tick = 1;
    int problems = timebase_calendar_admit(&calendar, NULL, NULL, 0);
    assert_in_range(problems, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tick_of_every_kernel_is_found),
        cmocka_unit_test(a_tick_that_scatters_across_its_period_s_end_is_found_whole),
        cmocka_unit_test(preemptions_do_not_make_the_tick_longer),
        cmocka_unit_test(three_times_as_much_noise_does_not_hide_the_tick),
        cmocka_unit_test(noise_alone_is_no_comb),
        cmocka_unit_test(bursts_are_no_comb),
        cmocka_unit_test(a_period_that_no_kernel_has_is_no_comb),
        cmocka_unit_test(one_gap_in_four_periods_is_no_comb),
        cmocka_unit_test(a_fifth_of_the_ticks_missing_leaves_the_same_tick),
        cmocka_unit_test(four_ticks_are_too_few_and_six_are_enough),
        cmocka_unit_test(no_gaps_are_no_comb),
        cmocka_unit_test(learning_checks_its_arguments),
        cmocka_unit_test(what_is_learnt_here_is_a_comb_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
