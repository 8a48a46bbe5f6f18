/* SPDX-License-Identifier: MIT */
/* What is shown of copied lines: one at a time, not past the next one, not for more than a lease.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "clock/attach/view.h"
#include "dice.h"

#define MS 1000000
#define LEASE ((uint64_t)TIMEBASE_PAGE_LEASE_NS)

/* A tick is a nanosecond, more or less ppm millionths of it. */
static struct timebase_line line_of(uint64_t start, uint64_t mono_ns, int ppm)
{
    struct timebase_line line = {.start_ticks = start, .mono_ns = mono_ns, .period_ns = ppm >= 0};
    line.period_frac = (uint64_t)(int64_t)ppm * (UINT64_MAX / 1000000);
    line.flags = TIMEBASE_STATUS_SYNCHRONIZED;
    line.maxerror_ns = 1000;
    return line;
}

/* before from 0, slew from 100 ms, after from 105 ms. */
static struct timebase_lines some_lines(void)
{
    struct timebase_lines lines = {line_of(0, 0, 0), line_of(100 * MS, 100 * MS, 500),
                                   line_of(105 * MS, 105 * MS + 2500, 0)};
    return lines;
}

static void assert_view(const struct view *view, const struct timebase_line *line, uint64_t end)
{
    assert_memory_equal(&view->lines.after, line, sizeof(*line));
    assert_int_equal(view_end(view), end);
}

static void a_line_is_shown_for_a_lease(void **state)
{
    struct timebase_lines lines = some_lines();
    struct view early = view_at(&lines, 10 * MS), late = view_at(&lines, 300 * MS);
    (void)state;
    assert_view(&early, &lines.before, 10 * MS + LEASE);
    assert_view(&late, &lines.after, 300 * MS + LEASE);
}

static void or_until_the_next_one_begins(void **state)
{
    struct timebase_lines lines = some_lines();
    struct view before = view_at(&lines, 99 * MS), last = view_at(&lines, 100 * MS - 1);
    struct view slew = view_at(&lines, 100 * MS), after = view_at(&lines, 105 * MS);
    (void)state;
    assert_view(&before, &lines.before, 100 * MS - 1);
    assert_view(&last, &lines.before, 100 * MS - 1);
    assert_view(&slew, &lines.slew, 105 * MS - 1);
    assert_view(&after, &lines.after, 105 * MS + LEASE);
}

/* A reader's tick by the shown lines, or INT64_MIN if they send it to the slow path. */
static int64_t shown_ns(const struct view *view, uint64_t ticks)
{
    struct timebase_instant instant;
    uint64_t d;
    const struct timebase_line *line =
        timebase_page_line_now(&view->lines, ticks, view->refresh_ticks, &d);
    if (line == NULL)
        return INT64_MIN;
    timebase_line_convert(line, d, TIMEBASE_WANT_ALL, &instant);
    return instant.mono_ns;
}

static void whatever_is_shown_is_what_the_lines_say(void **state)
{
    struct timebase_lines lines = some_lines();
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = dice_below(&dice, 200 * MS);
        struct view view = view_at(&lines, now);
        uint64_t ticks = now + dice_below(&dice, 2 * LEASE);
        int64_t shown = shown_ns(&view, ticks);
        assert_true(shown == INT64_MIN || shown == view_mono_ns(&lines, ticks));
        assert_true((shown == INT64_MIN) == (ticks > view_end(&view)));
        assert_true(view_end(&view) <= now + LEASE);
    }
}

static void the_counter_may_wrap(void **state)
{
    struct timebase_lines lines = some_lines();
    (void)state;
    lines.before.start_ticks -= 102 * MS;
    lines.slew.start_ticks -= 102 * MS;
    lines.after.start_ticks -= 102 * MS;
    struct view view = view_at(&lines, (uint64_t)-MS);
    assert_view(&view, &lines.slew, 3 * MS - 1);
}

/* They began while they were looked for, or the counter went back: not shown without end. */
static void lines_still_to_come_are_not_shown_for_ever(void **state)
{
    struct timebase_lines lines = some_lines(), one = lines;
    (void)state;
    lines.before.start_ticks = one.before.start_ticks = one.slew.start_ticks = 50 * MS;
    for (uint64_t now = 0; now < 50 * MS; now += MS / 2) {
        struct view view = view_at(&lines, now), only = view_at(&one, now);
        assert_int_equal(shown_ns(&view, 50 * MS + LEASE), INT64_MIN);
        assert_int_equal(shown_ns(&only, 50 * MS + LEASE), INT64_MIN);
    }
}

/* From the floor on, never below it, slower by 1 in `divisor`, until the lines have caught up. */
static void assert_joined(int64_t gap_ns, int64_t divisor)
{
    struct timebase_lines lines = some_lines();
    uint64_t start = 200 * MS;
    int64_t floor_ns = view_mono_ns(&lines, start) + gap_ns;
    struct timebase_line old = line_of(0, (uint64_t)gap_ns, 0);
    struct view view = view_join(&lines, &old, start, floor_ns);
    uint64_t end = view_end(&view);
    assert_int_equal(shown_ns(&view, start), floor_ns);
    assert_true(shown_ns(&view, start - 1) <= floor_ns);
    assert_true(end <= start + LEASE);
    int64_t left_ns = shown_ns(&view, end) - view_mono_ns(&lines, end);
    int64_t made_good_ns = (int64_t)(end - start) / divisor;
    assert_true(left_ns >= gap_ns - made_good_ns - 1 && left_ns <= gap_ns - made_good_ns + 1);
    assert_true(end == start + LEASE || left_ns <= 1);
    assert_int_equal(view.lines.after.maxerror_ns, 1000 + gap_ns);
}

static void lines_below_the_floor_are_joined_from_there(void **state)
{
    (void)state;
    assert_joined(1, 2000);
    assert_joined(777, 2000);
    assert_joined(MS, 2000);
    assert_joined(MS + 1, 2);
    assert_joined(9 * MS, 2);
    assert_joined(3600000000000, 2);
}

static int silence(uint64_t ns, uint32_t status, uint32_t *flags)
{
    struct timebase_lines lines = some_lines();
    lines.before.flags = lines.slew.flags = lines.after.flags = status | TIMEBASE_LINE_TAI_VALID;
    int state = view_silence(&lines, 50 * MS, 155 * MS + ns);
    assert_int_equal(lines.before.flags, lines.after.flags);
    assert_int_equal(lines.slew.flags, lines.after.flags);
    *flags = lines.after.flags;
    return state;
}

#define TAI(status) ((uint32_t)(status) | TIMEBASE_LINE_TAI_VALID)

static void silence_is_told_after_its_time(void **state)
{
    uint32_t flags;
    (void)state;
    assert_int_equal(silence((uint64_t)-MS, 2, &flags), TIMEBASE_ATTACHMENT_CURRENT);
    assert_int_equal(silence(TIMEBASE_PAGE_SILENT_NS - 1, 2, &flags), TIMEBASE_ATTACHMENT_CURRENT);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_SYNCHRONIZED));
    assert_int_equal(silence(TIMEBASE_PAGE_SILENT_NS, 2, &flags), TIMEBASE_ATTACHMENT_SILENT);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_FREERUNNING));
    assert_int_equal(silence(TIMEBASE_PAGE_EXPIRED_NS - 1, 1, &flags), TIMEBASE_ATTACHMENT_SILENT);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_FREERUNNING));
    assert_int_equal(silence(TIMEBASE_PAGE_EXPIRED_NS, 2, &flags), TIMEBASE_ATTACHMENT_EXPIRED);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_UNKNOWN));
}

static void silence_makes_no_status_better(void **state)
{
    uint32_t flags;
    (void)state;
    silence(TIMEBASE_PAGE_SILENT_NS, TIMEBASE_STATUS_UNRELIABLE, &flags);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_UNRELIABLE));
    silence(TIMEBASE_PAGE_SILENT_NS, TIMEBASE_STATUS_UNKNOWN, &flags);
    assert_int_equal(flags, TAI(TIMEBASE_STATUS_UNKNOWN));
}

/* A writer may want renewal as late as it likes; it is not waited for. */
static void a_far_horizon_delays_silence_by_seconds_only(void **state)
{
    struct timebase_lines lines = some_lines();
    uint64_t now = 105 * MS + 4000000000 + TIMEBASE_PAGE_SILENT_NS;
    (void)state;
    assert_int_equal(view_silence(&lines, (uint64_t)1 << 62, now), TIMEBASE_ATTACHMENT_SILENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_shown_for_a_lease),
        cmocka_unit_test(or_until_the_next_one_begins),
        cmocka_unit_test(whatever_is_shown_is_what_the_lines_say),
        cmocka_unit_test(the_counter_may_wrap),
        cmocka_unit_test(lines_still_to_come_are_not_shown_for_ever),
        cmocka_unit_test(lines_below_the_floor_are_joined_from_there),
        cmocka_unit_test(silence_is_told_after_its_time),
        cmocka_unit_test(silence_makes_no_status_better),
        cmocka_unit_test(a_far_horizon_delays_silence_by_seconds_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
