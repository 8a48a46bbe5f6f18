/* SPDX-License-Identifier: MIT */
/*
 * A sandbox that refuses adjtimex, clock_adjtime and prctl, as systemd's ProtectClock= and old
 * Docker do: nothing is known of the kernel's error, and the interval says so.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/timex.h>

#include "sandbox.h"
#include "whole_clock.h"

static void enter_sandbox(void)
{
    const int calls[] = {
#if defined(SYS_adjtimex)
        SYS_adjtimex,
#endif
#if defined(SYS_clock_adjtime)
        SYS_clock_adjtime,
#endif
#if defined(SYS_clock_adjtime64)
        SYS_clock_adjtime64,
#endif
        SYS_prctl, -1};
    sandbox_refuse(calls, EPERM);
    struct timex timex = {0};
    EXPECT(adjtimex(&timex) == -1 && errno == EPERM);
}

/* Until the frequency is known, however long the brackets make it take. */
static int settled_status(const timebase_clock *clock, struct timebase_interval *when)
{
    int status = timebase_utc_interval(clock, when);
    int64_t end = kernel_now(CLOCK_MONOTONIC) + 20000000000;
    while (status == TIMEBASE_STATUS_INITIALIZING && kernel_now(CLOCK_MONOTONIC) < end)
        status = timebase_utc_interval(clock, when);
    return status;
}

static void live_in_sandbox(void)
{
    const timebase_clock *clock = timebase_clock_default();
    struct timebase_interval when;
    enter_sandbox();
    EXPECT(timebase_utc_interval(clock, &when) == TIMEBASE_STATUS_INITIALIZING);
    EXPECT(when.latest_ns - when.earliest_ns >= 32000000000);
    EXPECT(settled_status(clock, &when) == TIMEBASE_STATUS_FREERUNNING);
    EXPECT(when.latest_ns - when.earliest_ns >= 32000000000);
    EXPECT(timebase_realtime_interval(clock, &when) == TIMEBASE_STATUS_FREERUNNING);
    EXPECT(when.latest_ns - when.earliest_ns < 1000000000);
}

static int64_t utc_from_tai(const timebase_clock *clock)
{
    struct timebase_instant now;
    timebase_now(clock, &now);
    EXPECT(!(now.flags & TIMEBASE_LINE_TAI_VALID));
    return timebase_tai_ns(clock);
}

/* TAI - UTC is what adjtimex tells: unknown here, and so they are equal and not valid. */
static void check_in_sandbox(void)
{
    const timebase_clock *clock = timebase_clock_default();
    enter_sandbox();
    whole_clock_check_reader(clock, timebase_utc_ns, CLOCK_REALTIME);
    whole_clock_check_reader(clock, timebase_mono_ns, CLOCK_MONOTONIC);
    whole_clock_check_reader(clock, utc_from_tai, CLOCK_REALTIME);
    whole_clock_check_intervals(clock);
    whole_clock_check_conversions(clock);
    whole_clock_check_ownership(clock);
    whole_clock_check_flow(clock);
}

static void the_clock_works_and_claims_nothing_that_the_kernel_does_not(void **state)
{
    (void)state;
    child_must_pass(live_in_sandbox);
}

static void every_function_works_in_the_sandbox(void **state)
{
    (void)state;
    child_must_pass(check_in_sandbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_works_and_claims_nothing_that_the_kernel_does_not),
        cmocka_unit_test(every_function_works_in_the_sandbox),
    };
    return run_all(tests);
}
