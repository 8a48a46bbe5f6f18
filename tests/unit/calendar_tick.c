/* SPDX-License-Identifier: MIT */
/* Units kept off the kernel's tick: how far they are moved, when not, and what is said then. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calendar/placement.h"
#include "calendar_units.h"
#include "dice.h"

#define TICK (4 * MS)
#define PHASE (1 * MS)
#define WIDTH (20 * US)
#define AFTER (WIDTH / 2 + PLACEMENT_APPROACH_NS)
#define CAPACITY 16

static const struct timebase_tick_comb comb = {TICK, PHASE, WIDTH, 0.9, 100, 20 * US};
static struct placement placement;
static struct timebase_calendar_problem problems[CAPACITY];

/* Starts on a tick. */
static struct timebase_calendar calendar_on_comb(const struct timebase_unit *units, uint32_t count)
{
    struct timebase_calendar calendar = calendar_of(units, count);
    calendar.comb = &comb;
    calendar.avoid_tick = 1;
    calendar.start_ns = 100 * (int64_t)TICK + PHASE;
    return calendar;
}

/* By the words of calendar.h: the beginning or the 5 us before are within the comb. */
static bool is_hit(int64_t begin_ns, const struct timebase_tick_comb *of)
{
    for (int64_t t = begin_ns - 5000; t <= begin_ns; t += begin_ns - t < 100 ? 1 : 100) {
        int64_t off = ((t - of->phase_ns) % of->period_ns + of->period_ns) % of->period_ns;
        if (off <= of->width_ns / 2 || of->period_ns - off <= of->width_ns / 2)
            return true;
    }
    return false;
}

static int warnings(struct timebase_calendar calendar)
{
    int count = timebase_calendar_admit(&calendar, NULL, problems, CAPACITY);
    for (int i = 0; i < count; i++)
        assert_int_equal(problems[i].warning, 1);
    return count_kind(problems, count, TIMEBASE_CALENDAR_ON_TICK);
}

static void a_unit_off_the_tick_stays_where_it_is(void **state)
{
    const struct timebase_unit unit = unit_of("off", MS, TICK, 10 * US);
    struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
    (void)state;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(warnings(calendar), 0);
}

static void a_unit_on_the_tick_is_moved_right_behind_it(void **state)
{
    static const int64_t ready[] = {0, 1, AFTER, TICK - WIDTH / 2, 2 * TICK - 1};
    (void)state;
    for (size_t i = 0; i < sizeof(ready) / sizeof(ready[0]); i++) {
        const struct timebase_unit unit = unit_of("on", ready[i], TICK, 10 * US);
        struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
        placement_make(&placement, &calendar);
        int64_t to = (ready[i] + placement.moved_ns[0]) % TICK;
        assert_int_equal(to, AFTER + 1);
        assert_in_range(placement.moved_ns[0], 1, WIDTH + PLACEMENT_APPROACH_NS + 1);
        assert_int_equal(warnings(calendar), 0);
    }
}

static void the_edges_of_the_comb_are_where_the_manual_says(void **state)
{
    static const int64_t off[] = {AFTER + 1, TICK - WIDTH / 2 - 1};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct timebase_unit unit = unit_of("edge", off[i], TICK, 10 * US);
        struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
        placement_make(&placement, &calendar);
        assert_int_equal(placement.moved_ns[0], 0);
        assert_false(is_hit(calendar.start_ns + off[i], &comb));
    }
    assert_true(is_hit(100 * (int64_t)TICK + PHASE + AFTER, &comb));
    assert_true(is_hit(100 * (int64_t)TICK + PHASE - WIDTH / 2, &comb));
}

static void a_unit_is_not_moved_past_its_deadline(void **state)
{
    struct timebase_unit unit = unit_of("tight", 0, TICK, 10 * US);
    struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
    (void)state;
    unit.deadline_ns = 10 * US + AFTER + 1;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], AFTER + 1);
    unit.deadline_ns = 10 * US + AFTER;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(warnings(calendar), 1);
    assert_non_null(strstr(problems[0].text, "'tight' falls on the kernel's tick"));
}

static void a_unit_is_not_moved_into_another(void **state)
{
    struct timebase_unit units[] = {unit_of("on", 0, TICK, 10 * US),
                                    unit_of("beside", AFTER + 1, TICK, 10 * US)};
    struct timebase_calendar calendar = calendar_on_comb(units, 2);
    (void)state;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(warnings(calendar), 1);
    units[1].ready_ns += 10 * US;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], AFTER + 1);
    assert_int_equal(warnings(calendar), 0);
}

/* Two that are moved must not land on each other either. */
static void moved_units_keep_off_each_other(void **state)
{
    struct timebase_unit units[] = {unit_of("one", 0, TICK, 2 * US),
                                    unit_of("two", 3 * US, TICK, 2 * US)};
    struct timebase_calendar calendar = calendar_on_comb(units, 2);
    (void)state;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], AFTER + 1);
    assert_int_equal(placement.moved_ns[1], 0);
    assert_int_equal(warnings(calendar), 1);
}

static void a_period_without_a_large_divisor_in_common_cannot_be_kept_off(void **state)
{
    const struct timebase_unit unit = unit_of("odd", 2 * MS, 3999999, 10 * US);
    struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
    (void)state;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(placement_of(&placement, &calendar, 0), PLACEMENT_ON_AND_OFF);
    assert_int_equal(warnings(calendar), 1);
    assert_non_null(strstr(problems[0].text, "one in 160 releases"));
    assert_non_null(strstr(problems[0].text, "4 ms"));
}

static void nothing_is_moved_unless_asked_for(void **state)
{
    const struct timebase_unit unit = unit_of("on", 0, TICK, 10 * US);
    struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
    (void)state;
    calendar.avoid_tick = 0;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(warnings(calendar), 1);
    assert_non_null(strstr(problems[0].text, "avoid_tick"));
    calendar.start_ns = 0; /* then nobody knows */
    assert_int_equal(warnings(calendar), 0);
}

static void without_a_comb_nothing_is_said(void **state)
{
    static const struct timebase_tick_comb none;
    const struct timebase_unit unit = unit_of("any", 0, TICK, 10 * US);
    struct timebase_calendar calendar = calendar_on_comb(&unit, 1);
    (void)state;
    calendar.comb = &none;
    placement_make(&placement, &calendar);
    assert_int_equal(placement.moved_ns[0], 0);
    assert_int_equal(warnings(calendar), 0);
    assert_int_equal(placement_start(&placement, &calendar, 5), calendar.start_ns);
    calendar.start_ns = 0;
    placement_make(&placement, &calendar);
    assert_int_equal(placement_start(&placement, &calendar, 12345), 12345);
}

static void a_free_start_keeps_all_units_off_without_moving_them(void **state)
{
    const struct timebase_unit units[] = {unit_of("a", 0, TICK, 10 * US),
                                          unit_of("b", MS, TICK, 10 * US),
                                          unit_of("c", 3 * MS, 2 * TICK, 10 * US)};
    struct timebase_calendar calendar = calendar_on_comb(units, 3);
    (void)state;
    calendar.start_ns = 0;
    placement_make(&placement, &calendar);
    for (int64_t earliest = 0; earliest < 3 * TICK; earliest += 77777) {
        int64_t start = placement_start(&placement, &calendar, earliest);
        assert_in_range(start, earliest, earliest + TICK - 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(placement.moved_ns[i], 0);
            assert_false(is_hit(start + units[i].ready_ns, &comb));
        }
    }
    assert_int_equal(warnings(calendar), 0);
}

/* As far from the tick before as from the one after. */
static void a_free_start_is_in_the_middle_of_the_room(void **state)
{
    const struct timebase_unit units[] = {unit_of("a", 0, TICK, 10 * US),
                                          unit_of("b", MS, TICK, 10 * US)};
    struct timebase_calendar calendar = calendar_on_comb(units, 2);
    (void)state;
    calendar.start_ns = 0;
    placement_make(&placement, &calendar);
    int64_t before = placement.start_phase_ns - AFTER;
    int64_t behind = TICK - WIDTH / 2 - (placement.start_phase_ns + MS);
    assert_in_range(before, MS, TICK);
    assert_in_range(behind - before, 0, 1);
}

static struct timebase_tick_comb random_comb(struct dice *dice)
{
    static const int64_t periods[] = {1 * MS, 4 * MS, 3333333, 10 * MS};
    struct timebase_tick_comb made = {.period_ns = periods[dice_below(dice, 4)]};
    made.phase_ns = (int64_t)dice_below(dice, (uint64_t)made.period_ns);
    made.width_ns = (int64_t)dice_below(dice, 60 * US);
    return made;
}

static void random_units(struct dice *dice, const struct timebase_tick_comb *of,
                         struct timebase_unit *units, uint32_t count)
{
    static const int64_t factors[] = {1, 2, 4, 5};
    for (uint32_t i = 0; i < count; i++) {
        int64_t period = of->period_ns / factors[dice_below(dice, 4)];
        if (dice_below(dice, 2) == 0)
            period = of->period_ns * (int64_t)(1 + dice_below(dice, 3));
        if (dice_below(dice, 4) == 0)
            period = 1 + (int64_t)dice_below(dice, 10 * MS);
        units[i] = unit_of("random", (int64_t)dice_below(dice, 10 * MS), period, 1);
        units[i].duration_ns = 1 + (int64_t)dice_below(dice, 20 * US);
        units[i].deadline_ns = (int64_t)dice_below(dice, 100 * US);
    }
}

/* What the plan says of a unit, held against its releases one by one. */
static void check_unit(const struct timebase_calendar *calendar, uint32_t unit, int64_t start_ns)
{
    const struct timebase_unit *of = &calendar->units[unit];
    int64_t moved = placement.moved_ns[unit];
    enum placement_tick said = placement_of(&placement, calendar, unit);
    int64_t phases =
        calendar->comb->period_ns / pattern_gcd(of->period_ns, calendar->comb->period_ns);
    bool hit = false;
    for (int64_t k = 0; k < phases && said != PLACEMENT_ON_AND_OFF; k++)
        hit |= is_hit(start_ns + of->ready_ns + moved + k * of->period_ns, calendar->comb);
    if (said == PLACEMENT_OFF_TICK)
        assert_false(hit);
    if (said == PLACEMENT_ON_TICK)
        assert_true(hit);
    assert_true(moved >= 0);
    if (moved > 0) {
        struct pattern pattern = pattern_of(calendar, unit, moved);
        assert_int_equal(said, PLACEMENT_OFF_TICK);
        assert_true(pattern.wcet_ns <= pattern.deadline_ns);
    }
}

static void random_plans_are_what_they_say(void **state)
{
    struct dice dice = dice_new();
    int moves = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct timebase_unit units[4];
        struct timebase_tick_comb of = random_comb(&dice);
        struct timebase_calendar calendar = calendar_on_comb(units, 4);
        random_units(&dice, &of, units, 4);
        calendar.comb = &of;
        calendar.start_ns = dice_below(&dice, 2) ? 0 : 1 + (int64_t)dice_below(&dice, SEC);
        calendar.may_overlap = 1;
        placement_make(&placement, &calendar);
        int64_t start = placement_start(&placement, &calendar, 50 * MS);
        for (uint32_t i = 0; i < 4; i++) {
            check_unit(&calendar, i, start);
            moves += placement.moved_ns[i] > 0;
        }
    }
    assert_true(moves > 30);
}

/* Behind "long", which was declared first, "short" would wait past its deadline. */
static void a_unit_is_not_moved_into_one_that_it_kept_off_though_units_may_overlap(void **state)
{
    struct timebase_unit units[] = {unit_of("long", 55001, TICK, 300 * US),
                                    unit_of("short", 0, TICK, 10 * US)};
    struct timebase_tick_comb wide = comb;
    (void)state;
    wide.width_ns = 100 * US;
    units[1].deadline_ns = 200 * US;
    struct timebase_calendar calendar = calendar_on_comb(units, 2);
    calendar.comb = &wide;
    calendar.may_overlap = 1;
    assert_int_equal(warnings(calendar), 1);
    placement_make(&placement, &calendar);
    assert_true(placement.moved_ns[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_off_the_tick_stays_where_it_is),
        cmocka_unit_test(a_unit_on_the_tick_is_moved_right_behind_it),
        cmocka_unit_test(the_edges_of_the_comb_are_where_the_manual_says),
        cmocka_unit_test(a_unit_is_not_moved_past_its_deadline),
        cmocka_unit_test(a_unit_is_not_moved_into_another),
        cmocka_unit_test(a_unit_is_not_moved_into_one_that_it_kept_off_though_units_may_overlap),
        cmocka_unit_test(moved_units_keep_off_each_other),
        cmocka_unit_test(a_period_without_a_large_divisor_in_common_cannot_be_kept_off),
        cmocka_unit_test(nothing_is_moved_unless_asked_for),
        cmocka_unit_test(without_a_comb_nothing_is_said),
        cmocka_unit_test(a_free_start_keeps_all_units_off_without_moving_them),
        cmocka_unit_test(a_free_start_is_in_the_middle_of_the_room),
        cmocka_unit_test(random_plans_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
