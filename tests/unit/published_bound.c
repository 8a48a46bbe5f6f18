/* SPDX-License-Identifier: MIT */
/*
 * What was published stays true: a line that becomes `before` is given no narrower bound than the
 * one it was published with, however much better the clock knows itself by then.
 */
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
    /* what the source says */
    int64_t maxerror_ns;
    uint32_t growth_ppb;
};

/* A sample with so wide a bracket, and the lines that follow from it. */
static struct discipline_output publish(struct scene *scene, uint64_t bracket)
{
    struct discipline_sample sample = simulated_sample(&scene->line, bracket, bracket / 2);
    sample.maxerror_ns = scene->maxerror_ns;
    sample.maxerror_ppb = scene->growth_ppb;
    discipline_observe(&scene->discipline, &sample);
    struct cadence cadence = cadence_own(false);
    struct schedule schedule =
        cadence_schedule(&cadence, 10 * MS, scene->line.now_ticks, false, 0);
    struct discipline_output output =
        discipline_plan(&scene->discipline, &schedule, scene->line.now_ticks);
    discipline_commit(&scene->discipline, &output);
    simulated_wait(&scene->line, 10 * MS);
    return output;
}

static uint64_t utc_bound(const struct timebase_line *line)
{
    return line->maxerror_ns + line->utc_maxerror_ns;
}

static uint64_t growth(const struct timebase_line *line)
{
    return (uint64_t)line->drift_rate + line->slew_rate;
}

/* Ready after two looks that are not precise at all. */
static struct scene vague_scene(void)
{
    struct scene scene = {.line = simulated_new(1, 0)};
    struct discipline_sample first = simulated_sample(&scene.line, 4000, 2000);
    discipline_observe(&scene.discipline, &first);
    simulated_wait(&scene.line, 10 * MS);
    return scene;
}

static void what_becomes_before_keeps_its_bound_and_its_growth(void **state)
{
    struct scene scene = vague_scene();
    struct discipline_output vague = publish(&scene, 4000);
    (void)state;
    assert_true(discipline_is_ready(&scene.discipline));
    struct discipline_output precise = publish(&scene, 40);
    assert_true(precise.lines.before.start_ticks == vague.lines.after.start_ticks);
    assert_true(precise.lines.before.maxerror_ns >= vague.lines.after.maxerror_ns);
    assert_true(precise.lines.before.drift_rate >= vague.lines.after.drift_rate);
    assert_true(precise.lines.after.maxerror_ns < vague.lines.after.maxerror_ns);
    assert_true(precise.lines.after.drift_rate < vague.lines.after.drift_rate);
}

static void what_becomes_before_keeps_the_claim_that_was_made_then(void **state)
{
    struct scene scene = vague_scene();
    (void)state;
    scene.maxerror_ns = 2000000;
    publish(&scene, 40);
    scene.maxerror_ns = 1000;
    struct discipline_output narrow = publish(&scene, 40);
    assert_true(utc_bound(&narrow.lines.before) >= 2000000);
    assert_int_equal(narrow.lines.after.utc_maxerror_ns, 1000);
    assert_true(utc_bound(&narrow.lines.after) < 2000000);
    scene.maxerror_ns = 3000000;
    struct discipline_output wide = publish(&scene, 40);
    assert_true(utc_bound(&wide.lines.before) >= 3000000);
}

/* A daemon that takes the lines up does not know better than who published them. */
static void lines_taken_up_keep_what_they_were_published_with(void **state)
{
    struct scene scene = vague_scene();
    (void)state;
    scene.maxerror_ns = 2000000;
    struct discipline_output old = publish(&scene, 40);
    discipline_adopt(&scene.discipline, &old.lines);
    scene.maxerror_ns = 1000;
    scene.growth_ppb = 900000;
    struct discipline_output next = publish(&scene, 40);
    assert_true(utc_bound(&next.lines.before) >= 2000000);
    assert_true(growth(&next.lines.before) >= growth(&old.lines.after));
}

/* The more of the growth the claim has, the less is left for slews: not for who was told before. */
static void what_becomes_before_keeps_its_allowance_for_slews(void **state)
{
    struct scene scene = vague_scene();
    struct discipline_output calm = publish(&scene, 40);
    (void)state;
    scene.growth_ppb = 400000;
    struct discipline_output slewing = publish(&scene, 40);
    assert_true(slewing.lines.after.slew_rate < calm.lines.after.slew_rate);
    assert_true(growth(&slewing.lines.before) >= growth(&calm.lines.after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_becomes_before_keeps_its_bound_and_its_growth),
        cmocka_unit_test(what_becomes_before_keeps_the_claim_that_was_made_then),
        cmocka_unit_test(lines_taken_up_keep_what_they_were_published_with),
        cmocka_unit_test(what_becomes_before_keeps_its_allowance_for_slews),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
