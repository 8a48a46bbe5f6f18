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
#include "clock/line/lines.h"
#include "../repeats.h"
#include "dice.h"

#define MS 1000000
#define LEASE ((uint64_t)TIMEBASE_PAGE_LEASE_NS)
#define UTC_OFFSET ((uint64_t)1 << 60)
/* After the start of `after`, 50 ms of which were before renewal became due. */
#define SILENT ((uint64_t)(50 * MS + TIMEBASE_PAGE_SILENT_NS))
#define VOID ((uint64_t)(50 * MS + TIMEBASE_PAGE_EXPIRED_NS))

/* A tick is a nanosecond, more or less ppm millionths of it. */
static struct timebase_line line_of(uint64_t start, uint64_t mono_ns, int ppm)
{
    struct timebase_line line = {.start_ticks = start, .mono_ns = mono_ns, .period_ns = ppm >= 0};
    line.period_frac = (uint64_t)(int64_t)ppm * (UINT64_MAX / 1000000);
    line.flags = TIMEBASE_STATUS_SYNCHRONIZED;
    line.maxerror_ns = 1000;
    line.utc_ns = mono_ns + UTC_OFFSET;
    return line;
}

/* before from 0, slew from 100 ms, after from 105 ms. */
static struct timebase_lines some_lines(void)
{
    struct timebase_lines lines = {line_of(0, 0, 0),
                                   line_of(100 * MS, 100 * MS, 500),
                                   line_of(105 * MS, 105 * MS + 2500, 0),
                                   {.silent_ticks = SILENT,
                                    .void_ticks = VOID,
                                    .before_esterror_ns = 10,
                                    .slew_esterror_ns = 20,
                                    .after_esterror_ns = 30}};
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
        assert_true(shown == INT64_MIN || shown == lines_mono_ns(&lines, ticks));
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

/* At these ticks, or at no tick. */
static void assert_expiry(const struct view *view, uint64_t silent, uint64_t expired)
{
    const struct timebase_validity *validity = &view->lines.validity;
    uint64_t start = view->lines.after.start_ticks;
    assert_true(start + validity->silent_ticks == silent);
    assert_true(start + validity->void_ticks == expired);
    assert_true(view->refresh_ticks < validity->silent_ticks);
}

static void what_is_shown_expires_when_the_lines_do(void **state)
{
    struct timebase_lines lines = some_lines();
    struct view before = view_at(&lines, 99 * MS), slew = view_at(&lines, 100 * MS);
    struct view after = view_at(&lines, 300 * MS);
    (void)state;
    assert_expiry(&before, 105 * MS + SILENT, 105 * MS + VOID);
    assert_expiry(&slew, 105 * MS + SILENT, 105 * MS + VOID);
    assert_expiry(&after, 105 * MS + SILENT, 105 * MS + VOID);
    assert_int_equal(before.lines.validity.after_esterror_ns, 10);
    assert_int_equal(slew.lines.validity.after_esterror_ns, 20);
    assert_int_equal(after.lines.validity.after_esterror_ns, 30);
}

/* The status that they have come to goes on for the lease. */
static void what_has_expired_is_shown_to_the_end_of_its_lease(void **state)
{
    struct timebase_lines lines = some_lines();
    uint64_t now = 105 * MS + VOID + 5;
    struct view view = view_at(&lines, now);
    (void)state;
    assert_expiry(&view, now + LEASE + 1, now + LEASE + 1);
}

static void what_never_expires_is_shown_so(void **state)
{
    struct timebase_lines lines = some_lines();
    (void)state;
    lines.validity.silent_ticks = TIMEBASE_PAGE_NEVER - 5;
    lines.validity.void_ticks = TIMEBASE_PAGE_NEVER;
    struct view slew = view_at(&lines, 100 * MS), after = view_at(&lines, 300 * MS);
    assert_true(slew.lines.validity.silent_ticks == TIMEBASE_PAGE_NEVER);
    assert_true(slew.lines.validity.void_ticks == TIMEBASE_PAGE_NEVER);
    assert_true(after.lines.validity.silent_ticks == TIMEBASE_PAGE_NEVER - 5);
}

/* From the floor on, never below it, slower by 1 in `divisor`, until the lines have caught up. */
static void assert_joined(int64_t gap_ns, int64_t divisor)
{
    struct timebase_lines lines = some_lines();
    uint64_t start = 200 * MS;
    int64_t floor_ns = lines_mono_ns(&lines, start) + gap_ns;
    struct timebase_line old = line_of(0, (uint64_t)gap_ns, 0);
    struct view view;
    assert_true(view_above(&lines, &old, start, floor_ns, start, &view));
    uint64_t end = view_end(&view);
    assert_int_equal(shown_ns(&view, start), floor_ns);
    assert_true(shown_ns(&view, start - 1) <= floor_ns);
    assert_true(end <= start + LEASE);
    int64_t left_ns = shown_ns(&view, end) - lines_mono_ns(&lines, end);
    int64_t made_good_ns = (int64_t)(end - start) / divisor;
    assert_true(left_ns >= gap_ns - made_good_ns - 1 && left_ns <= gap_ns - made_good_ns + 1);
    assert_true(end == start + LEASE || left_ns <= 1);
    assert_in_range(view.lines.after.maxerror_ns, 1000 + gap_ns, 1000 + gap_ns + 2);
    assert_int_equal(view.lines.validity.after_esterror_ns, 30 + gap_ns);
    assert_true(timebase_line_utc_offset_ns(&view.lines.after) == (int64_t)UTC_OFFSET);
    assert_expiry(&view, 105 * MS + SILENT, 105 * MS + VOID);
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

/* To the nanosecond: what grows is rounded down, of the lines in one piece and of the bridge in two. */
static void along_a_bridge_the_bound_holds_what_it_is_ahead(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < repeats(20000); i++) {
        struct timebase_lines lines = some_lines();
        lines.after.drift_rate = (uint32_t)dice_below(&dice, 1 << 22); /* up to 1,000 ppm */
        lines.after.slew_rate = (uint32_t)dice_below(&dice, 1 << 22);
        uint64_t start = 200 * MS + dice_below(&dice, 100 * MS);
        struct timebase_line old = line_of(0, MS, 0);
        int64_t floor_ns = lines_mono_ns(&lines, start) + 1 + (int64_t)dice_below(&dice, MS);
        struct view view;
        assert_true(view_above(&lines, &old, start, floor_ns, start, &view));
        uint64_t soon = view.refresh_ticks < 4000 ? view.refresh_ticks : 4000; /* nothing made good */
        uint64_t ticks = start + dice_below(&dice, (i % 2 ? soon : view.refresh_ticks) + 1);
        struct timebase_instant shown = lines_instant(&view.lines, ticks);
        struct timebase_instant other = lines_instant(&lines, ticks);
        int64_t ahead_ns = shown.mono_ns - other.mono_ns;
        assert_true(ahead_ns >= 0);
        assert_true(shown.maxerror_ns >= other.maxerror_ns + (uint64_t)ahead_ns);
        assert_true(shown.utc_maxerror_ns >= other.utc_maxerror_ns + (uint64_t)ahead_ns);
    }
}

static void lines_at_the_floor_are_shown_themselves(void **state)
{
    struct timebase_lines lines = some_lines();
    struct view view;
    (void)state;
    int64_t floor_ns = lines_mono_ns(&lines, 200 * MS);
    assert_false(view_above(&lines, &lines.slew, 200 * MS, floor_ns, 201 * MS, &view));
    assert_view(&view, &lines.after, 201 * MS + LEASE);
}

static int silence(uint64_t ns, uint32_t status, uint32_t *flags)
{
    struct timebase_lines lines = some_lines();
    lines.before.flags = lines.slew.flags = lines.after.flags = status | TIMEBASE_LINE_TAI_VALID;
    int state = view_silence(&lines, 155 * MS + ns);
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

/* Whatever this library's own writers put there. */
static void silence_begins_when_the_page_says(void **state)
{
    struct timebase_lines lines = some_lines();
    (void)state;
    lines.validity.silent_ticks = 7;
    lines.validity.void_ticks = 9;
    assert_int_equal(view_silence(&lines, 104 * MS), TIMEBASE_ATTACHMENT_CURRENT);
    assert_int_equal(view_silence(&lines, 105 * MS + 6), TIMEBASE_ATTACHMENT_CURRENT);
    assert_int_equal(view_silence(&lines, 105 * MS + 7), TIMEBASE_ATTACHMENT_SILENT);
    assert_int_equal(view_silence(&lines, 105 * MS + 8), TIMEBASE_ATTACHMENT_SILENT);
    assert_int_equal(view_silence(&lines, 105 * MS + 9), TIMEBASE_ATTACHMENT_EXPIRED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_shown_for_a_lease),
        cmocka_unit_test(or_until_the_next_one_begins),
        cmocka_unit_test(whatever_is_shown_is_what_the_lines_say),
        cmocka_unit_test(the_counter_may_wrap),
        cmocka_unit_test(lines_still_to_come_are_not_shown_for_ever),
        cmocka_unit_test(what_is_shown_expires_when_the_lines_do),
        cmocka_unit_test(what_has_expired_is_shown_to_the_end_of_its_lease),
        cmocka_unit_test(what_never_expires_is_shown_so),
        cmocka_unit_test(lines_below_the_floor_are_joined_from_there),
        cmocka_unit_test(along_a_bridge_the_bound_holds_what_it_is_ahead),
        cmocka_unit_test(lines_at_the_floor_are_shown_themselves),
        cmocka_unit_test(silence_is_told_after_its_time),
        cmocka_unit_test(silence_makes_no_status_better),
        cmocka_unit_test(silence_begins_when_the_page_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
