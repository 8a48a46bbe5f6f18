/* SPDX-License-Identifier: MIT */
/* In a time namespace CLOCK_MONOTONIC begins elsewhere, and so does the clock's monotonic time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "whole_clock.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define HOUR_NS 3600000000000

static int64_t outside_ns;

/* The children of this process will live `seconds` later. */
static void make_namespace(int seconds)
{
    char offsets[80];
    if (unshare(CLONE_NEWTIME) != 0)
        child_skip("a time namespace is not permitted");
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0)
        child_skip("this kernel has no time namespaces");
    snprintf(offsets, sizeof(offsets), "monotonic %d 0\nboottime %d 0\n", seconds, seconds);
    if (write(file, offsets, strlen(offsets)) != (ssize_t)strlen(offsets))
        child_skip("the offsets of a time namespace cannot be set");
    close(file);
}

static void look_around(void)
{
    const timebase_clock *clock = timebase_clock_default();
    if (kernel_now(CLOCK_MONOTONIC) < outside_ns + HOUR_NS)
        child_skip("the time namespace has no effect here");
    EXPECT(timebase_mono_ns(clock) >= outside_ns + HOUR_NS);
    whole_clock_check(clock);
}

static void live_in_it(void)
{
    make_namespace(3600);
    outside_ns = kernel_now(CLOCK_MONOTONIC);
    _exit(child_run(look_around));
}

static void monotonic_time_follows_the_namespace(void **state)
{
    (void)state;
    child_must_pass(live_in_it);
}

/* Does the clock know where it is? Within 5 s, as an emulated thread may be held up again and
 * again. */
static int has_settled(const timebase_clock *clock)
{
    int64_t end = kernel_now(CLOCK_MONOTONIC) + 5000000000;
    struct timebase_instant now;
    do
        timebase_now(clock, &now);
    while (now.maxerror_ns >= 1000000000 && kernel_now(CLOCK_MONOTONIC) < end);
    return now.maxerror_ns < 1000000000;
}

/* Known at the first comparison after the move; until then the old lines are followed. */
static void move_and_maintain(void)
{
    const timebase_clock *clock = timebase_clock_default();
    if (kernel_now(CLOCK_MONOTONIC) < outside_ns + HOUR_NS)
        child_skip("the time namespace has no effect here");
    while (timebase_clock_maintain(clock) == TIMEBASE_E_BUSY)
        ;
    int64_t end = kernel_now(CLOCK_MONOTONIC) + 5000000;
    while (kernel_now(CLOCK_MONOTONIC) < end)
        timebase_mono_ns(clock);
    EXPECT(has_settled(clock));
    whole_clock_check(clock);
}

static void move_in_with_lines_and_maintain(void)
{
    make_namespace(3600);
    outside_ns = kernel_now(CLOCK_MONOTONIC);
    whole_clock_check_flow(timebase_clock_default());
    _exit(child_run(move_and_maintain));
}

static void a_process_that_moves_in_with_lines_is_right_after_the_next_comparison(void **state)
{
    (void)state;
    child_must_pass(move_in_with_lines_and_maintain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_follows_the_namespace),
        cmocka_unit_test(a_process_that_moves_in_with_lines_is_right_after_the_next_comparison),
    };
    return run_all(tests);
}
