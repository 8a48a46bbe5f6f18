/* SPDX-License-Identifier: MIT */
/* The lines after a disruption: what readers may have been told, and how wrong it was. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/servo/cadence.h"
#include "simulated_line.h"

#define MS 1000000

struct scene {
    struct simulated_line line;
    struct discipline discipline;
    uint64_t followed; /* as far as readers may follow the present lines */
};

static unsigned observe(struct scene *scene)
{
    struct discipline_sample sample = simulated_sample(&scene->line, 40, 20);
    return discipline_observe(&scene->discipline, &sample);
}

static struct discipline_output plan(struct scene *scene)
{
    struct cadence cadence = cadence_own(false);
    struct schedule schedule = cadence_schedule(&cadence, 100 * MS, scene->line.now_ticks, true, 0);
    struct discipline_output output =
        discipline_plan(&scene->discipline, &schedule, scene->followed);
    discipline_commit(&scene->discipline, &output);
    scene->followed = output.lines.after.start_ticks + 2 * output.refresh_ticks;
    return output;
}

/* 2 seconds of quiet life at 1 ns a tick; the last lines have just been published. */
static struct scene quiet_scene(void)
{
    struct scene scene = {.line = simulated_new(1, 0)};
    for (int i = 0; i < 20; i++) {
        simulated_wait(&scene.line, 100 * MS);
        assert_int_equal(observe(&scene), 0);
        if (discipline_is_ready(&scene.discipline))
            plan(&scene);
    }
    return scene;
}

/* The counter leaps ahead by so much, or, negative, back. */
static void leap(struct scene *scene, int64_t ns)
{
    scene->line.now_ticks += (uint64_t)ns;
    scene->line.origin_ticks += (uint64_t)ns;
}

/* Less than the lines had left: readers were told the leap's times until the lines ended. */
static void after_a_leap_within_the_lines_nothing_told_is_taken_back(void **state)
{
    struct scene scene = quiet_scene();
    const struct segment *after = &scene.discipline.plan.after;
    int64_t told_ns = segment_at(after, scene.followed).ns;
    (void)state;
    simulated_wait(&scene.line, 100 * MS);
    leap(&scene, 150 * MS);
    assert_int_equal(observe(&scene), DISCIPLINE_JUMPED);
    assert_true((int64_t)(scene.line.now_ticks - scene.followed) > 0);
    struct discipline_output output = plan(&scene);
    assert_true((int64_t)output.lines.after.mono_ns >= told_ns);
    assert_true(output.lines.after.maxerror_ns >= 40 * MS);
}

/* Readers are on the old line for another moment: it knows by now how far off it is. */
static void the_line_still_followed_after_a_leap_admits_its_error(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    simulated_wait(&scene.line, 10 * MS);
    leap(&scene, 50 * MS);
    assert_int_equal(observe(&scene), DISCIPLINE_JUMPED);
    assert_true((int64_t)(scene.line.now_ticks - scene.followed) < 0);
    struct discipline_output output = plan(&scene);
    assert_true((int64_t)(output.lines.after.start_ticks - scene.line.now_ticks) > 0);
    assert_true(output.lines.before.maxerror_ns >= 49 * MS);
}

/*
 * A reader on a CPU whose counter is behind the sample's by the spread is on the new line, too: the
 * old one goes on to an hour ahead.
 */
static void after_a_long_leap_no_cpu_is_left_on_the_old_line(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    simulated_wait(&scene.line, 100 * MS);
    leap(&scene, 3600000LL * MS);
    struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
    sample.spread_ticks = 700;
    discipline_observe(&scene.discipline, &sample);
    struct discipline_output output = plan(&scene);
    uint64_t behind = sample.ticks_before - sample.spread_ticks;
    assert_true((int64_t)(output.lines.after.start_ticks - behind) <= 0);
    assert_true((int64_t)(output.lines.slew.start_ticks - behind) <= 0);
    int64_t ahead_ns = segment_at(&output.plan.after, sample.ticks_before).ns - sample.mono_ns;
    assert_true(ahead_ns >= 0 && ahead_ns < 100 * MS);
}

/* A clock that was ahead of its reference when the counter went back has told that. */
static void a_counter_that_went_back_takes_nothing_back(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    scene.line.origin.ns -= 5 * MS; /* less than a jump: it will be slewed */
    simulated_wait(&scene.line, 100 * MS);
    assert_int_equal(observe(&scene) & DISCIPLINE_DISRUPTED, 0);
    plan(&scene);
    const struct plan *present = &scene.discipline.plan;
    uint64_t now = scene.line.now_ticks;
    int64_t told_ns = segment_at(plan_segment(present, now), now).ns;
    leap(&scene, -3600000LL * MS);
    assert_int_equal(observe(&scene) & DISCIPLINE_DISRUPTED, DISCIPLINE_BACKWARDS);
    struct discipline_output output = plan(&scene);
    assert_true((int64_t)output.lines.after.mono_ns >= told_ns);
}

/* Asleep, and on a tick that the lines had before: they are behind what was told before the sleep. */
static void a_counter_that_went_back_asleep_takes_nothing_back(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    simulated_wait(&scene.line, 90 * MS);
    const struct plan *present = &scene.discipline.plan;
    uint64_t now = scene.line.now_ticks;
    int64_t told_ns = segment_at(plan_segment(present, now), now).ns;
    leap(&scene, -50 * MS);
    struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
    sample.suspended_ns += 3600000LL * MS;
    assert_int_equal(discipline_observe(&scene.discipline, &sample),
                     DISCIPLINE_JUMPED | DISCIPLINE_SUSPENDED);
    struct discipline_output output = plan(&scene);
    struct timebase_instant instant;
    assert_true(output.lines.after.start_ticks <= sample.ticks_before);
    timebase_line_convert(&output.lines.after, sample.ticks_after - output.lines.after.start_ticks,
                          TIMEBASE_WANT_ALL, &instant);
    assert_true((int64_t)instant.mono_ns >= told_ns);
}

/* What the newest line says at a tick beyond what it is off there. */
static int64_t spare_ns(const struct scene *scene, const struct discipline_output *output,
                        uint64_t ticks)
{
    const struct timebase_line *after = &output->lines.after;
    struct timebase_instant instant;
    timebase_line_convert(after, ticks - after->start_ticks, TIMEBASE_WANT_ALL, &instant);
    int64_t off_ns = simulated_truth(&scene->line, ticks).ns - instant.mono_ns;
    return (int64_t)instant.maxerror_ns - (off_ns < 0 ? -off_ns : off_ns);
}

/* Two wide brackets, answered at their far ends, and a counter that is slower by 480 ppm then. */
static void a_move_that_is_told_adds_to_what_was_not_known(void **state)
{
    struct scene scene = {.line = simulated_new(1, 0)};
    const struct fixed slower = {0, UINT64_MAX - UINT64_MAX / 1000000 * 480};
    (void)state;
    for (uint64_t at = 0; at <= 20000; at += 20000) {
        struct discipline_sample sample = simulated_sample(&scene.line, 20000, at);
        discipline_observe(&scene.discipline, &sample);
        simulated_wait(&scene.line, 11 * MS);
    }
    assert_true(discipline_is_ready(&scene.discipline));
    plan(&scene);
    discipline_distrust(&scene.discipline);
    simulated_change_pace(&scene.line, slower);
    simulated_wait(&scene.line, 10 * MS);
    observe(&scene);
    struct discipline_output output = plan(&scene);
    assert_true(spare_ns(&scene, &output, scene.line.now_ticks + 200 * MS) >= 0);
}

/* One sample is of before the move, and the counter has leapt by a millisecond since. */
static void a_move_that_is_told_before_there_are_lines_parts_what_is_before_it(void **state)
{
    struct scene scene = {.line = simulated_new(1, 0)};
    unsigned samples = 0;
    (void)state;
    simulated_wait(&scene.line, 10 * MS);
    observe(&scene);
    discipline_distrust(&scene.discipline);
    leap(&scene, MS);
    while (!discipline_is_ready(&scene.discipline)) {
        simulated_wait(&scene.line, 10 * MS);
        observe(&scene);
        assert_in_range(++samples, 1, 2);
    }
    assert_int_equal(samples, 2);
    struct discipline_output output = plan(&scene);
    assert_true(spare_ns(&scene, &output, scene.line.now_ticks + 200 * MS) >= 0);
    assert_int_equal(discipline_status(&scene.discipline), TIMEBASE_STATUS_UNRELIABLE);
    for (; samples < 4; samples++) {
        simulated_wait(&scene.line, 100 * MS);
        observe(&scene);
    }
    assert_int_not_equal(discipline_status(&scene.discipline), TIMEBASE_STATUS_UNRELIABLE);
}

/* The old pace may be of a slewed reference, which may go back to its own. */
static void what_may_be_slewed_outlives_a_move_that_is_told(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    for (int i = 0; i < 5; i++) {
        simulated_wait(&scene.line, 100 * MS);
        struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
        sample.slew_limit_ppm = i == 0 ? 90000 : 500;
        if (i == 4)
            discipline_distrust(&scene.discipline);
        discipline_observe(&scene.discipline, &sample);
    }
    struct discipline_output output = plan(&scene);
    uint64_t rate = (uint64_t)output.lines.after.drift_rate + output.lines.after.slew_rate;
    assert_true(rate >= ((uint64_t)1 << 32) / 1000000 * (90000 + 500 + 50)); /* 1 ns a tick */
}

/* Whatever pace it shows meanwhile. */
static void a_counter_that_the_kernel_distrusts_is_unreliable_for_as_long_as_it_does(void **state)
{
    struct scene scene = quiet_scene();
    (void)state;
    assert_int_not_equal(discipline_status(&scene.discipline), TIMEBASE_STATUS_UNRELIABLE);
    for (int i = 0; i < 20; i++) {
        simulated_wait(&scene.line, 100 * MS);
        struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
        sample.flags |= TIMEBASE_LINE_COUNTER_DISTRUSTED;
        discipline_observe(&scene.discipline, &sample);
        assert_int_equal(discipline_status(&scene.discipline), TIMEBASE_STATUS_UNRELIABLE);
    }
    for (int i = 0; i < 10; i++) {
        simulated_wait(&scene.line, 100 * MS);
        observe(&scene);
    }
    assert_int_not_equal(discipline_status(&scene.discipline), TIMEBASE_STATUS_UNRELIABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_leap_within_the_lines_nothing_told_is_taken_back),
        cmocka_unit_test(the_line_still_followed_after_a_leap_admits_its_error),
        cmocka_unit_test(a_move_that_is_told_adds_to_what_was_not_known),
        cmocka_unit_test(a_move_that_is_told_before_there_are_lines_parts_what_is_before_it),
        cmocka_unit_test(what_may_be_slewed_outlives_a_move_that_is_told),
        cmocka_unit_test(after_a_long_leap_no_cpu_is_left_on_the_old_line),
        cmocka_unit_test(a_counter_that_went_back_takes_nothing_back),
        cmocka_unit_test(a_counter_that_went_back_asleep_takes_nothing_back),
        cmocka_unit_test(a_counter_that_the_kernel_distrusts_is_unreliable_for_as_long_as_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
