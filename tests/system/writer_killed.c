/* SPDX-License-Identifier: MIT */
/*
 * A writer of a shared page is killed after each instruction of a publication. Readers get the old
 * publication or the new one, whole, and the next writer goes on from there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "numbered_writer.h"
#include "single_step.h"
#include "skipped.h"

#define STEPS 100000

struct scene {
    struct single_step marks;
    struct timebase_page page;
};

static struct scene *scene;
static uint64_t origin;

static void publish_new(void)
{
    struct timebase_lines lines = numbered_lines(origin, NEW, NUMBERED_AFTER);
    scene->marks.has_begun = 1;
    publish_lines(&scene->page, &lines, NUMBERED_REFRESH);
    scene->marks.has_ended = 1;
}

static void set_scene(void)
{
    old_page(&scene->page, origin);
}

static int64_t seen(void)
{
    return seen_number(&scene->page, origin);
}

static unsigned instructions(void)
{
    set_scene();
    unsigned steps = single_step_count(&scene->marks, publish_new);
    if (steps == 0)
        skip_because("no child can be single-stepped here (sandbox or emulation)");
    return steps;
}

static void readers_see_the_old_or_the_new_after_each_instruction(void **state)
{
    (void)state;
    unsigned steps = instructions();
    set_scene();
    pid_t child = single_step_start(&scene->marks, publish_new);
    assert_true(child > 0);
    int64_t number = seen(), changes = 0;
    assert_int_equal(number, OLD);
    while (single_step_many(&scene->marks, child, 1) == 1) {
        int64_t now = seen();
        assert_true(now == number || now == number + 1);
        changes += now != number;
        number = now;
    }
    single_step_kill(child);
    print_message("%u instructions\n", steps);
    assert_int_equal(number, NEW);
    assert_int_equal(changes, 1);
}

/* Killed in earnest; then somebody adopts the page and publishes. */
static void the_next_writer_goes_on_wherever_the_last_was_killed(void **state)
{
    (void)state;
    unsigned steps = instructions(), olds = 0, news = 0;
    unsigned stride = single_step_stride(steps, STEPS);
    for (unsigned killed_after = 0; killed_after <= steps;
         killed_after = single_step_next(killed_after, stride, steps)) {
        set_scene();
        pid_t child = single_step_start(&scene->marks, publish_new);
        assert_true(child > 0);
        single_step_many(&scene->marks, child, killed_after);
        single_step_kill(child);
        int64_t number = seen();
        assert_true(number == OLD || number == NEW);
        olds += number == OLD;
        news += number == NEW;
        for (int64_t next = number + 1; next <= NEXT + 1; next++) {
            publish_number(&scene->page, origin, (uint64_t)next);
            assert_int_equal(seen(), next);
        }
    }
    print_message("killed %u times: %u times the old publication, %u times the new one\n",
                  olds + news, olds, news);
    assert_true(olds > 0);
    assert_true(news > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_the_old_or_the_new_after_each_instruction),
        cmocka_unit_test(the_next_writer_goes_on_wherever_the_last_was_killed),
    };
    scene = single_step_memory(sizeof(*scene));
    if (scene == NULL)
        return 1;
    origin = timebase_arch_ticks_ordered();
    return run_all(tests);
}
