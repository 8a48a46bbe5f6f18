/* SPDX-License-Identifier: MIT */
/* Where readings of a stepped counter, at known distances, place the first of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "../repeats.h"
#include "stepped.h"
#include "timing/learn/vernier.h"

#define CASES 20000
#define ROUNDING 0.01 /* ticks: instants of 2^40 ticks are doubles */

/* A series in a world of its own. */
struct scene {
    struct stepped counter;
    struct vernier vernier;
    double first; /* when the first reading was taken: the truth */
    uint64_t base;
    uint32_t readings[APPROACH_FINE];
};

static struct vernier new_vernier(double step, double spacing)
{
    struct vernier vernier;
    vernier_init(&vernier, step);
    vernier.readings = APPROACH_FINE;
    vernier.spacing_ticks = spacing;
    return vernier;
}

/* Of one reading. */
static double widest_bound(const struct vernier *vernier)
{
    return (vernier->span_ticks + 1) / 2;
}

/* Half of all instants are near a carry out of the lower 32 bits. */
static double some_instant(struct dice *dice)
{
    double carry = (double)((1 + dice_below(dice, 256)) << 32);
    return dice_below(dice, 2) ? carry - dice_between(dice, 0, 5000)
                               : dice_between(dice, 10000, 1e12);
}

/* Every other counter steps by no whole number of ticks. */
static struct stepped some_counter(struct dice *dice)
{
    double step = (double)(1 + dice_below(dice, 120)), phase = dice_between(dice, 0, step);
    if (dice_below(dice, 2))
        return (struct stepped){step, floor(phase)};
    return (struct stepped){step + 0.5, phase};
}

static struct scene some_scene(struct dice *dice)
{
    struct scene scene;
    scene.counter = some_counter(dice);
    double step = scene.counter.step;
    scene.vernier = new_vernier(step, dice_between(dice, 3, 90));
    scene.first = some_instant(dice);
    scene.base = (uint64_t)scene.first - 100000 + dice_below(dice, 200000);
    stepped_series(&scene.counter, scene.first, scene.vernier.spacing_ticks, scene.readings);
    return scene;
}

/* So many of the readings agree. */
static struct timebase_fine_reading intersect(const struct scene *scene, int wanted)
{
    struct timebase_fine_reading found;
    assert_int_equal(vernier_intersect(&scene->vernier, scene->readings, scene->vernier.readings,
                                       (uint32_t)scene->base, &found),
                     wanted);
    return found;
}

/* A reading of v means v to v + 1 on a fine counter, and `ticks` is v then: hence the half. */
static void assert_contains_truth(const struct scene *scene, struct timebase_fine_reading found)
{
    double truth = scene->first - (double)scene->base;
    if (!(fabs(found.ticks + 0.5 - truth) <= found.bound_ticks + ROUNDING))
        fail_msg("%f +/- %f is not %f; step %f", found.ticks, found.bound_ticks, truth,
                 scene->vernier.step_ticks);
}

static void the_intersection_contains_the_first_instant(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        struct timebase_fine_reading found = intersect(&scene, scene.vernier.readings);
        assert_true(found.bound_ticks >= 0);
        assert_true(found.bound_ticks <= widest_bound(&scene.vernier));
        assert_contains_truth(&scene, found);
    }
}

/* At a spacing that suits the step: what vernier_gap() says is what is left open at most. */
static void many_readings_are_finer_than_a_tenth_of_a_step(void **state)
{
    struct dice dice = dice_new();
    double sum = 0;
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        double spacing = dice_between(&dice, 20, 20);
        if (vernier_gap(26, spacing, APPROACH_FINE) > 2.6)
            continue;
        scene.counter = (struct stepped){26, 3};
        scene.vernier = new_vernier(26, spacing);
        stepped_series(&scene.counter, scene.first, scene.vernier.spacing_ticks, scene.readings);
        struct timebase_fine_reading found = intersect(&scene, scene.vernier.readings);
        assert_contains_truth(&scene, found);
        assert_true(found.bound_ticks <= 2.6 / 2 + ROUNDING);
        sum += found.bound_ticks;
    }
    assert_true(sum > 0);
}

static void a_single_reading_is_the_middle_of_its_step(void **state)
{
    struct scene scene = {.vernier = new_vernier(26, 30), .readings = {1026}, .base = 1000};
    (void)state;
    scene.vernier.readings = 1;
    struct timebase_fine_reading found = intersect(&scene, scene.vernier.readings);
    assert_true(found.ticks == 26 + 12.5);
    assert_true(found.bound_ticks == 13);
}

static void on_a_fine_counter_it_is_the_reading_itself(void **state)
{
    struct scene scene = {.vernier = new_vernier(1, 30), .readings = {7}, .base = 0xfffffff0};
    (void)state;
    scene.vernier.readings = 1;
    struct timebase_fine_reading found = intersect(&scene, scene.vernier.readings);
    assert_true(found.ticks == 23);
    assert_true(found.bound_ticks == 0.5);
}

/*
 * Counters of 2.5 GHz in steps of 0.4 or 0.8 ns, as Intel's, and of 2.3: readings 12 ns apart. One
 * reading is as good as its step, and many lose nothing: calibration takes a vernier from steps of
 * five ticks on, and what it did below is right all the same.
 */
static void fine_counters_are_read_to_their_step(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        uint64_t step = 1 + dice_below(&dice, 4);
        scene.counter = (struct stepped){(double)step, (double)dice_below(&dice, step)};
        scene.vernier = new_vernier((double)step, dice_between(&dice, 27, 4));
        stepped_series(&scene.counter, scene.first, scene.vernier.spacing_ticks, scene.readings);
        assert_contains_truth(&scene, intersect(&scene, scene.vernier.readings));
        scene.vernier.readings = 1;
        struct timebase_fine_reading one = intersect(&scene, scene.vernier.readings);
        assert_true(one.bound_ticks == (double)step / 2);
        assert_contains_truth(&scene, one);
    }
}

/* What the readings before number `count` say by themselves. */
static struct timebase_fine_reading prefix(struct scene scene, int count)
{
    struct timebase_fine_reading found;
    vernier_intersect(&scene.vernier, scene.readings, count, (uint32_t)scene.base, &found);
    return found;
}

static double last_of(const struct scene *scene)
{
    return vernier_last(&scene->vernier, scene->readings, APPROACH_FINE, (uint32_t)scene->base);
}

/* To the spacing's rounding, 31 times. */
static void the_last_reading_was_so_many_spacings_later(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        struct timebase_fine_reading found = intersect(&scene, APPROACH_FINE);
        double later = (APPROACH_FINE - 1) * scene.vernier.spacing_ticks;
        assert_true(fabs(last_of(&scene) - found.ticks - later) < ROUNDING);
    }
}

/* What came before an interruption says nothing of it; one that is alone behind it is good to a step. */
static void the_last_reading_is_placed_by_those_behind_an_interruption(void **state)
{
    enum { LATE = 100000 };
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        double undisturbed = last_of(&scene);
        int first = 1 + (int)dice_below(&dice, APPROACH_FINE - 1);
        for (int k = first; k < APPROACH_FINE; k++)
            scene.readings[k] += LATE;
        double step = scene.vernier.span_ticks + 1;
        assert_true(fabs(last_of(&scene) - undisturbed - LATE) <= step / 2 + ROUNDING);
        double last = (double)(int32_t)(scene.readings[APPROACH_FINE - 1] - (uint32_t)scene.base);
        if (first == APPROACH_FINE - 1)
            assert_true(last_of(&scene) == last + scene.vernier.span_ticks / 2);
    }
}

/* Two steps and more cannot be mistaken for a phase. */
static void readings_after_an_interruption_are_not_used(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        int from = 1 + (int)dice_below(&dice, APPROACH_FINE - 1);
        double delay = scene.vernier.step_ticks * (2 + (double)dice_below(&dice, 1000));
        for (int k = from; k < APPROACH_FINE; k++)
            scene.readings[k] += (uint32_t)delay;
        struct timebase_fine_reading found = intersect(&scene, from);
        struct timebase_fine_reading wanted = prefix(scene, from);
        assert_true(found.ticks == wanted.ticks);
        assert_true(found.bound_ticks == wanted.bound_ticks);
        assert_contains_truth(&scene, found);
    }
}

static void a_reading_that_comes_too_early_ends_the_series_as_well(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        int from = 1 + (int)dice_below(&dice, APPROACH_FINE - 1);
        scene.readings[from] -= (uint32_t)(4 * widest_bound(&scene.vernier));
        struct timebase_fine_reading found = intersect(&scene, from);
        struct timebase_fine_reading wanted = prefix(scene, from);
        assert_true(found.ticks == wanted.ticks && found.bound_ticks == wanted.bound_ticks);
    }
}

/* Alone, the first reading is good to its whole step, and no more is claimed. */
static void a_series_interrupted_at_once_is_one_reading_and_says_so(void **state)
{
    struct scene scene = {.vernier = new_vernier(26, 30), .base = 0};
    (void)state;
    for (int k = 0; k < APPROACH_FINE; k++)
        scene.readings[k] = k == 0 ? 520 : 52000 + 26 * (uint32_t)k;
    struct timebase_fine_reading found = intersect(&scene, 1);
    assert_true(found.ticks == 520 + 12.5);
    assert_true(found.bound_ticks == 13);
}

static void whatever_the_readings_the_bound_is_between_nothing_and_half_a_step(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = some_scene(&dice);
        struct timebase_fine_reading found;
        for (int k = 0; k < APPROACH_FINE; k++)
            scene.readings[k] = (uint32_t)dice_wide(&dice);
        vernier_intersect(&scene.vernier, scene.readings, scene.vernier.readings,
                          (uint32_t)scene.base, &found);
        assert_true(found.bound_ticks >= 0);
        assert_true(found.bound_ticks <= widest_bound(&scene.vernier));
    }
}

static void the_gap_is_what_the_phases_leave_open(void **state)
{
    (void)state;
    assert_true(fabs(vernier_gap(26, 26, 16) - 26) < 1e-9);        /* one phase */
    assert_true(fabs(vernier_gap(26, 39, 16) - 13) < 1e-9);        /* two */
    assert_true(fabs(vernier_gap(26, 27.625, 16) - 1.625) < 1e-9); /* as many as readings */
    assert_true(fabs(vernier_gap(26, 30, 1) - 26) < 1e-9);
}

/* ---- series whose spacing is one of several ------------------------------------------------ */

#define MODE 3.0

/* As some_scene(), at a usual spacing and so much more. */
static struct scene scene_with_more(struct dice *dice, double more)
{
    struct scene scene = some_scene(dice);
    scene.counter = (struct stepped){24.5, dice_between(dice, 0, 24.5)};
    scene.vernier = new_vernier(24.5, dice_between(dice, 54, 4));
    scene.vernier.mode_ticks = MODE;
    stepped_series(&scene.counter, scene.first, scene.vernier.spacing_ticks + more, scene.readings);
    return scene;
}

/* Where readings are nearly two steps apart a slope is off by 0.8 ticks, elsewhere by 0.3. */
static int is_telling(const struct scene *scene, double more)
{
    double spacing = scene->vernier.spacing_ticks + more;
    return fabs(spacing - 2 * scene->vernier.step_ticks) > 2;
}

static void a_series_tells_which_of_the_spacings_it_has(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        double more = MODE * ((double)dice_below(&dice, 7) - 3);
        struct scene scene = scene_with_more(&dice, more);
        if (is_telling(&scene, more))
            assert_contains_truth(&scene, intersect(&scene, APPROACH_FINE));
    }
}

/* Then its slope has to do. */
static void a_series_may_have_none_of_them(void **state)
{
    struct dice dice = dice_new();
    int all = 0;
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        double more = MODE * ((double)dice_below(&dice, 6) - 2.5);
        struct scene scene = scene_with_more(&dice, more);
        struct timebase_fine_reading found;
        int used = vernier_intersect(&scene.vernier, scene.readings, APPROACH_FINE,
                                     (uint32_t)scene.base, &found);
        assert_true(used >= 6);
        all += used == APPROACH_FINE;
    }
    assert_true(all > repeats(CASES) / 2);
}

static void what_came_before_it_was_held_up_tells_it_too(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        double more = MODE * ((double)dice_below(&dice, 3) - 1);
        struct scene scene = scene_with_more(&dice, more);
        int held_up = 12 + (int)dice_below(&dice, 19);
        for (int k = held_up; k < APPROACH_FINE; k++)
            scene.readings[k] += 10000;
        assert_contains_truth(&scene, intersect(&scene, held_up));
    }
}

/* The same of the last one, by what came behind that. */
static void what_came_behind_a_hold_up_tells_the_last_one(void **state)
{
    enum { HELD_UP = 10000 };
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        double more = MODE * ((double)dice_below(&dice, 3) - 1);
        struct scene scene = scene_with_more(&dice, more);
        double truth = scene.first - (double)scene.base +
            (APPROACH_FINE - 1) * (scene.vernier.spacing_ticks + more);
        int held_up = 1 + (int)dice_below(&dice, 19);
        for (int k = 0; k < held_up; k++)
            scene.readings[k] -= HELD_UP;
        if (is_telling(&scene, more))
            assert_true(fabs(last_of(&scene) + 0.5 - truth) < scene.vernier.step_ticks / 4);
    }
}

static void where_there_is_one_spacing_the_slope_says_nothing(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct scene scene = scene_with_more(&dice, MODE);
        struct timebase_fine_reading found;
        scene.vernier.mode_ticks = 0;
        assert_true(vernier_intersect(&scene.vernier, scene.readings, APPROACH_FINE,
                                      (uint32_t)scene.base, &found) < APPROACH_FINE);
    }
}

/* Of one reading all of the step is open; of two it is what lies between them, as often as it is wide. */
static void what_is_open_in_the_mean_goes_with_squares(void **state)
{
    (void)state;
    assert_true(fabs(vernier_open(26, 30, 1) - 26) < 1e-9);
    assert_true(fabs(vernier_open(26, 39, 2) - 13) < 1e-9);
    assert_true(fabs(vernier_open(26, 32.5, 2) - (6.5 * 6.5 + 19.5 * 19.5) / 26) < 1e-9);
    assert_true(fabs(vernier_open(26, 26, VERNIER_FEW) - 26) < 1e-9); /* one phase */
    assert_true(fabs(vernier_open_of_few(26, 26) - 26) < 1e-9);
    assert_true(fabs(vernier_open_of_few(26, 39) - 13) < 1e-9); /* two, of however many */
}

/* Of Zen 4, with the cycles that polls take there: some fall on one phase of the step. */
static void the_spacing_that_sees_more_phases_is_chosen(void **state)
{
    struct vernier vernier = {.step_ticks = 26};
    const double cycle = 26 / 37.0;
    (void)state;
    vernier_note_open(&vernier, APPROACH_VERNIER);
    for (int base = 100; base < 200; base++) {
        int pad = vernier_choose(&vernier, VERNIER_SERIES, base * cycle, cycle, 16, 0);
        double chosen = vernier_gap(26, (base + pad) * cycle, APPROACH_VERNIER);
        assert_true(chosen < 26 / 4.0);
        assert_int_equal(
            vernier_choose(&vernier, VERNIER_SERIES, base * cycle, cycle, 16, pad), pad);
    }
    assert_int_not_equal(vernier_choose(&vernier, VERNIER_SERIES, 148 * cycle, cycle, 16, 0), 0);
    assert_int_equal(vernier_choose(&vernier, VERNIER_SERIES, 143.6 * cycle, cycle, 16, 0), 0);
}

/*
 * Of as many as a period can be padded by, whatever it is: three polls leave no more than half of a step
 * open, where 16 of them could be as fine with the first three all within a tenth.
 */
static void polls_are_spaced_for_the_nearest_waits(void **state)
{
    struct vernier vernier = {.step_ticks = 26};
    const double cycle = 26 / 37.0;
    enum { PADS = APPROACH_LONGEST_PAD + 1 };
    (void)state;
    vernier_note_open(&vernier, APPROACH_VERNIER);
    for (int base = 100; base < 200; base++) {
        int pad = vernier_choose(&vernier, VERNIER_POLLS, base * cycle, cycle, PADS, 0);
        double ticks = (base + pad) * cycle;
        assert_true(vernier_gap(26, ticks, 3) < 26 * 0.5);
        assert_true(vernier_gap(26, ticks, 5) < 26 * 0.35);
        assert_true(vernier_gap(26, ticks, APPROACH_VERNIER) < 26 / 5.0);
        assert_int_equal(
            vernier_choose(&vernier, VERNIER_POLLS, base * cycle, cycle, PADS, pad), pad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_intersection_contains_the_first_instant),
        cmocka_unit_test(the_gap_is_what_the_phases_leave_open),
        cmocka_unit_test(what_is_open_in_the_mean_goes_with_squares),
        cmocka_unit_test(the_spacing_that_sees_more_phases_is_chosen),
        cmocka_unit_test(polls_are_spaced_for_the_nearest_waits),
        cmocka_unit_test(a_series_tells_which_of_the_spacings_it_has),
        cmocka_unit_test(a_series_may_have_none_of_them),
        cmocka_unit_test(what_came_before_it_was_held_up_tells_it_too),
        cmocka_unit_test(what_came_behind_a_hold_up_tells_the_last_one),
        cmocka_unit_test(where_there_is_one_spacing_the_slope_says_nothing),
        cmocka_unit_test(many_readings_are_finer_than_a_tenth_of_a_step),
        cmocka_unit_test(a_single_reading_is_the_middle_of_its_step),
        cmocka_unit_test(fine_counters_are_read_to_their_step),
        cmocka_unit_test(on_a_fine_counter_it_is_the_reading_itself),
        cmocka_unit_test(the_last_reading_was_so_many_spacings_later),
        cmocka_unit_test(the_last_reading_is_placed_by_those_behind_an_interruption),
        cmocka_unit_test(readings_after_an_interruption_are_not_used),
        cmocka_unit_test(a_reading_that_comes_too_early_ends_the_series_as_well),
        cmocka_unit_test(a_series_interrupted_at_once_is_one_reading_and_says_so),
        cmocka_unit_test(whatever_the_readings_the_bound_is_between_nothing_and_half_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
