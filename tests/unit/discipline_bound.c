/* SPDX-License-Identifier: MIT */
/*
 * maxerror_ns is a promise. Random lines, brackets and moments of planning: the truth is within it
 * for whoever reads now, and for whoever converts a tick of the page later.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/page.h>

#include "dice.h"
#include "clock/discipline/discipline.h"
#include "clock/page/publish.h"
#include "simulated_line.h"

#define LINES 150
#define PLANS 40
#define LOOKS 20

struct scene {
    struct simulated_line line;
    struct discipline discipline;
    struct timebase_page page;
    struct dice *dice;
};

static void assert_within(const struct scene *scene, uint64_t ticks)
{
    struct timebase_instant instant;
    assert_true(timebase_page_convert(&scene->page, ticks, &instant));
    int64_t truth_ns = simulated_truth(&scene->line, ticks).ns;
    int64_t off_ns = instant.mono_ns - truth_ns;
    uint64_t size_ns = (uint64_t)(off_ns < 0 ? -off_ns : off_ns);
    if (size_ns > instant.maxerror_ns)
        fail_msg("%lld ns off, promised %llu; %lld ticks after `before`, %lld after `slew`, "
                 "%lld after `after` began",
                 (long long)off_ns, (unsigned long long)instant.maxerror_ns,
                 (long long)(ticks - scene->page.copy[scene->page.seq & 1].before.start_ticks),
                 (long long)(ticks - scene->page.copy[scene->page.seq & 1].slew.start_ticks),
                 (long long)(ticks - scene->page.copy[scene->page.seq & 1].after.start_ticks));
}

/* The next lines are not made before the slew of the last ones has begun; see maintain.c. */
static uint64_t earliest_plan(const struct scene *scene)
{
    uint64_t slew = scene->discipline.plan.slew.start_ticks;
    bool is_ahead = scene->discipline.has_plan && (int64_t)(scene->line.now_ticks - slew) < 0;
    return is_ahead ? slew : scene->line.now_ticks;
}

static void publish_next(struct scene *scene, uint64_t interval_ns)
{
    struct schedule schedule = {scene->line.now_ticks, interval_ns / 10, interval_ns * 3 / 10,
                                interval_ns * 8 / 10,  interval_ns,      2 * interval_ns,
                                0};
    if (!discipline_is_ready(&scene->discipline))
        return;
    struct discipline_output output =
        discipline_plan(&scene->discipline, &schedule, scene->line.now_ticks);
    publish_lines(&scene->page, &output.lines, output.refresh_ticks);
    discipline_commit(&scene->discipline, &output);
}

static uint64_t sample_and_plan(struct scene *scene)
{
    uint64_t interval_ns = 1000000 + dice_below(scene->dice, 99000000);
    scene->line.now_ticks = earliest_plan(scene);
    struct discipline_sample sample = simulated_disturbed_sample(&scene->line, scene->dice);
    discipline_observe(&scene->discipline, &sample);
    publish_next(scene, interval_ns);
    return interval_ns;
}

static struct scene scene_of(struct dice *dice)
{
    uint64_t period_frac = dice_roll(dice) | (uint64_t)1 << 62;
    struct scene scene = {.line = simulated_new(0, period_frac), .dice = dice};
    return scene;
}

static void readers_of_now_are_within_the_bound(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < LINES; i++) {
        struct scene scene = scene_of(&dice);
        for (int plans = 0; plans < PLANS; plans++) {
            uint64_t interval = fixed_ticks(scene.line.period, sample_and_plan(&scene));
            for (int look = 0; look < LOOKS && scene.page.seq != 0; look++)
                assert_within(&scene, scene.line.now_ticks + dice_below(&dice, 2 * interval));
            scene.line.now_ticks += interval / 8 + dice_below(&dice, interval);
        }
    }
}

/* "Exact for ticks since the last two publications": as far back as `before` goes. */
static void ticks_of_the_whole_page_convert_within_the_bound(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < LINES; i++) {
        struct scene scene = scene_of(&dice);
        for (int plans = 0; plans < PLANS; plans++) {
            uint64_t interval = fixed_ticks(scene.line.period, sample_and_plan(&scene));
            const struct timebase_lines *lines = &scene.page.copy[scene.page.seq & 1];
            uint64_t first = lines->before.start_ticks;
            uint64_t span = lines->after.start_ticks - first + 1;
            for (int look = 0; look < LOOKS && scene.page.seq != 0; look++)
                assert_within(&scene, first + dice_below(&dice, span));
            scene.line.now_ticks += interval / 8 + dice_below(&dice, interval);
        }
    }
}

/*
 * Some counters step by many ticks at once: 40 on Arm processors in low-power mode, 26 on some
 * TSCs. A bracket of no ticks then says only that both reads fell into one step; and a reader's
 * tick is as old as the step.
 */
#define STEP_TICKS 62

static uint64_t stepped(uint64_t ticks)
{
    return ticks - ticks % STEP_TICKS;
}

static void look_at_steps(struct scene *scene)
{
    struct timebase_instant instant;
    uint64_t ticks = scene->line.now_ticks + dice_below(scene->dice, 60000);
    assert_true(timebase_page_convert(&scene->page, stepped(ticks), &instant));
    int64_t off_ns = instant.mono_ns - simulated_truth(&scene->line, ticks).ns;
    if ((uint64_t)(off_ns < 0 ? -off_ns : off_ns) > instant.maxerror_ns)
        fail_msg("%lld ns off, promised %llu", (long long)off_ns,
                 (unsigned long long)instant.maxerror_ns);
}

static void readers_of_a_counter_that_steps_by_many_ticks_are_within_the_bound(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = {.line = simulated_new(16, 0), .dice = &dice};
    (void)state;
    for (int plans = 0; plans < PLANS; plans++) {
        scene.line.now_ticks = earliest_plan(&scene) + dice_below(&dice, 62);
        struct discipline_sample sample = simulated_sample(&scene.line, 10, 5);
        sample.ticks_before = stepped(sample.ticks_before);
        sample.ticks_after = stepped(sample.ticks_after);
        sample.step_ticks = STEP_TICKS;
        discipline_observe(&scene.discipline, &sample);
        publish_next(&scene, 1000000);
        for (int look = 0; look < LOOKS && scene.page.seq != 0; look++)
            look_at_steps(&scene);
        simulated_wait(&scene.line, 1000000);
    }
}

/* A1: the reference showed its time 10,000 ticks after the bracket. Nothing can tell. */
static void a_reference_that_is_read_outside_its_bracket_is_believed(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = {.line = simulated_new(1, 0), .dice = &dice};
    struct timebase_instant instant = {0};
    (void)state;
    for (int plans = 0; plans < PLANS; plans++) {
        struct discipline_sample sample = simulated_sample(&scene.line, 40, 10040);
        discipline_observe(&scene.discipline, &sample);
        publish_next(&scene, 1000000);
        simulated_wait(&scene.line, 1000000);
    }
    uint64_t ticks = scene.discipline.plan.after.start_ticks;
    assert_true(timebase_page_convert(&scene.page, ticks, &instant));
    int64_t ahead_ns = instant.mono_ns - simulated_truth(&scene.line, ticks).ns;
    assert_true(ahead_ns > (int64_t)instant.maxerror_ns);
    assert_int_equal(instant.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_SYNCHRONIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_of_now_are_within_the_bound),
        cmocka_unit_test(ticks_of_the_whole_page_convert_within_the_bound),
        cmocka_unit_test(a_reference_that_is_read_outside_its_bracket_is_believed),
        cmocka_unit_test(readers_of_a_counter_that_steps_by_many_ticks_are_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
