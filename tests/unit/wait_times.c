/* SPDX-License-Identifier: MIT */
/*
 * Targets as times: the tick waited for is theirs; a stepped system clock is followed to the end; a
 * clock without a reference is no clock. The host's clock is not touched.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "moved_reference.h"
#include "waiting.h"

#define HOUR (3600 * SECOND)
#define WAITS_HELD_UP 100
#define TOLERANCE_NS (100 * MICROSECOND) /* another line, in the first second of a clock's life */

static struct dice dice;

static void assert_near(int64_t a, int64_t b, int64_t tolerance)
{
    if (a - b > tolerance || b - a > tolerance)
        fail_msg("%lld and %lld differ by %lld", (long long)a, (long long)b, (long long)(a - b));
}

static void a_time_is_waited_for_at_its_tick(void **state)
{
    static const enum way ways[] = {UNTIL_MONO, CALL_MONO, UNTIL_UTC, CALL_UTC};
    const timebase_clock *clock = timebase_clock_default();
    (void)state;
    for (int i = 0; i < 400; i++) {
        enum way way = ways[i % 4];
        int is_utc = way == UNTIL_UTC || way == CALL_UTC;
        struct timebase_wait_result result;
        int64_t target = target_in(way, (int64_t)dice_below(&dice, 50000));
        assert_true(wait_by(the_waiter(), way, target, (unsigned)i & EVERY_FLAG, &result) >= 0);
        int64_t told = is_utc ? timebase_utc_at_ns(clock, result.target_ticks)
                              : timebase_mono_at_ns(clock, result.target_ticks);
        assert_near(told, target, TOLERANCE_NS);
        assert_true((double)(int64_t)(result.event_ticks - result.target_ticks) >
                    -20000 * ticks_per_ns());
    }
}

/* ---- a clock of our own ------------------------------------------------------------------- */

static struct own_clock own;
static struct timebase_waiter own_waiter;

/* Its lines are there and it has become used to them: the next look comes 100 ms later. */
static const timebase_clock *begin(void)
{
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(&moved_reference, NULL);
    const struct timespec between_readings = {.tv_nsec = MILLISECOND};
    own = fresh;
    draw_first_lines(&own);
    assert_int_equal(timebase_waiter_init(&own_waiter, own_handle(&own)), 0);
    for (int64_t end = kernel_now(CLOCK_MONOTONIC) + 400 * MILLISECOND;
         kernel_now(CLOCK_MONOTONIC) < end; nanosleep(&between_readings, NULL))
        timebase_utc_ns(own_handle(&own));
    return own_handle(&own);
}

static int64_t true_utc(void)
{
    return moved_now() + moved_utc_offset_ns;
}

/*
 * Nobody but the wait looks at the clock. An hour is longer than this test may take. The time
 * jumps over the target: its tick is that of the jump.
 */
static void assert_follows_a_step_towards(unsigned flags)
{
    const timebase_clock *clock = begin();
    struct timebase_wait_result result;
    int64_t target = timebase_utc_ns(clock) + HOUR;
    moved_utc_offset_ns += HOUR;
    assert_true(timebase_wait_until_utc(&own_waiter, target, flags, &result) >= 0);
    assert_true(timebase_utc_at_ns(clock, result.target_ticks) >= target - TOLERANCE_NS);
}

static void a_step_towards_the_target_ends_a_wait(void **state)
{
    (void)state;
    assert_follows_a_step_towards(0);
    assert_follows_a_step_towards(TIMEBASE_WAIT_PLAIN | TIMEBASE_WAIT_SAVE_POWER);
}

static void a_step_towards_the_target_ends_a_sleeping_wait(void **state)
{
    (void)state;
    assert_follows_a_step_towards(TIMEBASE_WAIT_SLEEP);
}

static bool knows_the_step(const struct timebase_line *line)
{
    return timebase_line_utc_offset_ns(line) == moved_utc_offset_ns;
}

/* Did lines that begin before the target know of the step? The wait converts its target after each
 * look at the clock, so it has met them. */
static bool has_been_told(uint64_t target_ticks)
{
    const struct timebase_page *page = cell_lines_page(&own.cell);
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    bool has_begun = (int64_t)(target_ticks - lines->slew.start_ticks) >= 0;
    return knows_the_step(&lines->before) || (knows_the_step(&lines->slew) && has_begun);
}

/*
 * The clock looks at its reference every 100 ms, and the target is further away than that. A thread
 * that was held up for long has had no look in time: false.
 */
static bool has_followed_a_step_away(unsigned flags, bool is_lost)
{
    const timebase_clock *clock = begin();
    struct timebase_wait_result result;
    int64_t target = timebase_utc_ns(clock) + 300 * MILLISECOND;
    moved_utc_offset_ns -= 400 * MILLISECOND;
    moved_is_lost = is_lost;
    assert_true(timebase_wait_until_utc(&own_waiter, target, flags, &result) >= 0);
    bool is_over = true_utc() >= target - TOLERANCE_NS;
    moved_is_lost = false;
    assert_true(is_over || result.late || !has_been_told(result.target_ticks));
    return is_over;
}

static void assert_follows_a_step_away(unsigned flags)
{
    for (int i = 0; i < WAITS_HELD_UP; i++)
        if (has_followed_a_step_away(flags, false))
            return;
    fail_msg("each of %d waits was held up for 200 ms", WAITS_HELD_UP);
}

/* As one that is held up from its first look to its last moment: it may end in time, and not late. */
static void a_step_that_no_look_has_shown_is_not_followed(void **state)
{
    (void)state;
    assert_false(has_followed_a_step_away(0, true));
}

static void a_step_away_from_the_target_is_waited_for_too(void **state)
{
    (void)state;
    assert_follows_a_step_away(0);
    assert_follows_a_step_away(TIMEBASE_WAIT_SLEEP);
    assert_follows_a_step_away(TIMEBASE_WAIT_NEVER_EARLY | TIMEBASE_WAIT_SAVE_POWER);
}

/* Monotonic time and ticks take no notice. */
static void a_step_of_utc_moves_no_other_target(void **state)
{
    const timebase_clock *clock = begin();
    struct timebase_wait_result result;
    (void)state;
    int64_t target = timebase_mono_ns(clock) + 300 * MILLISECOND;
    moved_utc_offset_ns -= HOUR;
    assert_true(timebase_wait_until_mono(&own_waiter, target, 0, &result) >= 0);
    assert_near(timebase_mono_at_ns(clock, result.target_ticks), target, TOLERANCE_NS);
}

/* ---- no clock ----------------------------------------------------------------------------- */

static int sample_nothing(void *context, struct discipline_sample *sample)
{
    (void)context, (void)sample;
    return TIMEBASE_E_REFERENCE;
}

static int moment_of_nothing(void *context, struct reference_moment *moment)
{
    (void)context, (void)moment;
    return TIMEBASE_E_REFERENCE;
}

static const struct reference no_reference = {"none", sample_nothing, moment_of_nothing, NULL};

static void time_that_is_not_known_cannot_be_waited_for_but_ticks_can(void **state)
{
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(&no_reference, NULL);
    struct timebase_wait_result result;
    (void)state;
    own = fresh;
    assert_int_equal(timebase_waiter_init(&own_waiter, own_handle(&own)), 0);
    forget_event();
    for (enum way way = 0; way < WAYS; way++) {
        if (way == UNTIL_TICKS || way == CALL_TICKS)
            continue;
        assert_int_equal(wait_by(&own_waiter, way, target_in(way, 1000), 0, &result),
                         TIMEBASE_E_UNSUPPORTED);
        assert_int_equal(wait_by(&own_waiter, way, -5, TIMEBASE_WAIT_SLEEP, NULL),
                         TIMEBASE_E_UNSUPPORTED);
    }
    assert_int_equal(event.calls, 0);
    uint64_t target = timebase_ticks() + 20000;
    assert_true(timebase_wait_call_ticks(&own_waiter, target, TIMEBASE_WAIT_NEVER_EARLY, note_event,
                                         &event, &result) >= 0);
    assert_int_equal(event.calls, 1);
    assert_true((int64_t)(event.ticks - target) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_waited_for_at_its_tick),
        cmocka_unit_test(a_step_towards_the_target_ends_a_wait),
        cmocka_unit_test(a_step_towards_the_target_ends_a_sleeping_wait),
        cmocka_unit_test(a_step_away_from_the_target_is_waited_for_too),
        cmocka_unit_test(a_step_that_no_look_has_shown_is_not_followed),
        cmocka_unit_test(a_step_of_utc_moves_no_other_target),
        cmocka_unit_test(time_that_is_not_known_cannot_be_waited_for_but_ticks_can),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
