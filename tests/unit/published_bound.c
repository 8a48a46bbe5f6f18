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
};

/* A sample with so wide a bracket, and the lines that follow from it. */
static struct discipline_output publish(struct scene *scene, uint64_t bracket)
{
    struct discipline_sample sample = simulated_sample(&scene->line, bracket, bracket / 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_becomes_before_keeps_its_bound_and_its_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
