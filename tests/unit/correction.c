/* SPDX-License-Identifier: MIT */
/*
 * Lines by which a CPU's counter is corrected, planned from simulated measurements: what a CPU
 * shows has no step, and what one CPU shows is not below what another has shown before, if the
 * quickest ways that were seen are below three times the true one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "sync/correction.h"

#define WORLDS 500
#define ROUNDS 30
#define TICKS_OF_ROUND 260000000 /* 100 ms */
#define HOLD 390000000           /* 150 ms: lines end half a round after the next ones are made */
#define WAY 100

struct world {
    int64_t offset_ticks; /* counter there - reference, at tick 0 */
    double rate;
    struct by_cpu_entry entry;
};

static uint64_t raw_of(const struct world *world, uint64_t ticks)
{
    return ticks + (uint64_t)world->offset_ticks + (uint64_t)(int64_t)(world->rate * (double)ticks);
}

/* Each quickest way is the true one and up to so much more. */
static struct correction_measured measure(struct dice *dice, const struct world *world,
                                          uint64_t ticks, uint64_t more)
{
    int64_t offset = (int64_t)(raw_of(world, ticks) - ticks);
    struct skew_range range = {offset - WAY - (int64_t)dice_below(dice, more),
                               offset + WAY + (int64_t)dice_below(dice, more)};
    return (struct correction_measured){.ticks = ticks, .range = range, .rate = world->rate};
}

static uint64_t shown(const struct world *world, uint64_t ticks)
{
    return by_cpu_entry_ticks(&world->entry, raw_of(world, ticks));
}

static struct world any_world(struct dice *dice)
{
    struct world world = {.offset_ticks = (int64_t)dice_below(dice, 10000000001) - 5000000000};
    world.rate = dice_below(dice, 2) ? ((double)dice_below(dice, 201) - 100) * 1e-6 : 0;
    return world;
}

/* One sees on the one CPU what the other has shown, no sooner than after the true way. */
static int warps_between(struct dice *dice, const struct world *world, uint64_t from, uint64_t to)
{
    int warps = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t now = from + dice_below(dice, to - from);
        warps += (int64_t)(shown(world, now + WAY) - now) < 0;
        warps += (int64_t)(now + WAY - shown(world, now)) < 0;
    }
    return warps;
}

/* How many readings are below one that was seen, if the quickest ways have up to `more` beside the
 * true one. */
static int count_warps(uint64_t more)
{
    struct dice dice = dice_new();
    int warps = 0;
    for (int i = 0; i < WORLDS; i++) {
        struct world world = any_world(&dice);
        uint64_t now = 1000 + dice_below(&dice, 1000000000), off;
        for (int round = 0; round < ROUNDS; round++) {
            struct correction_measured found = measure(&dice, &world, now, more);
            struct by_cpu_entry next;
            enum correction_result result =
                correction_plan(&world.entry, &found, now, now + HOLD, &next, &off);
            assert_int_equal(result, round == 0 ? CORRECTION_BEGUN : CORRECTION_GOES_ON);
            world.entry = next;
            warps += warps_between(&dice, &world, now, now + TICKS_OF_ROUND);
            now += TICKS_OF_ROUND;
        }
    }
    return warps;
}

/* A tick of rounding each: so a little less than three times the way. */
static void no_reading_is_below_one_that_was_seen(void **state)
{
    (void)state;
    assert_int_equal(count_warps(2 * WAY - 8), 0);
}

/* The limit is a limit, and this test would see what lies beyond. */
static void of_ways_beyond_three_times_the_true_one_nothing_is_promised(void **state)
{
    (void)state;
    assert_true(count_warps(4 * WAY) > 0);
}

/* The old lines and the new ones agree until the new ones begin, and no step is where they do. */
static void new_lines_begin_on_the_present_ones(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct world world = any_world(&dice);
        uint64_t now = 1000, off;
        struct correction_measured found = measure(&dice, &world, now, 3000);
        struct by_cpu_entry present, next;
        correction_plan(&world.entry, &found, now, now + HOLD, &present, &off);
        now += TICKS_OF_ROUND;
        found = measure(&dice, &world, now, 3000);
        correction_plan(&present, &found, now, now + HOLD, &next, &off);
        uint64_t raw = raw_of(&world, now);
        uint64_t left = present.end_ticks - raw;
        for (int j = 0; j < 100; j++, raw += left / 100)
            assert_true(by_cpu_entry_ticks(&next, raw) == by_cpu_entry_ticks(&present, raw));
        const struct by_cpu_line *parts[] = {&next.slew, &next.after};
        for (int j = 0; j < 2; j++) {
            uint64_t start = parts[j]->start_ticks;
            uint64_t step =
                by_cpu_entry_ticks(&next, start) - by_cpu_entry_ticks(&next, start - 1);
            assert_true(step <= 2);
        }
    }
}

static void the_slew_ends_at_the_measurement(void **state)
{
    struct world world = {.offset_ticks = 1000000};
    struct correction_measured found = {.ticks = 1000, .range = {999000, 1001000}};
    struct by_cpu_entry present, next;
    uint64_t off;
    (void)state;
    correction_plan(&world.entry, &found, 1000, 1000 + HOLD, &present, &off);
    found = (struct correction_measured){.ticks = TICKS_OF_ROUND, .range = {999600, 1000000}};
    correction_plan(&present, &found, TICKS_OF_ROUND, TICKS_OF_ROUND + HOLD, &next, &off);
    assert_true(off == 200);
    world.entry = next;
    uint64_t late = (uint64_t)2 * TICKS_OF_ROUND;
    int64_t left = (int64_t)(shown(&world, late) - (late + 200));
    assert_true(-2 <= left && left <= 2);
    assert_true(next.after.start_ticks - next.slew.start_ticks >= 200 * 2000);
}

/* A measurement beside much load has a wide range, whose middle may be anywhere. */
static void a_rough_measurement_moves_nothing_that_is_within_it(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, present, next;
    uint64_t off;
    (void)state;
    correction_plan(&none, &found, 1000, 1000 + HOLD, &present, &off);
    found = (struct correction_measured){
        .ticks = TICKS_OF_ROUND, .range = {-100, 50000}, .is_rough = true};
    correction_plan(&present, &found, TICKS_OF_ROUND, TICKS_OF_ROUND + HOLD, &next, &off);
    assert_true(off == 0);
    found.range.low_ticks = 70; /* and it is moved into the range where it is outside */
    correction_plan(&present, &found, TICKS_OF_ROUND, TICKS_OF_ROUND + HOLD, &next, &off);
    assert_true(off == 70);
}

/* Its middle may be anywhere: there is nothing yet to be slewed to it from. */
static void no_lines_begin_with_a_rough_measurement(void **state)
{
    struct correction_measured found = {
        .ticks = 1000, .range = {-1000, 3000000}, .is_rough = true};
    struct by_cpu_entry none = {.is_known = 0}, next;
    uint64_t off;
    (void)state;
    assert_int_equal(correction_plan(&none, &found, 1000, 1000 + HOLD, &next, &off),
                     CORRECTION_TOO_ROUGH);
    assert_true(next.is_known == 0);
}

static void what_has_jumped_is_not_slewed(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, present, next;
    uint64_t off;
    (void)state;
    correction_plan(&none, &found, 1000, 1000 + HOLD, &present, &off);
    static const int64_t jumps[] = {5000000000, -300000};
    for (int i = 0; i < 2; i++) {
        found = (struct correction_measured){.ticks = TICKS_OF_ROUND,
                                             .range = {jumps[i], jumps[i] + 200}};
        enum correction_result result =
            correction_plan(&present, &found, TICKS_OF_ROUND, TICKS_OF_ROUND + HOLD, &next, &off);
        assert_int_equal(result, CORRECTION_JUMPED);
        assert_true(next.is_known == 0);
    }
}

/* What they show then is where the next ones begin. */
static void lines_may_end_in_the_midst_of_a_slew(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, present, slewing, next;
    uint64_t off, now = TICKS_OF_ROUND;
    (void)state;
    correction_plan(&none, &found, 1000, 1000 + HOLD, &present, &off);
    found = (struct correction_measured){.ticks = now, .range = {149800, 150200}};
    correction_plan(&present, &found, now, now + HOLD, &slewing, &off);
    assert_true((int64_t)(slewing.after.start_ticks - slewing.end_ticks) > 0);
    now += TICKS_OF_ROUND;
    found.ticks = now;
    assert_int_equal(correction_plan(&slewing, &found, now, now + HOLD, &next, &off),
                     CORRECTION_GOES_ON);
    assert_memory_equal(&next.before, &slewing.slew, sizeof(next.before));
    assert_true(next.slew.start_ticks == slewing.end_ticks);
    assert_true(0 < off && off < 150000);
    uint64_t shown_last = by_cpu_entry_ticks(&slewing, slewing.end_ticks - 1);
    assert_true(by_cpu_entry_ticks(&next, slewing.end_ticks) - shown_last <= 2);
}

/* The measurement is of long after: what it says of their end is drawn back, by the drift. */
static void lines_that_ended_long_ago_go_on(void **state)
{
    (void)state;
    for (int ppm = -100; ppm <= 100; ppm += 50) {
        struct world world = {.offset_ticks = 5000000, .rate = ppm * 1e-6};
        struct dice dice = dice_new();
        struct by_cpu_entry next;
        uint64_t off, now = 1000, late = (uint64_t)100 * TICKS_OF_ROUND;
        struct correction_measured found = measure(&dice, &world, now, 1);
        correction_plan(&world.entry, &found, now, now + HOLD, &next, &off);
        world.entry = next;
        found = measure(&dice, &world, late, 1);
        assert_int_equal(correction_plan(&world.entry, &found, late, late + HOLD, &next, &off),
                         CORRECTION_GOES_ON);
        assert_true(off <= 2);
        assert_true(next.slew.start_ticks == world.entry.end_ticks);
        world.entry = next;
        int64_t left = (int64_t)(shown(&world, late) - late);
        assert_true(-4 <= left && left <= 4);
    }
}

/* They were told to hold: who has them reads by them. */
static void lines_that_hold_for_longer_stay(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, present, next;
    uint64_t off, now = TICKS_OF_ROUND;
    (void)state;
    correction_plan(&none, &found, 1000, 100 * (uint64_t)HOLD, &present, &off);
    found.ticks = now;
    assert_int_equal(correction_plan(&present, &found, now, now + HOLD, &next, &off),
                     CORRECTION_STAYS);
    assert_memory_equal(&present, &next, sizeof(next));
}

static void lines_that_have_not_taken_over_stay(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, present, next, again;
    uint64_t off;
    (void)state;
    correction_plan(&none, &found, 1000, 1000 + HOLD, &present, &off);
    found.ticks = TICKS_OF_ROUND;
    correction_plan(&present, &found, TICKS_OF_ROUND, TICKS_OF_ROUND + HOLD, &next, &off);
    assert_int_equal(correction_plan(&next, &found, TICKS_OF_ROUND + 1000,
                                     TICKS_OF_ROUND + 1000 + HOLD, &again, &off),
                     CORRECTION_STAYS);
    assert_memory_equal(&next, &again, sizeof(next));
}

/* And not the end of the old lines, which is days ahead. */
static void a_counter_that_has_begun_anew_has_lines_at_once(void **state)
{
    struct correction_measured before = {.ticks = 100 * (uint64_t)TICKS_OF_ROUND,
                                         .range = {4999999800, 5000000200}};
    struct correction_measured after = {.ticks = 1000, .range = {-70000200, -69999800}};
    struct by_cpu_entry none = {.is_known = 0}, present, next;
    uint64_t off;
    (void)state;
    correction_plan(&none, &before, before.ticks, before.ticks + HOLD, &present, &off);
    assert_int_equal(correction_plan(&present, &after, 1500, 1500 + HOLD, &next, &off),
                     CORRECTION_BEGUN);
    assert_true(by_cpu_entry_ticks(&next, (uint64_t)2000 - 70000000) == 2000);
    after.is_rough = true;
    assert_int_equal(correction_plan(&present, &after, 1500, 1500 + HOLD, &next, &off),
                     CORRECTION_TOO_ROUGH);
    assert_int_equal(next.is_known, 0);
}

/* The writer has read its own clock by them. */
static void no_lines_end_before_they_begin(void **state)
{
    struct correction_measured found = {.ticks = 1000, .range = {-200, 200}};
    struct by_cpu_entry none = {.is_known = 0}, next;
    uint64_t off, now = 0 - UINT64_C(5000000000);
    (void)state;
    assert_int_equal(correction_plan(&none, &found, now, now + HOLD, &next, &off),
                     CORRECTION_TOO_ROUGH);
    assert_int_equal(next.is_known, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_reading_is_below_one_that_was_seen),
        cmocka_unit_test(of_ways_beyond_three_times_the_true_one_nothing_is_promised),
        cmocka_unit_test(new_lines_begin_on_the_present_ones),
        cmocka_unit_test(the_slew_ends_at_the_measurement),
        cmocka_unit_test(a_rough_measurement_moves_nothing_that_is_within_it),
        cmocka_unit_test(no_lines_begin_with_a_rough_measurement),
        cmocka_unit_test(what_has_jumped_is_not_slewed),
        cmocka_unit_test(lines_may_end_in_the_midst_of_a_slew),
        cmocka_unit_test(lines_that_ended_long_ago_go_on),
        cmocka_unit_test(lines_that_hold_for_longer_stay),
        cmocka_unit_test(lines_that_have_not_taken_over_stay),
        cmocka_unit_test(a_counter_that_has_begun_anew_has_lines_at_once),
        cmocka_unit_test(no_lines_end_before_they_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
