/* SPDX-License-Identifier: MIT */
/*
 * A reader is stopped at each of its instructions, for none to three publications. Whatever it
 * then says is of one publication, which was the newest at some moment of the reading.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "numbered_page.h"
#include "clock/page/publish.h"
#include "single_step.h"
#include "skipped.h"

#define STEPS 12000 /* for each reader, line and number of publications */
#define STEPS_MAX 50000
enum { FIRST = 6, INSERTED_MAX = 3 };

struct scene {
    struct single_step marks;
    struct timebase_page page;
    struct timebase_instant instant;
    bool is_read;
};

static struct scene *scene;
static uint64_t origin;
static int line; /* that the reading is on */

static void publish_number(uint64_t number)
{
    struct timebase_lines lines = numbered_lines(origin, number, line);
    publish_lines(&scene->page, &lines, NUMBERED_REFRESH);
}

static void set_scene(void)
{
    static const struct timebase_page none;
    scene->page = none;
    publish_begin(&scene->page, (int)TIMEBASE_ARCH_COUNTER);
    for (uint64_t number = 1; number <= FIRST; number++)
        publish_number(number);
    scene->is_read = false;
}

/* One that was overtaken says so, and clocks then look again. */
static void read_now(void)
{
    scene->marks.has_begun = 1;
    for (int attempt = 0; attempt < 2 && !scene->is_read; attempt++)
        scene->is_read = timebase_page_read(&scene->page, 1, TIMEBASE_WANT_ALL, &scene->instant);
    scene->marks.has_ended = 1;
}

static void read_at(void)
{
    scene->marks.has_begun = 1;
    scene->is_read = timebase_page_convert(&scene->page, origin, &scene->instant);
    scene->marks.has_ended = 1;
}

/* The instant is worked out from the tick that comes back: on monotonic time all lines agree. */
static void read_inverse(void)
{
    uint64_t ticks = 0;
    scene->marks.has_begun = 1;
    scene->is_read = timebase_page_ticks_at_mono(&scene->page, NUMBERED_BASE_NS, &ticks);
    scene->marks.has_ended = 1;
    scene->instant.ticks = ticks;
}

/* The inverse of publication n is n steps before the origin. */
static int64_t number_of(void (*reader)(void))
{
    if (reader != read_inverse)
        return numbered_number(&scene->instant, origin, (unsigned)line);
    uint64_t back = origin - scene->instant.ticks;
    return back % NUMBERED_STEP_NS == 0 ? (int64_t)(back / NUMBERED_STEP_NS) : -1;
}

/* The number read after `inserted` publications at one boundary. */
static int64_t read_with(void (*reader)(void), unsigned boundary, unsigned inserted)
{
    set_scene();
    pid_t child = single_step_start(&scene->marks, reader);
    assert_true(child > 0);
    single_step_many(&scene->marks, child, boundary);
    for (unsigned i = 1; i <= inserted; i++)
        publish_number(FIRST + i);
    assert_true(single_step_finish(child));
    assert_true(scene->is_read);
    return number_of(reader);
}

static void expect_one_publication(void (*reader)(void), const char *name)
{
    set_scene();
    unsigned steps = single_step_count(&scene->marks, reader);
    if (steps == 0)
        skip_because("no child can be single-stepped here (sandbox or emulation)");
    if (steps > STEPS_MAX)
        skip_because("instrumented code is too long to be stepped through");
    unsigned stride = single_step_stride(steps, STEPS);
    unsigned reads = 0, firsts = 0, lasts = 0;
    for (unsigned inserted = 0; inserted <= INSERTED_MAX; inserted++)
        for (unsigned boundary = 0; boundary <= steps;
             boundary = single_step_next(boundary, stride, steps)) {
            int64_t number = read_with(reader, boundary, inserted);
            /* One stop: nobody could see what lay between the old and the newest. */
            assert_true(number == FIRST || number == FIRST + inserted);
            reads++;
            firsts += number == FIRST && inserted > 0;
            lasts += number == FIRST + inserted && inserted > 0;
        }
    print_message("%s, line %d: %u instructions, %u reads, %u of the first and %u of the last "
                  "publication\n",
                  name, line, steps, reads, firsts, lasts);
    assert_true(firsts > 0);
    assert_true(lasts > 0);
}

static void on_each_line(void (*reader)(void), const char *name)
{
    for (line = NUMBERED_BEFORE; line <= NUMBERED_AFTER; line++)
        expect_one_publication(reader, name);
}

static void a_reading_of_now_is_of_one_publication(void **state)
{
    (void)state;
    on_each_line(read_now, "now");
}

static void a_conversion_is_of_one_publication(void **state)
{
    (void)state;
    on_each_line(read_at, "at");
}

static void an_inverse_is_of_one_publication(void **state)
{
    (void)state;
    line = NUMBERED_AFTER;
    expect_one_publication(read_inverse, "inverse");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reading_of_now_is_of_one_publication),
        cmocka_unit_test(a_conversion_is_of_one_publication),
        cmocka_unit_test(an_inverse_is_of_one_publication),
    };
    scene = single_step_memory(sizeof(*scene));
    if (scene == NULL)
        return 1;
    origin = timebase_arch_ticks_ordered();
    return run_all(tests);
}
