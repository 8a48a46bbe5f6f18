/* SPDX-License-Identifier: MIT */
/*
 * Lines that nobody renews, because the thread that is at it takes its time: they hold, unless
 * the reference shows that the counter cannot be believed any more.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "held_lock.h"
#include "moved_reference.h"

#define MS 1000000
#define SECOND 1000000000LL

/* The last time that the present lines can have given. */
static int64_t followed_ns(struct own_clock *own)
{
    struct timebase_instant followed;
    struct timebase_page *page = cell_lines_page(&own->cell);
    timebase_page_convert(page, servo_followed_ticks(page), &followed);
    return followed.mono_ns;
}

static struct own_clock own;
static struct held_lock held;

/* A clock whose lines have come to their end, and whose renewer does not. */
static int begin(void **state)
{
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(&moved_reference, NULL);
    (void)state;
    own = fresh;
    moved_ns = 0;
    draw_first_lines(&own);
    held_lock_begin(&held, &own.cell);
    wait_until(followed_ns(&own) + 20 * MS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    held_lock_end(&held);
    return 0;
}

static void overdue_lines_hold(void **state)
{
    struct timebase_instant now;
    (void)state;
    int64_t before = kernel_now(CLOCK_MONOTONIC);
    timebase_now(own_handle(&own), &now);
    int64_t after = kernel_now(CLOCK_MONOTONIC), error = (int64_t)now.maxerror_ns;
    assert_true(before - error <= now.mono_ns && now.mono_ns <= after + error);
    assert_true(error < 5 * MS);
}

static void a_reference_that_went_ahead_is_believed(void **state)
{
    (void)state;
    moved_ns = 10 * SECOND;
    int64_t before = kernel_now(CLOCK_MONOTONIC) + moved_ns;
    int64_t now = timebase_mono_ns(own_handle(&own));
    assert_true(before <= now && now <= kernel_now(CLOCK_MONOTONIC) + moved_ns);
}

/* And else the time stands still where the lines ended; the error tells. */
static void a_reference_that_is_behind_is_believed_but_nothing_told_taken_back(void **state)
{
    struct timebase_instant now;
    (void)state;
    moved_ns = -10 * SECOND;
    timebase_now(own_handle(&own), &now);
    assert_true(now.mono_ns == followed_ns(&own));
    int64_t nearer_ns = kernel_now(CLOCK_MONOTONIC) - now.mono_ns;
    assert_true((int64_t)now.maxerror_ns >= 9 * SECOND - nearer_ns);
    assert_true((int64_t)now.utc_maxerror_ns >= 9 * SECOND - nearer_ns);
}

/* As of a program that reads ticks, and no time. A step or a sleep is seen as soon as by readings. */
static void a_conversion_renews_lines_that_want_it(void **state)
{
    struct own_clock idle = OWN_CLOCK_INITIALIZER(&moved_reference, NULL);
    struct timebase_page *page = cell_lines_page(&idle.cell);
    struct timebase_instant then;
    (void)state;
    moved_ns = 0;
    draw_first_lines(&idle);
    wait_until(followed_ns(&idle) + MS);
    uint64_t seq = page->seq, now = timebase_ticks_ordered();
    timebase_at(own_handle(&idle), page->copy[seq & 1].after.start_ticks, &then);
    assert_true(page->seq == seq); /* they do not want it by this tick */
    moved_utc_offset_ns += SECOND;
    timebase_at(own_handle(&idle), now, &then);
    assert_true(page->seq > seq);
    assert_true((int64_t)(now - page->copy[page->seq & 1].after.start_ticks) < 0);
    assert_true(page->utc_step_count == 1);
    moved_utc_offset_ns -= SECOND;
}

/* The counter is before all lines by now, as it was for the tick. A tick of long ago is another. */
static void a_conversion_renews_a_page_that_the_counter_has_gone_back_from(void **state)
{
    struct own_clock idle = OWN_CLOCK_INITIALIZER(&moved_reference, NULL);
    struct timebase_page *page = cell_lines_page(&idle.cell);
    struct timebase_instant then;
    (void)state;
    moved_ns = 0;
    draw_first_lines(&idle);
    wait_until(followed_ns(&idle) + MS);
    uint64_t seq = page->seq, now = timebase_ticks_ordered(), hour = (uint64_t)1 << 43;
    struct timebase_lines *lines = &page->copy[seq & 1];
    timebase_at(own_handle(&idle), lines->before.start_ticks - hour, &then);
    assert_true(page->seq == seq);
    lines->before.start_ticks += hour;
    lines->slew.start_ticks += hour;
    lines->after.start_ticks += hour;
    int64_t before_ns = moved_now();
    timebase_at(own_handle(&idle), now, &then);
    assert_true(page->seq > seq);
    assert_true(then.mono_ns > before_ns - SECOND && then.mono_ns < moved_now() + SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(overdue_lines_hold, begin, end),
        cmocka_unit_test_setup_teardown(a_reference_that_went_ahead_is_believed, begin, end),
        cmocka_unit_test_setup_teardown(a_reference_that_is_behind_is_believed_but_nothing_told_taken_back, begin, end),
        cmocka_unit_test(a_conversion_renews_lines_that_want_it),
        cmocka_unit_test(a_conversion_renews_a_page_that_the_counter_has_gone_back_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
