/* SPDX-License-Identifier: MIT */
/*
 * The system's clock is stepped, the machine sleeps, counter and reference part, the reference
 * fails: with the real counter and a reference of our own making. The host's clock is not touched.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase.h>

#include "clock/counter/probe.h"
#include "clock/own/own.h"
#include "../unit/held_lock.h"
#include "../unit/kernel_bracket.h"

#define MS 1000000
#define SECOND ((int64_t)1000000000)

/* CLOCK_MONOTONIC, moved. */
struct moved {
    int64_t by_ns, utc_offset_ns, suspended_ns;
    bool is_failing;
    bool has_taken; /* a sample that is told next, however much later that is */
    struct discipline_sample taken;
};

static int sample_moved(void *context, struct discipline_sample *sample)
{
    struct moved *moved = (struct moved *)context;
    static const struct discipline_sample empty;
    if (moved->is_failing)
        return TIMEBASE_E_REFERENCE;
    *sample = moved->has_taken ? moved->taken : empty;
    if (moved->has_taken) {
        moved->has_taken = false;
        return TIMEBASE_OK;
    }
    take_kernel_bracket(moved->by_ns, sample);
    sample->step_ticks = counter_measure_step();
    sample->utc_offset_ns = moved->utc_offset_ns;
    sample->suspended_ns = moved->suspended_ns;
    sample->maxerror_ns = 1000;
    sample->is_synchronized = true;
    return TIMEBASE_OK;
}

static int moment_moved(void *context, struct reference_moment *moment)
{
    const struct moved *moved = (const struct moved *)context;
    static const struct reference_moment empty;
    if (moved->is_failing)
        return TIMEBASE_E_REFERENCE;
    *moment = empty;
    moment->mono_ns = kernel_now(CLOCK_MONOTONIC) + moved->by_ns;
    moment->utc_offset_ns = moved->utc_offset_ns;
    moment->error_ns = 100000;
    return TIMEBASE_OK;
}

static const struct reference moved_reference = {
    .name = "moved", .sample = sample_moved, .moment = moment_moved};

#define READINGS_MAX 10000000

struct scene {
    struct moved moved;
    struct own_clock own;
    int64_t last_ns;
};

static const timebase_clock *clock_of(struct scene *scene)
{
    return own_handle(&scene->own);
}

static void read_on(struct scene *scene)
{
    int64_t now = timebase_mono_ns(clock_of(scene));
    if (now < scene->last_ns)
        fail_msg("%lld ns back", (long long)(scene->last_ns - now));
    scene->last_ns = now;
}

static void read_for(struct scene *scene, int64_t ns)
{
    for (int64_t end = kernel_now(CLOCK_MONOTONIC) + ns; kernel_now(CLOCK_MONOTONIC) < end;)
        read_on(scene);
}

static struct timebase_statistics statistics_of(struct scene *scene)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(clock_of(scene), &statistics), 0);
    return statistics;
}

/*
 * Compare with the reference now, and live with the lines that come of it. Returns the status that
 * the comparison left: on a slow machine the readings after it take samples enough to forgive.
 */
static uint32_t compare(struct scene *scene)
{
    while (timebase_clock_maintain(clock_of(scene)) == TIMEBASE_E_BUSY)
        read_on(scene);
    uint32_t status = statistics_of(scene).status;
    read_for(scene, 3 * MS);
    return status;
}

static void begin(struct scene *scene)
{
    const struct moved nowhere = {.by_ns = SECOND, .utc_offset_ns = 1000 * SECOND};
    const struct own_clock own = OWN_CLOCK_INITIALIZER(&moved_reference, &scene->moved);
    scene->moved = nowhere;
    scene->own = own;
    scene->last_ns = 0;
    read_for(scene, 40 * MS);
    /* A thread that was held up has no lines yet, and is told the reference's own time. */
    for (int i = 0; i < READINGS_MAX && !scene->own.servo.discipline.has_plan; i++)
        read_on(scene);
    assert_true(scene->own.servo.discipline.has_plan);
}

/*
 * By 5 s. What the next comparison will see of it was seen while the present lines were still
 * followed. A sample after their end would tell of a counter that leapt over it, which is another
 * story.
 */
static void fall_back(struct scene *scene)
{
    struct discipline_sample sample;
    bool is_in_time = false;
    for (int i = 0; i < READINGS_MAX && !is_in_time; i++) {
        read_on(scene);
        scene->moved.by_ns -= 5 * SECOND;
        sample_moved(&scene->moved, &sample);
        is_in_time = (int64_t)(sample.ticks_after - servo_followed_ticks(cell_lines_page(&scene->own.cell))) < 0;
        scene->moved.by_ns += is_in_time ? 0 : 5 * SECOND;
    }
    assert_true(is_in_time);
    scene->moved.taken = sample;
    scene->moved.has_taken = true;
}

static void assert_follows_reference(struct scene *scene)
{
    struct timebase_instant now;
    int64_t before = kernel_now(CLOCK_MONOTONIC) + scene->moved.by_ns;
    timebase_now(clock_of(scene), &now);
    int64_t after = kernel_now(CLOCK_MONOTONIC) + scene->moved.by_ns;
    int64_t error = (int64_t)now.maxerror_ns;
    assert_true(before - error <= now.mono_ns && now.mono_ns <= after + error);
    assert_true(now.utc_ns - now.mono_ns == scene->moved.utc_offset_ns);
}

static uint64_t error_of(struct scene *scene)
{
    struct timebase_instant now;
    timebase_now(clock_of(scene), &now);
    return now.maxerror_ns;
}

static void a_step_of_utc_moves_utc_alone_and_is_counted(void **state)
{
    static const int64_t steps[] = {50 * MS, -50 * MS, 2 * SECOND, -2 * SECOND};
    static struct scene scene;
    (void)state;
    begin(&scene);
    struct timebase_page *page = cell_lines_page(&scene.own.cell);
    for (unsigned i = 0; i < 4; i++) {
        scene.moved.utc_offset_ns += steps[i];
        compare(&scene);
        struct timebase_statistics statistics = statistics_of(&scene);
        assert_true(statistics.utc_steps == i + 1);
        assert_true(statistics.last_utc_step_ns == steps[i]);
        assert_true(page->utc_step_count == i + 1);
        assert_true(statistics.counter_jumps == 0 && statistics.counter_backwards == 0);
        assert_follows_reference(&scene);
        assert_true(error_of(&scene) < (uint64_t)MS);
        read_for(&scene, 10 * MS);
    }
}

static bool is_followed_by_utc(struct scene *scene)
{
    struct timebase_instant now;
    timebase_now(clock_of(scene), &now);
    return now.utc_ns - now.mono_ns == scene->moved.utc_offset_ns;
}

/* By readers alone, without anybody who maintains. */
static void a_step_of_utc_is_noticed_in_the_course_of_reading(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    scene.moved.utc_offset_ns += 7;
    for (int i = 0; i < READINGS_MAX && !is_followed_by_utc(&scene); i++)
        read_on(&scene);
    assert_true(is_followed_by_utc(&scene));
    assert_true(statistics_of(&scene).utc_steps == 1);
    assert_follows_reference(&scene);
}

static void a_sleep_in_which_the_counter_stood_still_moves_utc_alone(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    uint64_t marker = cell_lines_page(&scene.own.cell)->disruption_marker;
    scene.moved.suspended_ns += 10 * SECOND;
    scene.moved.utc_offset_ns += 10 * SECOND;
    compare(&scene);
    assert_true(statistics_of(&scene).suspends == 1);
    assert_true(statistics_of(&scene).counter_jumps == 0);
    assert_true(cell_lines_page(&scene.own.cell)->disruption_marker == marker + 1);
    assert_follows_reference(&scene);
}

static void a_reference_that_runs_ahead_of_the_counter_is_caught_up_with_at_once(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    uint64_t marker = cell_lines_page(&scene.own.cell)->disruption_marker;
    scene.moved.by_ns += 5 * SECOND;
    uint32_t status = compare(&scene);
    struct timebase_statistics statistics = statistics_of(&scene);
    assert_true(statistics.counter_jumps == 1 && statistics.suspends == 0);
    assert_string_equal(timebase_status_name(status), "UNRELIABLE");
    assert_true(cell_lines_page(&scene.own.cell)->disruption_marker == marker + 1);
    assert_follows_reference(&scene);
    assert_true(error_of(&scene) < 10 * (uint64_t)MS);
}

static void a_reference_that_falls_back_is_waited_for_and_the_bound_says_how_far(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    int64_t begun_ns = kernel_now(CLOCK_MONOTONIC);
    fall_back(&scene);
    compare(&scene);
    assert_true(statistics_of(&scene).counter_jumps == 1);
    int64_t error_ns = (int64_t)error_of(&scene); /* shrinks as the reference comes nearer */
    assert_true(error_ns + kernel_now(CLOCK_MONOTONIC) - begun_ns >= 4 * SECOND);
    assert_follows_reference(&scene);
    read_for(&scene, 20 * MS);
    compare(&scene);
    assert_follows_reference(&scene);
}

static void a_clock_is_trusted_again_some_samples_after_a_jump(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    scene.moved.by_ns += 5 * SECOND;
    compare(&scene);
    for (int i = 0; i < 4; i++) {
        read_for(&scene, 10 * MS);
        compare(&scene);
    }
    assert_int_not_equal(statistics_of(&scene).status, TIMEBASE_STATUS_UNRELIABLE);
    assert_true(statistics_of(&scene).counter_jumps == 1);
    assert_follows_reference(&scene);
}

static void a_failing_reference_makes_the_bound_grow_and_breaks_nothing(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    compare(&scene);
    uint64_t error = error_of(&scene);
    scene.moved.is_failing = true;
    int failed;
    while ((failed = timebase_clock_maintain(clock_of(&scene))) == TIMEBASE_E_BUSY)
        read_on(&scene);
    assert_int_equal(failed, TIMEBASE_E_REFERENCE);
    read_for(&scene, 600 * MS);
    assert_true(statistics_of(&scene).reference_failures > 0);
    assert_true(error_of(&scene) > error);
    assert_follows_reference(&scene);
    scene.moved.is_failing = false;
    read_for(&scene, 200 * MS);
    compare(&scene);
    assert_follows_reference(&scene);
    assert_true(statistics_of(&scene).counter_jumps == 0);
}

/* Nobody renews the lines, the reference is far behind them: what was told is kept, and told off.
 */
static void a_reading_held_above_a_reference_that_fell_back_says_how_far(void **state)
{
    static struct scene scene;
    static struct held_lock held;
    (void)state;
    begin(&scene);
    uint64_t followed = servo_followed_ticks(cell_lines_page(&scene.own.cell));
    held_lock_begin(&held, &scene.own.cell);
    while ((int64_t)(timebase_ticks_ordered() - followed) <= 0)
        ;
    scene.moved.by_ns -= 5 * SECOND;
    assert_follows_reference(&scene);
    held_lock_end(&held);
}

static void a_clock_without_any_reference_says_that_it_knows_nothing(void **state)
{
    static struct scene scene;
    const struct own_clock own = OWN_CLOCK_INITIALIZER(&moved_reference, &scene.moved);
    struct timebase_instant now, then;
    struct timebase_interval when;
    (void)state;
    scene.own = own;
    scene.moved.is_failing = true;
    timebase_now(clock_of(&scene), &now);
    assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNKNOWN);
    assert_true(now.maxerror_ns >= (uint64_t)1 << 60);
    assert_int_equal(timebase_utc_interval(clock_of(&scene), &when), TIMEBASE_STATUS_UNKNOWN);
    timebase_at(clock_of(&scene), 5, &then);
    assert_int_equal(then.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNKNOWN);
    assert_true(then.maxerror_ns >= (uint64_t)1 << 60);
    assert_int_equal(timebase_clock_maintain(clock_of(&scene)), TIMEBASE_E_REFERENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_utc_moves_utc_alone_and_is_counted),
        cmocka_unit_test(a_step_of_utc_is_noticed_in_the_course_of_reading),
        cmocka_unit_test(a_sleep_in_which_the_counter_stood_still_moves_utc_alone),
        cmocka_unit_test(a_reference_that_runs_ahead_of_the_counter_is_caught_up_with_at_once),
        cmocka_unit_test(a_reference_that_falls_back_is_waited_for_and_the_bound_says_how_far),
        cmocka_unit_test(a_clock_is_trusted_again_some_samples_after_a_jump),
        cmocka_unit_test(a_failing_reference_makes_the_bound_grow_and_breaks_nothing),
        cmocka_unit_test(a_reading_held_above_a_reference_that_fell_back_says_how_far),
        cmocka_unit_test(a_clock_without_any_reference_says_that_it_knows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
