/* SPDX-License-Identifier: MIT */
/* Where two units first claim the same time: against brute force, and far out against arithmetic.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../repeats.h"
#include "timing/calendar/overlap.h"
#include "calendar_units.h"
#include "dice.h"

#define CASES 200000

static struct pattern pattern(int64_t ready, int64_t period, int64_t duration, uint64_t count)
{
    struct pattern made = {ready, period, duration, PATTERN_NO_DEADLINE, count, false};
    return made;
}

static struct pattern random_pattern(struct dice *dice)
{
    int64_t period = 1 + (int64_t)dice_below(dice, 24);
    return pattern((int64_t)dice_below(dice, 60), period,
                   1 + (int64_t)dice_below(dice, (uint64_t)period), dice_below(dice, 12));
}

static void small_patterns_agree_with_brute_force(void **state)
{
    struct dice dice = dice_new();
    int overlapping = 0, tries = repeats(CASES);
    (void)state;
    for (int i = 0; i < tries; i++) {
        struct pattern a = random_pattern(&dice), b = random_pattern(&dice);
        int64_t wanted = brute_force_overlap(&a, &b), found = -1;
        bool overlap = overlap_first(&a, &b, &found);
        assert_int_equal(overlap, wanted >= 0);
        assert_int_equal(found, wanted);
        overlapping += overlap;
    }
    assert_in_range(overlapping, tries / 10, tries * 9 / 10);
}

static void it_does_not_matter_which_is_asked_first(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct pattern a = random_pattern(&dice), b = random_pattern(&dice);
        int64_t one = -1, other = -1;
        a.count = b.count = UINT64_C(1) << 40;
        assert_int_equal(overlap_first(&a, &b, &one), overlap_first(&b, &a, &other));
        assert_int_equal(one, other);
    }
}

/* Endless units meet exactly if their phases modulo the greatest common divisor do. */
static void endless_units_keep_apart_exactly_if_their_phases_do(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        int64_t divisor = 1 + (int64_t)dice_below(&dice, 1000000);
        struct pattern a = pattern((int64_t)dice_below(&dice, SEC),
                                   divisor * (1 + (int64_t)dice_below(&dice, 1000)), 1, 0);
        struct pattern b = pattern((int64_t)dice_below(&dice, SEC),
                                   divisor * (1 + (int64_t)dice_below(&dice, 1000)), 1, 0);
        a.count = (uint64_t)((PATTERN_LIFE_NS - a.ready_ns) / a.period_ns);
        b.count = (uint64_t)((PATTERN_LIFE_NS - b.ready_ns) / b.period_ns);
        int64_t gcd = pattern_gcd(a.period_ns, b.period_ns), at_ns;
        a.wcet_ns = 1 + (int64_t)dice_below(&dice, (uint64_t)gcd);
        b.wcet_ns = 1 + (int64_t)dice_below(&dice, (uint64_t)gcd);
        int64_t phase = ((b.ready_ns - a.ready_ns) % gcd + gcd) % gcd;
        bool apart = phase >= a.wcet_ns && gcd - phase >= b.wcet_ns;
        assert_int_equal(overlap_first(&a, &b, &at_ns), !apart);
    }
}

/* Periods p and p + 1, ready at 0 and 1: they meet where both are at p * p + p - ... after a year.
 */
static void a_meeting_that_is_years_away_is_found_where_it_is(void **state)
{
    int64_t p = 200000000, at_ns = 0;
    struct pattern a = pattern(0, p, 1, UINT64_C(1) << 32);
    struct pattern b = pattern(1, p + 1, 1, UINT64_C(1) << 32);
    (void)state;
    /* k p = 1 + j (p + 1): the first k is p, with j = p - 1: p p = 1 + (p - 1)(p + 1). */
    assert_true(overlap_first(&a, &b, &at_ns));
    assert_int_equal(at_ns, p * p);
    a.count = (uint64_t)p; /* its last release is one too early */
    assert_false(overlap_first(&a, &b, &at_ns));
    a.count = (uint64_t)p + 1;
    assert_true(overlap_first(&a, &b, &at_ns));
    b.count = (uint64_t)p - 1;
    assert_false(overlap_first(&a, &b, &at_ns));
}

static void touching_is_not_overlapping(void **state)
{
    int64_t at_ns = -1;
    struct pattern a = pattern(0, 100, 40, 1000), b = pattern(40, 100, 60, 1000);
    (void)state;
    assert_false(overlap_first(&a, &b, &at_ns));
    b.wcet_ns = 61;
    assert_true(overlap_first(&a, &b, &at_ns));
    assert_int_equal(at_ns, 100);
    b.wcet_ns = 60;
    b.ready_ns = 39;
    assert_true(overlap_first(&a, &b, &at_ns));
    assert_int_equal(at_ns, 39);
}

static void a_unit_without_releases_overlaps_nothing(void **state)
{
    int64_t at_ns;
    struct pattern a = pattern(0, 10, 10, 100), none = pattern(0, 10, 10, 0);
    (void)state;
    assert_false(overlap_first(&a, &none, &at_ns));
    assert_false(overlap_first(&none, &a, &at_ns));
}

/* The largest numbers that a checked calendar may hold. */
static void nothing_overflows_at_the_ends_of_the_range(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(CASES); i++) {
        struct timebase_unit units[2];
        int64_t at_ns = 0;
        for (int u = 0; u < 2; u++)
            units[u] = unit_of("wide", (int64_t)(dice_wide(&dice) & (PATTERN_LIFE_NS - 1)),
                               1 + (int64_t)(dice_wide(&dice) & (PATTERN_LIFE_NS - 1)),
                               1 + (int64_t)(dice_wide(&dice) & (PATTERN_LIFE_NS - 1)));
        struct timebase_calendar calendar = calendar_of(units, 2);
        struct pattern a = pattern_of(&calendar, 0, 0), b = pattern_of(&calendar, 1, 0);
        bool one = overlap_first(&a, &b, &at_ns);
        if (one)
            assert_in_range(at_ns, 0, 2 * PATTERN_LIFE_NS);
        assert_int_equal(one, overlap_first(&b, &a, &at_ns));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_patterns_agree_with_brute_force),
        cmocka_unit_test(it_does_not_matter_which_is_asked_first),
        cmocka_unit_test(endless_units_keep_apart_exactly_if_their_phases_do),
        cmocka_unit_test(a_meeting_that_is_years_away_is_found_where_it_is),
        cmocka_unit_test(touching_is_not_overlapping),
        cmocka_unit_test(a_unit_without_releases_overlaps_nothing),
        cmocka_unit_test(nothing_overflows_at_the_ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
