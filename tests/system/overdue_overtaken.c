/* SPDX-License-Identifier: MIT */
/*
 * A reader whose lines are overdue, and whose renewer does not get on, goes on by them on its own.
 * It is stopped at each of its instructions while new lines are published. Whatever it then says is
 * no later than what others read by the new lines, and no earlier than what the old ones have told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../unit/held_lock.h"
#include "../unit/moved_reference.h"
#include "clock/line/lines.h"
#include "clock/page/publish.h"
#include "single_step.h"
#include "skipped.h"

#define STEPS 200000
#define SECOND 1000000000LL
#define REFRESH_TICKS ((uint64_t)1 << 36) /* new lines end in seconds, at the least */

struct scene {
    struct single_step marks;
    struct own_clock own;
    int64_t mono_ns;
};

static struct scene *scene;
static struct timebase_lines old; /* overdue */
static uint64_t old_refresh_ticks;

/* The reference, which stops the reader where it begins to go on by itself. */
static int moment_stopped(void *context, struct reference_moment *moment)
{
    if (!scene->marks.has_begun)
        raise(SIGSTOP);
    scene->marks.has_begun = 1;
    return moment_moved(context, moment);
}

static const struct reference stopped_reference = {"stopped", sample_moved, moment_stopped, NULL};

static void read_overdue_lines(void)
{
    static struct held_lock held; /* its thread outlives this frame */
    held_lock_begin(&held, &scene->own.cell);
    scene->mono_ns = timebase_mono_ns(own_handle(&scene->own));
    scene->marks.has_ended = 1;
}

static struct timebase_page *page_of_scene(void)
{
    return cell_lines_page(&scene->own.cell);
}

static void draw_overdue_lines(void)
{
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(&stopped_reference, NULL);
    scene->own = fresh;
    scene->marks.has_begun = 1;
    draw_first_lines(&scene->own);
    assert_true(publish_read_back(page_of_scene(), &old));
    old_refresh_ticks = page_of_scene()->refresh_ticks;
    while ((int64_t)(timebase_ticks_ordered() - servo_followed_ticks(page_of_scene())) <= 0)
        ;
}

/* Stopped in the first look at the reference, which it makes because its lines are overdue. */
static pid_t start_reader(void)
{
    int status;
    scene->marks.has_begun = scene->marks.has_ended = 0;
    publish_lines(page_of_scene(), &old, old_refresh_ticks);
    if (is_emulated())
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        read_overdue_lines();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
        return -1;
    return child;
}

/* The same line, from now on, for long. */
static void publish_new_lines(void)
{
    struct timebase_lines lines = old;
    uint64_t now = timebase_ticks_ordered();
    lines.before = *lines_line(&old, now);
    lines.after = lines.before;
    lines.after.start_ticks = now;
    lines.after.mono_ns = (uint64_t)lines_mono_ns(&old, now);
    lines.after.utc_ns = lines.after.mono_ns + (lines.before.utc_ns - lines.before.mono_ns);
    lines.slew = lines.after;
    publish_lines(page_of_scene(), &lines, REFRESH_TICKS);
}

static int64_t by_new_lines(void)
{
    struct timebase_instant now;
    assert_true(timebase_page_convert(page_of_scene(), timebase_ticks_ordered(), &now));
    return now.mono_ns;
}

static unsigned count_steps(void)
{
    pid_t child = start_reader();
    if (child < 0)
        return 0;
    unsigned steps = single_step_many(&scene->marks, child, (unsigned)-1);
    single_step_kill(child);
    return steps;
}

static void a_reader_by_overdue_lines_is_not_ahead_of_new_ones(void **state)
{
    (void)state;
    draw_overdue_lines();
    int64_t told_ns = lines_mono_ns(&old, servo_followed_ticks(page_of_scene()));
    unsigned steps = count_steps();
    if (steps == 0)
        skip_because("no child can be single-stepped here (sandbox or emulation)");
    unsigned stride = single_step_stride(steps, STEPS);
    for (unsigned at = 0; at <= steps; at = single_step_next(at, stride, steps)) {
        pid_t child = start_reader();
        assert_true(child > 0);
        single_step_many(&scene->marks, child, at);
        publish_new_lines();
        assert_true(single_step_finish(child));
        int64_t now_ns = by_new_lines();
        if (scene->mono_ns > now_ns)
            fail_msg("instruction %u: %lld ns ahead", at, (long long)(scene->mono_ns - now_ns));
        assert_true(scene->mono_ns >= told_ns);
    }
    print_message("%u instructions, every %u\n", steps, stride);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_by_overdue_lines_is_not_ahead_of_new_ones),
    };
    scene = single_step_memory(sizeof(*scene));
    if (scene == NULL)
        return 1;
    return run_all(tests);
}
