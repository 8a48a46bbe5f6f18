/* SPDX-License-Identifier: MIT */
/* Samples in, events and states out, in virtual time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "clock/discipline/discipline.h"
#include "simulated_line.h"

#define MS 1000000
#define SECOND 1000000000

/* A reference of 2.5 GHz, and a discipline that has followed it for `samples` tenths of a second.
 */
struct scene {
    struct simulated_line line;
    struct discipline discipline;
};

static unsigned observe(struct scene *scene)
{
    struct discipline_sample sample = simulated_sample(&scene->line, 100, 50);
    return discipline_observe(&scene->discipline, &sample);
}

static struct scene scene_after(int samples)
{
    struct scene scene = {.line = simulated_new(0, UINT64_MAX / 5 * 2)};
    for (int i = 0; i < samples; i++) {
        observe(&scene);
        simulated_wait(&scene.line, 100 * MS);
    }
    return scene;
}

static void assert_status(const struct scene *scene, enum timebase_status status)
{
    assert_string_equal(timebase_status_name((int)discipline_status(&scene->discipline)),
                        timebase_status_name((int)status));
}

static struct discipline_output plan(struct scene *scene, uint64_t followed_ticks)
{
    struct schedule schedule = {scene->line.now_ticks, 10 * MS, 30 * MS, 80 * MS, 100 * MS, 0, 0};
    struct discipline_output output =
        discipline_plan(&scene->discipline, &schedule, followed_ticks);
    discipline_commit(&scene->discipline, &output);
    return output;
}

static void the_status_goes_from_unknown_over_initializing_to_synchronized(void **state)
{
    struct scene scene = scene_after(0);
    (void)state;
    assert_status(&scene, TIMEBASE_STATUS_UNKNOWN);
    observe(&scene);
    assert_status(&scene, TIMEBASE_STATUS_UNKNOWN);
    assert_false(discipline_is_ready(&scene.discipline));
    simulated_wait(&scene.line, MS);
    observe(&scene);
    assert_true(discipline_is_ready(&scene.discipline));
    assert_status(&scene, TIMEBASE_STATUS_INITIALIZING);
    simulated_wait(&scene.line, SECOND);
    observe(&scene);
    assert_status(&scene, TIMEBASE_STATUS_SYNCHRONIZED);
}

static void an_unsynchronized_reference_makes_a_free_running_clock(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    scene.line.is_synchronized = false;
    assert_int_equal(observe(&scene), 0);
    assert_status(&scene, TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(plan(&scene, 0).lines.after.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_FREERUNNING);
}

static void a_quiet_reference_shows_no_events(void **state)
{
    struct scene scene = scene_after(0);
    (void)state;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(observe(&scene), 0);
        simulated_wait(&scene.line, 100 * MS);
    }
}

static void a_step_of_utc_is_seen_with_its_sign_down_to_a_nanosecond(void **state)
{
    static const int64_t steps[] = {1, -1, 50 * MS, -50 * MS, 2000000000, -2000000000};
    struct scene scene = scene_after(20);
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        scene.line.utc_offset_ns += steps[i];
        assert_int_equal(observe(&scene), DISCIPLINE_UTC_STEPPED);
        assert_true(scene.discipline.utc_step_ns == steps[i]);
        simulated_wait(&scene.line, 100 * MS);
        assert_int_equal(observe(&scene), 0);
        simulated_wait(&scene.line, 100 * MS);
    }
    assert_status(&scene, TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_step_of_utc_changes_the_offset_of_the_new_lines_only(void **state)
{
    struct scene scene = scene_after(20);
    int64_t old_ns = scene.line.utc_offset_ns;
    (void)state;
    plan(&scene, 0);
    simulated_wait(&scene.line, 100 * MS);
    scene.line.utc_offset_ns += 50 * MS;
    observe(&scene);
    struct discipline_output output = plan(&scene, 0);
    assert_true(timebase_line_utc_offset_ns(&output.lines.before) == old_ns);
    assert_true(timebase_line_utc_offset_ns(&output.lines.slew) == old_ns + 50 * MS);
    assert_true(timebase_line_utc_offset_ns(&output.lines.after) == old_ns + 50 * MS);
    assert_true(output.lines.before.maxerror_ns >= 50 * MS);
    assert_true(output.lines.after.maxerror_ns < MS);
}

static void a_sleep_is_seen_but_not_the_looking(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    scene.line.suspended_ns += 900000;
    assert_int_equal(observe(&scene), 0);
    simulated_wait(&scene.line, 100 * MS);
    scene.line.suspended_ns += 10LL * SECOND;
    scene.line.utc_offset_ns += 10LL * SECOND;
    assert_int_equal(observe(&scene), DISCIPLINE_SUSPENDED | DISCIPLINE_UTC_STEPPED);
}

static void a_jump_makes_the_counter_unreliable_for_three_samples(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    scene.line.origin.ns += 5LL * SECOND;
    assert_int_equal(observe(&scene), DISCIPLINE_JUMPED);
    for (int i = 0; i < 3; i++) {
        assert_status(&scene, TIMEBASE_STATUS_UNRELIABLE);
        simulated_wait(&scene.line, 100 * MS);
        assert_int_equal(observe(&scene), 0);
    }
    assert_status(&scene, TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_counter_that_goes_back_is_seen(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    scene.line.now_ticks -= 1000000000;
    assert_int_equal(observe(&scene), DISCIPLINE_BACKWARDS);
    assert_status(&scene, TIMEBASE_STATUS_UNRELIABLE);
}

static void a_change_of_pace_is_seen_and_is_no_disruption(void **state)
{
    struct scene scene = scene_after(20);
    unsigned events = 0;
    (void)state;
    struct fixed more = fixed_over(scene.line.period, 2500);
    simulated_change_pace(&scene.line, fixed_add(scene.line.period, more));
    for (int i = 0; i < 5; i++) {
        simulated_wait(&scene.line, 100 * MS);
        events |= observe(&scene);
    }
    assert_int_equal(events, DISCIPLINE_RATE_CHANGED);
}

static void after_a_jump_the_new_lines_begin_above_what_readers_followed(void **state)
{
    struct scene scene = scene_after(20);
    struct discipline_output output = plan(&scene, 0);
    uint64_t followed = output.lines.after.start_ticks + 2 * output.refresh_ticks;
    (void)state;
    uint64_t floor_ns = (uint64_t)segment_at(&output.plan.after, followed).ns;
    simulated_wait(&scene.line, 100 * MS);
    scene.line.origin.ns -= SECOND;
    assert_int_equal(observe(&scene), DISCIPLINE_JUMPED);
    output = plan(&scene, followed);
    assert_true(output.lines.after.mono_ns >= floor_ns);
    assert_true(output.lines.after.maxerror_ns > 900 * (uint64_t)MS);
}

static void the_first_line_takes_the_reading_for_the_tick_before_it(void **state)
{
    struct scene scene = scene_after(2);
    struct discipline_output output = plan(&scene, 0);
    (void)state;
    assert_true(output.lines.after.start_ticks == scene.discipline.sample.ticks_before);
    assert_true(output.lines.after.mono_ns == (uint64_t)scene.discipline.sample.mono_ns);
}

static void adopted_lines_are_continued_once_the_slope_is_known(void **state)
{
    struct scene scene = scene_after(20);
    struct discipline_output output = plan(&scene, 0);
    (void)state;
    discipline_adopt(&scene.discipline, &output.lines);
    assert_true(scene.discipline.has_plan);
    assert_false(scene.discipline.has_sample);
    for (int i = 0; i < 2; i++) {
        simulated_wait(&scene.line, 100 * MS);
        assert_int_equal(observe(&scene), 0);
    }
    assert_true(discipline_is_ready(&scene.discipline));
    struct discipline_output next = plan(&scene, 0);
    assert_true(next.lines.before.start_ticks == output.lines.after.start_ticks);
    assert_true(next.lines.before.mono_ns == output.lines.after.mono_ns);
    assert_true(next.lines.before.period_frac == output.lines.after.period_frac);
    assert_true(next.lines.slew.start_ticks > scene.line.now_ticks);
}

/* Two minutes after they were published the reference is so far from where the lines have it. */
static struct scene adopted_scene(int64_t parted_ns)
{
    struct scene scene = scene_after(20);
    struct discipline_output output = plan(&scene, 0);
    discipline_adopt(&scene.discipline, &output.lines);
    for (int i = 0; i < 120; i++)
        simulated_wait(&scene.line, SECOND);
    scene.line.origin = fixed_add(scene.line.origin, fixed_from_ns(parted_ns));
    return scene;
}

/* As after a fork whose state was lost: no sample before it tells of a sleep. */
static void adopted_lines_are_not_slewed_back_from_beyond_their_bound(void **state)
{
    struct scene scene = adopted_scene(5000000000);
    (void)state;
    assert_true(observe(&scene) & DISCIPLINE_JUMPED);
    assert_status(&scene, TIMEBASE_STATUS_UNRELIABLE);
    scene = adopted_scene(-5000000000);
    assert_true(observe(&scene) & DISCIPLINE_JUMPED);
    scene = adopted_scene(50 * MS); /* the reference may have been slewed by 60 */
    assert_false(observe(&scene) & DISCIPLINE_JUMPED);
    scene = adopted_scene(-50 * MS);
    assert_false(observe(&scene) & DISCIPLINE_JUMPED);
}

/* They would excuse a sleep between the first two samples. */
static void adopted_lines_of_any_pace_do_not_fit(void **state)
{
    struct scene scene = scene_after(20);
    struct discipline_output output = plan(&scene, 0);
    struct discipline_sample sample = simulated_sample(&scene.line, 100, 50);
    (void)state;
    discipline_adopt(&scene.discipline, &output.lines);
    assert_true(discipline_fits(&scene.discipline, &sample));
    output.lines.after.drift_rate = UINT32_MAX;
    discipline_adopt(&scene.discipline, &output.lines);
    assert_false(discipline_fits(&scene.discipline, &sample));
}

static struct discipline_output plan_after_a_step_of_utc(struct scene *scene)
{
    plan(scene, 0);
    simulated_wait(&scene->line, 100 * MS);
    scene->line.utc_offset_ns += SECOND;
    observe(scene);
    return plan(scene, 0);
}

/* The line that misses the step is wrong by it in UTC, and not in monotonic time. */
static void a_step_of_utc_does_not_let_a_counter_go_back(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    struct discipline_output output = plan_after_a_step_of_utc(&scene);
    struct discipline_sample sample = simulated_sample(&scene.line, 100, 50);
    uint64_t back = fixed_ticks(scene.line.period, 30 * MS);
    discipline_adopt(&scene.discipline, &output.lines);
    assert_true(output.lines.before.maxerror_ns >= SECOND);
    assert_true(discipline_fits(&scene.discipline, &sample));
    sample.ticks_before -= back;
    sample.ticks_after -= back;
    assert_true(sample.ticks_before > output.lines.before.start_ticks);
    assert_false(discipline_fits(&scene.discipline, &sample));
}

/* Nor do readers run ahead of the reference by it when they have a counter that began anew. */
static void a_step_of_utc_is_not_added_to_monotonic_time(void **state)
{
    struct scene scene = scene_after(20);
    (void)state;
    struct discipline_output output = plan_after_a_step_of_utc(&scene);
    discipline_adopt(&scene.discipline, &output.lines);
    simulated_wait(&scene.line, 100 * MS);
    scene.line.now_ticks -= fixed_ticks(scene.line.period, SECOND);
    scene.line.origin_ticks -= fixed_ticks(scene.line.period, SECOND);
    assert_int_equal(observe(&scene) & DISCIPLINE_BACKWARDS, DISCIPLINE_BACKWARDS);
    output = plan(&scene, 0);
    int64_t ahead_ns =
        (int64_t)output.lines.after.mono_ns - scene.discipline.sample.mono_ns;
    assert_true(ahead_ns > 0 && ahead_ns < 100 * MS);
}

static void the_refresh_is_the_horizon_less_what_lies_before_the_last_line(void **state)
{
    struct scene scene = scene_after(20);
    plan(&scene, 0);
    simulated_wait(&scene.line, 100 * MS);
    observe(&scene);
    struct discipline_output output = plan(&scene, 0);
    uint64_t wanted = scene.line.now_ticks + fixed_ticks(scene.line.period, 100 * MS);
    (void)state;
    int64_t off = (int64_t)(output.lines.after.start_ticks + output.refresh_ticks - wanted);
    assert_true(off > -1000 && off < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_goes_from_unknown_over_initializing_to_synchronized),
        cmocka_unit_test(an_unsynchronized_reference_makes_a_free_running_clock),
        cmocka_unit_test(a_quiet_reference_shows_no_events),
        cmocka_unit_test(a_step_of_utc_is_seen_with_its_sign_down_to_a_nanosecond),
        cmocka_unit_test(a_step_of_utc_changes_the_offset_of_the_new_lines_only),
        cmocka_unit_test(a_sleep_is_seen_but_not_the_looking),
        cmocka_unit_test(a_jump_makes_the_counter_unreliable_for_three_samples),
        cmocka_unit_test(a_counter_that_goes_back_is_seen),
        cmocka_unit_test(a_change_of_pace_is_seen_and_is_no_disruption),
        cmocka_unit_test(after_a_jump_the_new_lines_begin_above_what_readers_followed),
        cmocka_unit_test(the_first_line_takes_the_reading_for_the_tick_before_it),
        cmocka_unit_test(adopted_lines_are_not_slewed_back_from_beyond_their_bound),
        cmocka_unit_test(adopted_lines_are_continued_once_the_slope_is_known),
        cmocka_unit_test(adopted_lines_of_any_pace_do_not_fit),
        cmocka_unit_test(a_step_of_utc_does_not_let_a_counter_go_back),
        cmocka_unit_test(a_step_of_utc_is_not_added_to_monotonic_time),
        cmocka_unit_test(the_refresh_is_the_horizon_less_what_lies_before_the_last_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
