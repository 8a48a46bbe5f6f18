/* SPDX-License-Identifier: MIT */
/* The three lines: joined without a gap, gentle, and towards the reference. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "clock/discipline/plan.h"

#define CASES 3000
#define START 1000000000

static struct estimator estimator_of(struct dice *dice)
{
    struct estimator estimator = {0};
    estimator.ready = true;
    estimator.newest.ticks = START;
    estimator.period.ns = dice_below(dice, 2) ? 0 : (int64_t)dice_below(dice, 100);
    estimator.period.frac = dice_roll(dice) | (uint64_t)1 << 62;
    estimator.value.ns = 5000000000 + (int64_t)dice_below(dice, 1000000000);
    estimator.value.frac = dice_roll(dice);
    return estimator;
}

static struct schedule schedule_of(struct dice *dice, uint64_t now_ticks)
{
    struct schedule schedule = {0};
    uint64_t interval_ns = 1000000 + dice_below(dice, 99000000);
    schedule.now_ticks = now_ticks;
    schedule.lead_ns = interval_ns / 10;
    schedule.slew_ns = interval_ns * 3 / 10;
    schedule.slew_max_ns = interval_ns * 8 / 10;
    schedule.horizon_ns = interval_ns;
    schedule.utc_offset_ns = 77;
    return schedule;
}

/* A plan that is off by some amount, mostly small, either way. */
static struct plan plan_of(struct dice *dice, const struct estimator *estimator)
{
    struct fixed off = {(int64_t)(dice_wide(dice) >> 34), dice_roll(dice)};
    if (dice_below(dice, 2))
        off = fixed_negate(off);
    struct plan plan = plan_begin(estimator, START - 100, fixed_add(estimator->value, off), 55);
    plan.after.period = fixed_add(estimator->period, fixed_over(estimator->period, 100000));
    plan.slew = plan.before = plan.after;
    return plan;
}

static int is_same(struct fixed a, struct fixed b)
{
    return a.ns == b.ns && a.frac == b.frac;
}

struct scene {
    struct estimator estimator;
    struct schedule schedule;
    struct plan old, next;
};

static struct scene scene_of(struct dice *dice)
{
    struct scene scene;
    scene.estimator = estimator_of(dice);
    scene.old = plan_of(dice, &scene.estimator);
    scene.schedule = schedule_of(dice, START + 50);
    scene.next = plan_next(&scene.old, &scene.estimator, &scene.schedule);
    return scene;
}

static void a_first_plan_is_one_line(void **state)
{
    struct dice dice = dice_new();
    struct estimator estimator = estimator_of(&dice);
    struct plan plan = plan_begin(&estimator, START + 5, fixed_from_ns(88), 99);
    (void)state;
    assert_memory_equal(&plan.before, &plan.slew, sizeof(plan.slew));
    assert_memory_equal(&plan.before, &plan.after, sizeof(plan.after));
    assert_true(plan.after.start_ticks == START + 5 && plan.after.utc_offset_ns == 99);
    assert_true(is_same(plan.after.value, fixed_from_ns(88)));
    assert_true(is_same(plan.after.period, estimator.period));
    assert_true(is_same(plan.left_error, fixed_from_ns(0)));
}

static void the_lines_join_to_the_last_fraction(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        const struct plan *next = &scene.next;
        assert_true(
            is_same(segment_at(&scene.old.after, next->slew.start_ticks), next->slew.value));
        assert_true(is_same(segment_at(&next->before, next->slew.start_ticks), next->slew.value));
        assert_true(is_same(segment_at(&next->slew, next->after.start_ticks), next->after.value));
    }
}

static void the_slew_begins_after_the_lead_and_ends_within_its_limit(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        struct fixed period = scene.estimator.period;
        uint64_t lead = scene.next.slew.start_ticks - scene.schedule.now_ticks;
        uint64_t length = scene.next.after.start_ticks - scene.next.slew.start_ticks;
        assert_true(lead == fixed_ticks(period, scene.schedule.lead_ns));
        assert_true(length >= fixed_ticks(period, scene.schedule.slew_ns));
        assert_true(length <= fixed_ticks(period, scene.schedule.slew_max_ns));
    }
}

/* In the time of duration + 1 ticks, a part in 2,000: ticks are rounded down, the part is not. */
static void the_slope_is_never_more_than_500_ppm_off(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        struct fixed period = scene.estimator.period;
        uint64_t ticks = scene.next.after.start_ticks - scene.next.slew.start_ticks;
        struct fixed off = fixed_abs(fixed_subtract(scene.next.slew.period, period));
        struct fixed most = fixed_over(fixed_times(period, ticks + 1), LINE_SLEW_DIVISOR);
        assert_false(fixed_less(most, fixed_times(off, ticks)));
        assert_true(is_same(scene.next.after.period, period));
    }
}

static void what_is_not_corrected_is_told(void **state)
{
    struct dice dice = dice_new();
    struct fixed rounding = fixed_from_ns(1);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        const struct plan *next = &scene.next;
        struct fixed reference = estimator_at(&scene.estimator, next->slew.start_ticks);
        struct fixed later = estimator_at(&scene.estimator, next->after.start_ticks);
        struct fixed left = fixed_subtract(later, next->after.value);
        assert_true(is_same(fixed_subtract(reference, next->slew.value), next->error));
        assert_true(fixed_less(fixed_abs(fixed_subtract(left, next->left_error)), rounding));
    }
}

static void the_slew_goes_towards_the_reference_and_not_beyond(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        struct fixed error = scene.next.error, left = scene.next.left_error;
        bool is_behind = !fixed_is_negative(error);
        assert_false(fixed_less(fixed_abs(error), fixed_abs(left)));
        assert_true(is_same(left, fixed_from_ns(0)) ||
                    fixed_is_negative(left) == fixed_is_negative(error));
        if (is_behind)
            assert_false(fixed_less(scene.next.slew.period, scene.estimator.period));
        else
            assert_false(fixed_less(scene.estimator.period, scene.next.slew.period));
    }
}

static void a_small_error_is_corrected_at_once(void **state)
{
    struct dice dice = dice_new();
    struct estimator estimator = estimator_of(&dice);
    struct schedule schedule = schedule_of(&dice, START);
    struct fixed off = {150, 5};
    struct plan plan = plan_begin(&estimator, START, fixed_add(estimator.value, off), 0);
    struct plan next = plan_next(&plan, &estimator, &schedule);
    (void)state;
    assert_true(is_same(next.error, fixed_negate(off)));
    assert_true(is_same(next.left_error, fixed_from_ns(0)));
}

static void only_new_lines_take_the_new_offset_of_utc(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = scene_of(&dice);
    (void)state;
    assert_true(scene.next.before.utc_offset_ns == 55);
    assert_true(scene.next.slew.utc_offset_ns == 77);
    assert_true(scene.next.after.utc_offset_ns == 77);
}

/* Whenever the next plan is made after the slew's start, ticks from then to its start mean the
 * same. */
static void what_readers_follow_now_is_kept_until_the_slew(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        uint64_t length = scene.next.after.start_ticks - scene.next.slew.start_ticks;
        uint64_t now = scene.next.slew.start_ticks + dice_below(&dice, 2 * length);
        struct schedule schedule = schedule_of(&dice, now);
        struct plan later = plan_next(&scene.next, &scene.estimator, &schedule);
        struct fixed then = segment_at(plan_segment(&scene.next, now), now);
        if ((int64_t)(now - later.before.start_ticks) < 0)
            fail_msg("case %d: `before` begins %llu ticks after now", i,
                     (unsigned long long)(later.before.start_ticks - now));
        assert_true(is_same(segment_at(plan_segment(&later, now), now), then));
    }
}

/* Neither below what was told, nor below where the old line leaves readers at the hand-over. */
static void a_restart_goes_to_the_reference_at_once_but_never_below_the_floor(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct scene scene = scene_of(&dice);
        struct fixed floor = {scene.estimator.value.ns + (int64_t)dice_below(&dice, 200000000) -
                                  100000000,
                              dice_roll(&dice)};
        struct plan next = plan_restart(&scene.old, &scene.estimator, &scene.schedule, floor);
        struct fixed reference = estimator_at(&scene.estimator, next.after.start_ticks);
        struct fixed left = segment_at(&next.before, next.after.start_ticks);
        struct fixed least = fixed_less(floor, left) ? left : floor;
        bool is_below = fixed_less(reference, least);
        assert_true(is_same(next.after.value, is_below ? least : reference));
        assert_true(is_same(next.left_error, fixed_subtract(reference, next.after.value)));
        assert_true(is_same(next.after.period, scene.estimator.period));
        assert_true(next.before.start_ticks == scene.old.after.start_ticks);
        assert_true(next.slew.start_ticks == next.after.start_ticks);
        assert_true((int64_t)(next.after.start_ticks - scene.schedule.now_ticks) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_plan_is_one_line),
        cmocka_unit_test(the_lines_join_to_the_last_fraction),
        cmocka_unit_test(the_slew_begins_after_the_lead_and_ends_within_its_limit),
        cmocka_unit_test(the_slope_is_never_more_than_500_ppm_off),
        cmocka_unit_test(what_is_not_corrected_is_told),
        cmocka_unit_test(the_slew_goes_towards_the_reference_and_not_beyond),
        cmocka_unit_test(a_small_error_is_corrected_at_once),
        cmocka_unit_test(only_new_lines_take_the_new_offset_of_utc),
        cmocka_unit_test(what_readers_follow_now_is_kept_until_the_slew),
        cmocka_unit_test(a_restart_goes_to_the_reference_at_once_but_never_below_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
