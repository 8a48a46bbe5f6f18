/* SPDX-License-Identifier: MIT */
/*
 * A process' own clock and a machine that sleeps, or whose counter jumps, while one thread renews the
 * lines and another one asks. In virtual time: counter and kernel's clocks are the test's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include <timebase.h>

#include "../unit/held_lock.h"
#include "clock/own/own.h"

#define MS 1000000LL
#define SECOND 1000000000LL
#define UTC0 1700000000000000000LL
#define COARSE (4 * MS)

/* A tick is a nanosecond. Each look takes some. */
static uint64_t counter;
static int64_t mono_ns, slept_ns;

static void pass(int64_t ns)
{
    counter += (uint64_t)ns;
    mono_ns += ns;
}

static int64_t utc_now(void)
{
    return UTC0 + mono_ns + slept_ns;
}

int64_t __wrap_counter_clock_ns(clockid_t id);
uint64_t __wrap_timebase_ticks_probe(void);
uint64_t __wrap_timebase_ticks_ordered_probe(void);

int64_t __wrap_counter_clock_ns(clockid_t id)
{
    int64_t coarse_ns = mono_ns - mono_ns % COARSE;
    pass(25);
    switch (id) {
    case CLOCK_MONOTONIC_COARSE:
        return coarse_ns;
    case CLOCK_REALTIME_COARSE:
        return UTC0 + slept_ns + coarse_ns;
    case CLOCK_REALTIME:
        return utc_now();
    case CLOCK_BOOTTIME:
        return mono_ns + slept_ns;
    default:
        return mono_ns;
    }
}

uint64_t __wrap_timebase_ticks_ordered_probe(void)
{
    pass(10);
    return counter;
}

uint64_t __wrap_timebase_ticks_probe(void)
{
    return __wrap_timebase_ticks_ordered_probe();
}

static struct reference_kernel kernel;
static struct own_clock own;
static int64_t last_ns;

/* Never back. */
static struct timebase_instant look(void)
{
    struct timebase_instant now;
    timebase_now(own_handle(&own), &now);
    assert_true(now.mono_ns >= last_ns);
    last_ns = now.mono_ns;
    return now;
}

static void live_for(int64_t ns)
{
    for (int64_t end_ns = mono_ns + ns; mono_ns < end_ns; pass(MS))
        look();
}

static void begin_with(const struct reference *reference)
{
    static const struct reference_kernel no_kernel;
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(reference, &kernel);
    kernel = no_kernel;
    own = fresh;
    counter = 5000 * (uint64_t)SECOND;
    mono_ns = 5000 * SECOND;
    slept_ns = 0;
    last_ns = 0;
    live_for(5 * SECOND);
}

static void begin(void)
{
    begin_with(&reference_kernel);
}

/* The counter goes on in the sleep, monotonic time does not. */
static void sleep_for(int64_t ns)
{
    counter += (uint64_t)ns;
    slept_ns += ns;
}

static void jump_by(int64_t ns)
{
    counter += (uint64_t)ns;
}

/* Its word is as new as the lines: what was slept before them is none of a later reader's. */
static void assert_sleep_is_noted(void)
{
    struct timebase_page *page = cell_lines_page(&own.cell);
    uint64_t noted = timebase_page_word(&own.suspended_ns[timebase_page_word(&page->seq) & 1]);
    assert_true(llabs((int64_t)noted - slept_ns) < MS);
}

/* Idle for so long, then this; who asks first finds another thread at the renewal. */
static struct timebase_instant ask_after(int64_t idle_ns, void (*happen)(int64_t ns), int64_t ns)
{
    struct held_lock held;
    begin();
    held_lock_begin(&held, &own.cell);
    pass(idle_ns);
    happen(ns);
    struct timebase_instant first = look(), second = look();
    held_lock_end(&held);
    assert_true(second.mono_ns - first.mono_ns < MS);
    live_for(SECOND);
    assert_sleep_is_noted();
    assert_true(llabs(last_ns - mono_ns) < idle_ns / 8 + SECOND / 2);
    return first;
}

/* However short it was against the time awake: the renewing thread will begin at the reference. */
static void what_the_machine_slept_is_not_in_monotonic_time(void **state)
{
    static const int64_t asleep_ns[] = {100 * MS, SECOND, 5 * SECOND, 8 * SECOND};
    (void)state;
    for (unsigned i = 0; i < sizeof(asleep_ns) / sizeof(asleep_ns[0]); i++) {
        struct timebase_instant now = ask_after(60 * SECOND, sleep_for, asleep_ns[i]);
        assert_true(llabs(now.mono_ns - mono_ns) < 2 * SECOND);
        assert_true(now.maxerror_ns < 50 * MS);
        assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_INITIALIZING);
    }
}

/* Within the bound of the lines by now, but not within what the renewing thread knows of their pace. */
static void what_the_bound_of_the_lines_explains_is_not_told_either(void **state)
{
    (void)state;
    for (int64_t asleep_ns = 2 * MS; asleep_ns <= 50 * MS; asleep_ns += 2 * MS)
        ask_after(60 * SECOND, sleep_for, asleep_ns);
}

/* Its UTC is the kernel's of that moment. */
static void after_a_sleep_utc_is_right_at_once(void **state)
{
    struct held_lock held;
    (void)state;
    begin();
    held_lock_begin(&held, &own.cell);
    pass(60 * SECOND);
    sleep_for(5 * SECOND);
    struct timebase_instant now = look();
    assert_true(llabs(now.utc_ns - utc_now()) < MS);
    held_lock_end(&held);
    live_for(SECOND);
}

/*
 * A jump of about a tenth of the time is one to this thread and none to the renewing one, or the other
 * way round. What this one tells is no later than what either verdict leads to.
 */
static void at_the_limit_of_a_jump_time_goes_on(void **state)
{
    static const int64_t idle_ns[] = {300 * MS, 500 * MS, 700 * MS, 2 * SECOND, 60 * SECOND};
    (void)state;
    for (unsigned i = 0; i < sizeof(idle_ns) / sizeof(idle_ns[0]); i++)
        for (int64_t permille = 60; permille <= 140; permille++)
            for (int sign = -1; sign <= 1; sign += 2)
                ask_after(idle_ns[i], jump_by, sign * idle_ns[i] / 1000 * permille);
}

/* The kernel's clock, as where somebody keeps it; and it can be lost. */
static bool is_lost, is_distrusted;

static int sample_kept(void *context, struct discipline_sample *sample)
{
    int error = reference_kernel.sample(context, sample);
    sample->is_synchronized = true;
    sample->maxerror_ns = MS;
    sample->flags |= is_distrusted ? TIMEBASE_LINE_COUNTER_DISTRUSTED : 0;
    return is_lost ? TIMEBASE_E_REFERENCE : error;
}

static int32_t status_in_statistics(void)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(own_handle(&own), &statistics), 0);
    return statistics.status;
}

/* What a reading would tell, also where nobody has read since the reference was lost. */
static void statistics_tell_of_a_lost_reference(void **state)
{
    const struct reference kept = {"kept", sample_kept, reference_kernel.moment, NULL};
    (void)state;
    is_lost = false;
    begin_with(&kept);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
    pass(60 * SECOND);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
    is_lost = true;
    pass(60 * SECOND);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_FREERUNNING);
    struct timebase_instant now = look();
    assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_FREERUNNING);
    is_lost = false;
    pass(SECOND);
    status_in_statistics();
    pass(SECOND);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* As where the kernel has gone over to jiffies, which are no reference. */
static void distrust_is_told_without_a_sample(void **state)
{
    const struct reference kept = {"kept", sample_kept, reference_kernel.moment, NULL};
    struct timebase_instant now;
    (void)state;
    is_lost = is_distrusted = false;
    begin_with(&kept);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
    is_lost = is_distrusted = true;
    live_for(SECOND / 2);
    for (int i = 0; i < 100; i++, pass(300 * MS)) {
        now = look();
        assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNRELIABLE);
        assert_true(now.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    }
    is_lost = is_distrusted = false;
    live_for(10 * SECOND);
    now = look();
    assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_SYNCHRONIZED);
    assert_false(now.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_machine_slept_is_not_in_monotonic_time),
        cmocka_unit_test(what_the_bound_of_the_lines_explains_is_not_told_either),
        cmocka_unit_test(after_a_sleep_utc_is_right_at_once),
        cmocka_unit_test(at_the_limit_of_a_jump_time_goes_on),
        cmocka_unit_test(statistics_tell_of_a_lost_reference),
        cmocka_unit_test(distrust_is_told_without_a_sample),
    };
    timebase_counter_select(TIMEBASE_COUNTER_OS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
