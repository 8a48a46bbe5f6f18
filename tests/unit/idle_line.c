/* SPDX-License-Identifier: MIT */
/*
 * Lines that were not renewed in time: what was followed meanwhile becomes a short `before`, so
 * that a counter that goes back into the idle time finds no line to follow there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/servo/cadence.h"
#include "simulated_line.h"

#define MS 1000000
#define HOUR_NS (3600000LL * MS)
#define INTERVAL_NS (100 * MS)
#define LONGEST_NS (2 * INTERVAL_NS) /* of a `before` */
#define ROUNDS 2000

struct scene {
    struct simulated_line line;
    struct discipline discipline;
};

static struct discipline_output plan(struct scene *scene)
{
    struct cadence cadence = cadence_own(false);
    uint64_t now = scene->line.now_ticks;
    struct schedule schedule = cadence_schedule(&cadence, INTERVAL_NS, now, false, 0);
    struct discipline_output output = discipline_plan(&scene->discipline, &schedule, now);
    discipline_commit(&scene->discipline, &output);
    return output;
}

/* A sample, and the lines that follow from it. */
static struct discipline_output renew(struct scene *scene)
{
    struct discipline_sample sample = simulated_sample(&scene->line, 40, 20);
    discipline_observe(&scene->discipline, &sample);
    return plan(scene);
}

/* Whole hours and more: fixed_ticks() takes less than 2^32 ns. */
static void wait_long(struct scene *scene, int64_t ns)
{
    for (; ns > 1000 * MS; ns -= 1000 * MS)
        simulated_wait(&scene->line, 1000 * MS);
    simulated_wait(&scene->line, (uint64_t)ns);
}

static struct scene quiet_scene(uint64_t period_frac)
{
    struct scene scene = {.line = simulated_new(0, period_frac)};
    for (int i = 0; i < 20; i++) {
        struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
        discipline_observe(&scene.discipline, &sample);
        simulated_wait(&scene.line, INTERVAL_NS);
        if (discipline_is_ready(&scene.discipline))
            plan(&scene);
    }
    return scene;
}

/* About two ticks a nanosecond. */
static struct scene some_scene(struct dice *dice)
{
    return quiet_scene(UINT64_MAX / 2 + (dice_roll(dice) >> 8));
}

static int64_t span_ns(const struct scene *scene, uint64_t from, uint64_t to)
{
    return fixed_times(scene->line.period, to - from).ns;
}

static void a_line_renewed_in_time_keeps_its_start(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = some_scene(&dice);
    struct discipline_output old = renew(&scene);
    (void)state;
    simulated_wait(&scene.line, INTERVAL_NS);
    struct discipline_output next = renew(&scene);
    assert_true(next.lines.before.start_ticks == old.lines.after.start_ticks);
    assert_true(next.lines.before.mono_ns == old.lines.after.mono_ns);
}

static void after_an_hour_it_begins_two_intervals_ago(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = some_scene(&dice);
    (void)state;
    renew(&scene);
    wait_long(&scene, HOUR_NS);
    struct discipline_output next = renew(&scene);
    int64_t ago_ns = span_ns(&scene, next.lines.before.start_ticks, scene.line.now_ticks);
    assert_in_range(ago_ns, LONGEST_NS - MS, LONGEST_NS + MS);
}

/* A counter that leapt over the hour leaves no line behind that is as long. */
static void nor_is_it_longer_after_a_jump(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = some_scene(&dice);
    struct discipline_output old = renew(&scene);
    uint64_t followed = old.lines.after.start_ticks + 2 * old.refresh_ticks;
    (void)state;
    uint64_t hour = fixed_ticks(scene.line.period, 1000 * MS) * 3600;
    scene.line.now_ticks += hour;
    scene.line.origin_ticks += hour;
    struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
    assert_true(discipline_observe(&scene.discipline, &sample) & DISCIPLINE_JUMPED);
    struct cadence cadence = cadence_own(false);
    struct schedule schedule =
        cadence_schedule(&cadence, INTERVAL_NS, scene.line.now_ticks, true, 0);
    struct discipline_output next = discipline_plan(&scene.discipline, &schedule, followed);
    int64_t long_ns = span_ns(&scene, next.lines.before.start_ticks, next.lines.slew.start_ticks);
    assert_in_range(long_ns, 0, LONGEST_NS + MS);
}

/* CPUs may be behind the sample's: their ticks are not before the line. */
static void a_cpu_that_is_behind_still_finds_it(void **state)
{
    struct dice dice = dice_new();
    struct scene scene = some_scene(&dice);
    (void)state;
    renew(&scene);
    wait_long(&scene, HOUR_NS);
    struct discipline_sample sample = simulated_sample(&scene.line, 40, 20);
    sample.spread_ticks = fixed_ticks(scene.line.period, 500 * MS);
    discipline_observe(&scene.discipline, &sample);
    struct discipline_output next = plan(&scene);
    uint64_t behind = sample.ticks_before - sample.spread_ticks;
    assert_true((int64_t)(behind - next.lines.before.start_ticks) > 0);
}

static int64_t reading(const struct timebase_line *line, uint64_t ticks)
{
    struct timebase_instant instant = {0};
    timebase_line_convert(line, ticks - line->start_ticks, TIMEBASE_WANT_MONO, &instant);
    return instant.mono_ns;
}

/* By the old line, then by the new one at the same tick, then by the one it hands over to. */
static void time_does_not_go_back_by_what_is_rounded(void **state)
{
    struct dice dice = dice_new();
    unsigned raised = 0;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct scene scene = some_scene(&dice);
        struct discipline_output old = renew(&scene);
        wait_long(&scene, LONGEST_NS + (int64_t)dice_below(&dice, 4000 * (uint64_t)MS));
        struct discipline_output next = renew(&scene);
        uint64_t start = next.lines.before.start_ticks, end = next.lines.slew.start_ticks;
        uint64_t ticks = start + dice_below(&dice, end - start);
        int64_t before_ns = reading(&next.lines.before, ticks);
        int64_t old_ns = reading(&old.lines.after, ticks);
        assert_in_range(before_ns - old_ns, 0, 2);
        assert_true(reading(&next.lines.before, end - 1) <= reading(&next.lines.slew, end));
        raised += before_ns > old_ns;
    }
    assert_true(raised > 0);
}

static uint64_t size_of(int64_t ns)
{
    return (uint64_t)(ns < 0 ? -ns : ns);
}

/* What it says at a tick beyond what it is off there. */
static int64_t spare_ns(const struct scene *scene, const struct timebase_line *line,
                        uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_line_convert(line, ticks - line->start_ticks, TIMEBASE_WANT_ALL, &instant);
    int64_t off_ns = simulated_truth(&scene->line, ticks).ns - instant.mono_ns;
    return (int64_t)(instant.maxerror_ns - size_of(off_ns));
}

/* From now on by so many ppm of its first pace. */
static void slew(struct scene *scene, uint64_t first_frac, int64_t ppm)
{
    uint64_t change = first_frac / 1000000 * (uint64_t)(ppm < 0 ? -ppm : ppm);
    struct fixed period = {0, ppm < 0 ? first_frac - change : first_frac + change};
    simulated_change_pace(&scene->line, period);
}

/* The reference has been slewed as far as it may; and back a little, so that it was further off. */
static void its_bound_holds_all_along_and_has_not_grown_for_an_hour(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < ROUNDS / 10; i++) {
        struct scene scene = some_scene(&dice);
        renew(&scene);
        uint64_t first_frac = scene.line.period.frac;
        int64_t ppm = (int64_t)dice_below(&dice, 480), sign = i % 2 == 0 ? 1 : -1;
        slew(&scene, first_frac, sign * ppm);
        wait_long(&scene, HOUR_NS);
        slew(&scene, first_frac, -sign * (490 - ppm));
        wait_long(&scene, 2 * LONGEST_NS);
        struct discipline_output next = renew(&scene);
        const struct timebase_line *before = &next.lines.before;
        uint64_t length = next.lines.slew.start_ticks - before->start_ticks;
        for (int j = 0; j < 10; j++) {
            uint64_t ticks = before->start_ticks + dice_below(&dice, length);
            assert_in_range(spare_ns(&scene, before, ticks), 0, 3 * LONGEST_NS / 1000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_renewed_in_time_keeps_its_start),
        cmocka_unit_test(after_an_hour_it_begins_two_intervals_ago),
        cmocka_unit_test(nor_is_it_longer_after_a_jump),
        cmocka_unit_test(a_cpu_that_is_behind_still_finds_it),
        cmocka_unit_test(time_does_not_go_back_by_what_is_rounded),
        cmocka_unit_test(its_bound_holds_all_along_and_has_not_grown_for_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
