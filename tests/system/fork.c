/* SPDX-License-Identifier: MIT */
/* A child is forked while a thread, which it does not inherit, is at work on the clock. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "../unit/held_lock.h"
#include "clock/own/own.h"
#include "whole_clock.h"

#define FORKS 40

static struct reference_kernel kernel;

/* The kernel's clocks, and a place in the middle of a maintenance to be held up at. */
static int hold, is_held;

static int sample_and_hold(void *context, struct discipline_sample *sample)
{
    while (__atomic_load_n(&hold, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
        usleep(50);
    }
    return reference_kernel.sample(context, sample);
}

static int moment_of_kernel(void *context, struct reference_moment *moment)
{
    return reference_kernel.moment(context, moment);
}

static const struct reference held_kernel = {
    .name = "held", .sample = sample_and_hold, .moment = moment_of_kernel};

static struct own_clock own = OWN_CLOCK_INITIALIZER(&held_kernel, &kernel);

static void live_for(const timebase_clock *clock, int64_t ns)
{
    int64_t end = kernel_now(CLOCK_MONOTONIC) + ns;
    while (kernel_now(CLOCK_MONOTONIC) < end)
        timebase_mono_ns(clock);
}

static int64_t told_before_fork_ns;

static void use_inherited_cell(void)
{
    const timebase_clock *clock = own_handle(&own);
    hold = 0;
    EXPECT(timebase_mono_ns(clock) >= told_before_fork_ns);
    whole_clock_check(clock);
    EXPECT(!guard_is_taken(&own.cell.lock));
    EXPECT(own.servo.discipline.has_sample);
}

static void *maintain_once(void *argument)
{
    struct own_clock *held = (struct own_clock *)argument;
    while (timebase_clock_maintain(own_handle(held)) == TIMEBASE_E_BUSY)
        ;
    return NULL;
}

/* The thread waits in the middle of own_maintain(), the cell is locked: now fork. */
static int fork_in_maintenance(void)
{
    pthread_t thread;
    __atomic_store_n(&is_held, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&hold, 1, __ATOMIC_RELEASE);
    pthread_create(&thread, NULL, maintain_once, &own);
    while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
        usleep(50);
    told_before_fork_ns = timebase_mono_ns(own_handle(&own));
    int result = child_run(use_inherited_cell);
    __atomic_store_n(&hold, 0, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return result;
}

static void a_child_takes_over_a_clock_that_a_lost_thread_had_locked(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer does not follow a fork of several threads");
    live_for(own_handle(&own), 5000000);
    assert_int_equal(fork_in_maintenance(), 0);
    live_for(own_handle(&own), 200000000);
    assert_int_equal(fork_in_maintenance(), 0);
}

static void a_child_takes_over_a_clock_whose_first_maintenance_was_lost(void **state)
{
    static const struct reference_kernel nothing_asked;
    const struct own_clock fresh = OWN_CLOCK_INITIALIZER(&held_kernel, &kernel);
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer does not follow a fork of several threads");
    own = fresh;
    kernel = nothing_asked;
    assert_int_equal(fork_in_maintenance(), 0);
}

static int is_finished;

static void *maintain_again_and_again(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&is_finished, __ATOMIC_RELAXED)) {
        timebase_clock_maintain(timebase_clock_default());
        timebase_mono_ns(timebase_clock_default());
    }
    return NULL;
}

static void use_inherited_clock(void)
{
    const timebase_clock *clock = timebase_clock_default();
    EXPECT(timebase_mono_ns(clock) >= told_before_fork_ns);
    whole_clock_check_readers(clock);
    whole_clock_check_conversions(clock);
    whole_clock_check_ownership(clock);
    EXPECT(timebase_mono_ns(clock) >= told_before_fork_ns);
}

static void children_forked_at_any_moment_of_maintenance_live_well(void **state)
{
    pthread_t thread;
    int result = 0;
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer does not follow a fork of several threads");
    assert_int_equal(pthread_create(&thread, NULL, maintain_again_and_again, NULL), 0);
    for (int i = 0; i < FORKS && result == 0; i++) {
        told_before_fork_ns = timebase_mono_ns(timebase_clock_default());
        result = child_run(use_inherited_clock);
    }
    __atomic_store_n(&is_finished, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
}

/* The lost thread's records, and the copy of the page that it was writing, are rubbish. */
static void spoil(struct own_clock *spoilt)
{
    struct timebase_page *page = cell_lines_page(&spoilt->cell);
    memset(&page->copy[!(page->seq & 1)], 0xa5, sizeof(page->copy[0]));
    memset(&spoilt->servo.discipline, 0x5a, sizeof(spoilt->servo.discipline));
    leave_locked(&spoilt->cell);
}

static void mend_and_go_on(void)
{
    static struct own_clock stale = OWN_CLOCK_INITIALIZER(&reference_kernel, &kernel);
    const timebase_clock *clock = own_handle(&stale);
    live_for(clock, 20000000);
    for (int i = 0; i < 20; i++) {
        int64_t told = timebase_mono_ns(clock);
        spoil(&stale);
        EXPECT(timebase_mono_ns(clock) >= told);
        live_for(clock, 2000000);
        EXPECT(timebase_clock_maintain(clock) != TIMEBASE_E_INVALID);
        EXPECT(!guard_is_taken(&stale.cell.lock));
        EXPECT(timebase_mono_ns(clock) >= told);
        live_for(clock, 2000000);
    }
    whole_clock_check(clock);
}

static void a_stale_lock_is_taken_over_and_what_it_guarded_is_mended(void **state)
{
    (void)state;
    child_must_pass(mend_and_go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_takes_over_a_clock_that_a_lost_thread_had_locked),
        cmocka_unit_test(a_child_takes_over_a_clock_whose_first_maintenance_was_lost),
        cmocka_unit_test(children_forked_at_any_moment_of_maintenance_live_well),
        cmocka_unit_test(a_stale_lock_is_taken_over_and_what_it_guarded_is_mended),
    };
    return run_all(tests);
}
