/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose coarse clocks are no coarser than the others, as a sandbox maps them, or whose
 * ticks come faster than three calls; and calls that are interrupted: on clocks of the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include <timebase/error.h>

#include "clock/discipline/discipline.h"
#include "clock/reference/reference.h"

#define UTC_OFFSET 1700000000123456789LL
#define MS 1000000LL

static int64_t mono_ns, utc_offset_ns, call_ns, tick_ns, step_ns, slept_ns;
/* So many of the next looks at CLOCK_BOOTTIME are followed by another thread's time slice. */
static unsigned interruptions;

static int64_t cut(int64_t ns, int64_t to_ns)
{
    return ns - ns % to_ns;
}

static int64_t boot_time(void)
{
    int64_t boot_ns = cut(mono_ns, step_ns) + slept_ns;
    if (interruptions > 0) {
        interruptions--;
        mono_ns += 5 * MS;
    }
    return boot_ns;
}

int64_t __wrap_counter_clock_ns(clockid_t id);

/* The coarse clocks show the last tick; all others show steps of their own. */
int64_t __wrap_counter_clock_ns(clockid_t id)
{
    mono_ns += call_ns;
    switch (id) {
    case CLOCK_MONOTONIC_COARSE:
        return cut(mono_ns, tick_ns);
    case CLOCK_REALTIME_COARSE:
        return cut(mono_ns, tick_ns) + utc_offset_ns;
    case CLOCK_BOOTTIME:
        return boot_time();
    case CLOCK_REALTIME:
        return cut(mono_ns, step_ns) + utc_offset_ns;
    default:
        return cut(mono_ns, step_ns);
    }
}

static struct reference_kernel kernel;

static void begin(int64_t call, int64_t tick)
{
    static const struct reference_kernel fresh;
    kernel = fresh;
    mono_ns = 1000000 * MS + 1;
    utc_offset_ns = UTC_OFFSET;
    call_ns = call;
    tick_ns = tick;
    step_ns = 1;
    slept_ns = 100 * MS;
    interruptions = 0;
}

static struct discipline_sample sample(void)
{
    struct discipline_sample sample = {0};
    assert_int_equal(reference_kernel.sample(&kernel, &sample), TIMEBASE_OK);
    return sample;
}

static void assert_within_its_step(const struct discipline_sample *seen)
{
    int64_t error_ns = seen->utc_offset_ns - utc_offset_ns;
    assert_true(error_ns >= -(int64_t)seen->reference_step_ns &&
                error_ns <= (int64_t)seen->reference_step_ns);
}

/* The offset is told, in the bound, and does not wander: that would count as steps of UTC. */
static void assert_is_a_reference(void)
{
    struct discipline_sample first = sample();
    assert_within_its_step(&first);
    for (int i = 0; i < 1000; i++) {
        mono_ns += 100 * MS + i * 7919;
        struct discipline_sample next = sample();
        assert_within_its_step(&next);
        assert_true(next.utc_offset_ns == first.utc_offset_ns);
    }
}

static void assert_moment_is_true(void)
{
    struct reference_moment moment;
    int64_t before_ns = mono_ns;
    assert_int_equal(reference_kernel.moment(NULL, &moment), TIMEBASE_OK);
    assert_true(before_ns <= moment.mono_ns && moment.mono_ns <= mono_ns);
    int64_t error_ns = moment.utc_offset_ns - utc_offset_ns;
    assert_true(error_ns >= -(int64_t)moment.error_ns && error_ns <= (int64_t)moment.error_ns);
}

static void ticks_that_are_rare_show_the_offset_exactly(void **state)
{
    (void)state;
    begin(25, 4 * MS);
    assert_is_a_reference();
    assert_true(sample().utc_offset_ns == UTC_OFFSET);
    assert_moment_is_true();
}

static void coarse_clocks_as_fine_as_the_others_show_it_within_a_bound(void **state)
{
    (void)state;
    begin(25, 1);
    assert_is_a_reference();
    assert_true(sample().reference_step_ns < 100);
    assert_moment_is_true();
}

static void calls_that_outlast_a_tick_do_so_too(void **state)
{
    (void)state;
    begin(3 * MS, 4 * MS);
    assert_is_a_reference();
    assert_moment_is_true();
}

static void a_step_is_seen_all_the_same(void **state)
{
    (void)state;
    begin(25, 1);
    int64_t before_ns = sample().utc_offset_ns;
    utc_offset_ns += MS;
    struct discipline_sample stepped = sample();
    assert_within_its_step(&stepped);
    assert_true(stepped.utc_offset_ns > before_ns + MS / 2);
}

/* As from tsc to hpet: what the clock can tell apart is found out again. */
static void a_clocksource_that_changes_is_judged_again(void **state)
{
    (void)state;
    begin(25, 4 * MS);
    assert_true(sample().reference_step_ns < 70);
    step_ns = 70;
    mono_ns += 1000 * MS;
    assert_true(sample().reference_step_ns >= 70);
    step_ns = 1;
    mono_ns += 1000 * MS;
    assert_true(sample().reference_step_ns < 70);
}

/* However many of its looks are interrupted; and so that the next one is none either. */
static void an_interrupted_look_at_the_time_asleep_is_no_sleep(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= 10; i++) {
        begin(25, 4 * MS);
        int64_t then_ns = sample().suspended_ns;
        interruptions = i;
        for (int after = 0; after < 3; after++) {
            int64_t now_ns = sample().suspended_ns;
            assert_true(now_ns >= then_ns);
            assert_false(discipline_was_asleep(then_ns, now_ns));
            then_ns = now_ns;
        }
    }
}

/* Nor where a reader without lines looks for itself. */
static void an_interrupted_moment_knows_of_the_sleep_before_it(void **state)
{
    struct reference_moment moment;
    (void)state;
    begin(25, 4 * MS);
    int64_t then_ns = sample().suspended_ns;
    slept_ns += 3 * MS;
    interruptions = 2;
    assert_int_equal(reference_kernel.moment(NULL, &moment), TIMEBASE_OK);
    assert_true(discipline_was_asleep(then_ns, moment.suspended_ns));
}

static void a_sleep_is_seen_at_the_next_look(void **state)
{
    (void)state;
    begin(25, 4 * MS);
    for (int i = 0; i < 10; i++) {
        int64_t then_ns = sample().suspended_ns;
        slept_ns += 2 * MS;
        interruptions = i % 3U;
        assert_true(discipline_was_asleep(then_ns, sample().suspended_ns));
    }
}

/* A time namespace: CLOCK_MONOTONIC is a day ahead, and CLOCK_BOOTTIME is not. */
static void a_sleep_is_seen_where_monotonic_time_is_ahead(void **state)
{
    (void)state;
    begin(25, 4 * MS);
    slept_ns = -86400000 * MS;
    int64_t then_ns = sample().suspended_ns;
    assert_true(then_ns < 0);
    for (int i = 0; i < 10; i++) {
        interruptions = i % 3U;
        int64_t now_ns = sample().suspended_ns;
        assert_false(discipline_was_asleep(then_ns, now_ns));
        slept_ns += 3000 * MS;
        then_ns = sample().suspended_ns;
        assert_true(discipline_was_asleep(now_ns, then_ns));
    }
}

static void a_sleep_is_seen_in_the_namespace_that_was_moved_to(void **state)
{
    (void)state;
    begin(25, 4 * MS);
    slept_ns = 86400000 * MS;
    sample();
    slept_ns = -86400000 * MS;
    reference_restart(&kernel);
    int64_t then_ns = sample().suspended_ns;
    slept_ns += 3000 * MS;
    assert_true(discipline_was_asleep(then_ns, sample().suspended_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_that_are_rare_show_the_offset_exactly),
        cmocka_unit_test(coarse_clocks_as_fine_as_the_others_show_it_within_a_bound),
        cmocka_unit_test(calls_that_outlast_a_tick_do_so_too),
        cmocka_unit_test(a_step_is_seen_all_the_same),
        cmocka_unit_test(a_clocksource_that_changes_is_judged_again),
        cmocka_unit_test(an_interrupted_look_at_the_time_asleep_is_no_sleep),
        cmocka_unit_test(an_interrupted_moment_knows_of_the_sleep_before_it),
        cmocka_unit_test(a_sleep_is_seen_at_the_next_look),
        cmocka_unit_test(a_sleep_is_seen_where_monotonic_time_is_ahead),
        cmocka_unit_test(a_sleep_is_seen_in_the_namespace_that_was_moved_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
