/* SPDX-License-Identifier: MIT */
/*
 * A thread that renews a process' lines loses its CPU within a publication, for longer than a lease.
 * The others go on by what it has published so far.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "attached.h"
#include "clock/attach/mirror.h"

#define LONGER_THAN_A_LEASE_US 25000

void __real_publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                          uint64_t refresh_ticks);
void __wrap_publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                          uint64_t refresh_ticks);

enum stall { NOWHERE, AFTER_THE_WHOLE_LINES, AFTER_THE_SHOWN_LINE };
static enum stall stall;
static int64_t last_ns, stood_still_ns;

/* What readers on other CPUs would see meanwhile: none of them has the lock either. */
static void read_through_the_stall(void)
{
    int64_t first_ns = timebase_mono_ns(shared);
    assert_true(first_ns >= last_ns);
    usleep(LONGER_THAN_A_LEASE_US);
    last_ns = timebase_mono_ns(shared);
    assert_true(last_ns >= first_ns);
    stood_still_ns = LONGER_THAN_A_LEASE_US * 1000 - (last_ns - first_ns);
}

/* The same where nothing was shown yet. */
static void read_before_anything_is_shown(void)
{
    struct timebase_instant now;
    memset(&now, 0x5a, sizeof(now));
    timebase_now(shared, &now);
    assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNKNOWN);
    assert_true(now.mono_ns == 0 && now.maxerror_ns > SECOND);
}

static void (*during_the_stall)(void) = read_through_the_stall;

static const struct timebase_page *stalled_page(void)
{
    struct clock_cell *cell = cell_of(shared);
    return stall == AFTER_THE_SHOWN_LINE ? cell_lines_page(cell) : &mirror_of(cell)->whole;
}

void __wrap_publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                          uint64_t refresh_ticks)
{
    __real_publish_lines(page, lines, refresh_ticks);
    if (stall != NOWHERE && page == stalled_page()) {
        stall = NOWHERE;
        during_the_stall();
    }
}

/* While somebody has the lock: the lines are followed beyond their lease, so what follows must stop it. */
static void follow_beyond_the_lease(void)
{
    struct clock_hold hold;
    assert_true(cell_try_lock(cell_of(shared), &hold));
    usleep(LONGER_THAN_A_LEASE_US);
    last_ns = timebase_mono_ns(shared);
    writer_publish(&writer);
    cell_unlock(cell_of(shared), &hold);
}

static void stall_after(enum stall where, bool are_followed)
{
    timebase_mono_ns(shared);
    if (are_followed)
        follow_beyond_the_lease();
    else
        usleep(LONGER_THAN_A_LEASE_US);
    stall = where;
    assert_true(timebase_mono_ns(shared) >= last_ns);
    assert_int_equal(stall, NOWHERE);
    read_for(60 * MS);
}

static void between_the_whole_lines_and_the_shown_line_time_goes_on(void **state)
{
    (void)state;
    stall_after(AFTER_THE_WHOLE_LINES, true);
    stall_after(AFTER_THE_WHOLE_LINES, false);
}

static void after_the_shown_line_time_goes_on(void **state)
{
    (void)state;
    stall_after(AFTER_THE_SHOWN_LINE, true);
    assert_true(stood_still_ns < MS);
    stall_after(AFTER_THE_SHOWN_LINE, false);
    assert_true(stood_still_ns < MS);
}

static void read_upwards_for(int64_t ns)
{
    for (int64_t end_ns = kernel_now(CLOCK_MONOTONIC) + ns; kernel_now(CLOCK_MONOTONIC) < end_ns;) {
        int64_t now_ns = timebase_mono_ns(shared);
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

/* Who has followed during the stall is not forgotten: lower lines begin above what it was told. */
static void what_was_told_meanwhile_is_not_gone_back_behind(void **state)
{
    (void)state;
    stall_after(AFTER_THE_SHOWN_LINE, true);
    for (int i = 0; i < ATTEMPTS && attachment().joins == 0; i++) {
        usleep(LONGER_THAN_A_LEASE_US);
        writer_move(&writer, -10 * MS); /* lines that are wrong by so much */
        writer_publish(&writer);
        stall = AFTER_THE_SHOWN_LINE;
        read_upwards_for(60 * MS);
    }
    assert_true(attachment().joins > 0);
}

/* Between the first whole lines and the first shown one there is no time to tell, and no garbage. */
static void before_the_first_shown_line_the_time_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(timebase_clock_restart(shared), TIMEBASE_OK);
    during_the_stall = read_before_anything_is_shown;
    stall = AFTER_THE_WHOLE_LINES;
    timebase_mono_ns(shared);
    during_the_stall = read_through_the_stall;
    assert_int_equal(stall, NOWHERE);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    read_for(60 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        A_PAGE(between_the_whole_lines_and_the_shown_line_time_goes_on),
        A_PAGE(after_the_shown_line_time_goes_on),
        A_PAGE(before_the_first_shown_line_the_time_is_unknown),
        A_PAGE(what_was_told_meanwhile_is_not_gone_back_behind),
    };
    return run_all(tests);
}
