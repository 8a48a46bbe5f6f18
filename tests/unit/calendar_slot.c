/* SPDX-License-Identifier: MIT */
/*
 * A unit's time-out counts from its target, not from where it happened to begin: what comes after
 * it has its time. On a timer of the test's own, which never goes off.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include "calendar_units.h"

#define TIMEOUT_NS (700 * (int64_t)MS)
#define RELEASES 5

static int64_t armed_ns[RELEASES];
static unsigned armed;

int timer_settime(timer_t timer, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    (void)timer, (void)old;
    if (flags == TIMER_ABSTIME && armed < RELEASES)
        armed_ns[armed++] = (int64_t)when->it_value.tv_sec * SEC + when->it_value.tv_nsec;
    return 0;
}

static void a_time_out_counts_from_the_target(void **state)
{
    static struct timebase_waiter waiter;
    static struct timebase_release entries[8];
    struct timebase_release_log log = {.entries = entries, .capacity = 8};
    struct timebase_unit unit = unit_of("slot", MS, 20 * MS, MS);
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    struct timebase_unit_result result;
    (void)state;
    unit.timeout_ns = TIMEOUT_NS;
    unit.deadline_ns = SEC; /* however late, it is run */
    unit.releases = RELEASES;
    unit.flags = TIMEBASE_WAIT_SLEEP;
    calendar.log = &log;
    calendar.may_overlap = 1;
    assert_int_equal(timebase_waiter_init(&waiter, timebase_clock_default()), 0);
    assert_int_equal(timebase_calendar_run(&calendar, &waiter, &result), 0);
    assert_int_equal(armed, log.written);
    for (unsigned i = 0; i < armed; i++) {
        int64_t slot_ns = entries[i].target_ns + TIMEOUT_NS;
        bool is_late = entries[i].outcome & TIMEBASE_RELEASE_LATE;
        assert_true(is_late ? armed_ns[i] >= slot_ns : armed_ns[i] == slot_ns);
    }
    assert_true(armed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_out_counts_from_the_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
