/* SPDX-License-Identifier: MIT */
/*
 * Causality: one core publishes a reading, another sees it and then reads: never an earlier time.
 * Ordered reads only; that the unordered ones fail this is their documented price.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../emulated.h"
#include "threads.h"

#include <timebase.h>

typedef int64_t (*read_function)(void);

static int64_t read_ticks(void)
{
    return (int64_t)timebase_ticks_ordered();
}

static int64_t read_mono(void)
{
    return timebase_mono_ns(timebase_clock_default());
}

static int64_t read_utc(void)
{
    return timebase_utc_ns(timebase_clock_default());
}

static int64_t read_midpoint(void)
{
    struct timebase_interval interval;
    timebase_utc_interval(timebase_clock_default(), &interval);
    return interval.earliest_ns + (interval.latest_ns - interval.earliest_ns) / 2;
}

static struct {
    int64_t value __attribute__((aligned(128)));
} published;
static int stop __attribute__((aligned(128)));

static void *publish_readings(void *argument)
{
    read_function read = *(read_function *)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        __atomic_store_n(&published.value, read(), __ATOMIC_RELEASE);
    return NULL;
}

static uint64_t late_publications(void)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(timebase_clock_default(), &statistics), 0);
    return statistics.late_publications;
}

/* Violations in one round. */
static uint64_t try_causality(read_function read, int64_t tolerance, uint64_t reads)
{
    uint64_t violations = 0;
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    published.value = read();
    pthread_t publisher = threads_start(0, publish_readings, &read);
    threads_pin(1);
    for (uint64_t i = 0; i < reads; i++) {
        int64_t seen = __atomic_load_n(&published.value, __ATOMIC_ACQUIRE);
        violations += read() - seen < -tolerance;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(publisher, NULL);
    return violations;
}

/* What was published too late may go back within its bound: its round is left out. */
static void expect_causality(const char *name, read_function read, int64_t tolerance)
{
    enum { ROUNDS = 50 };
    uint64_t reads = threads_reads(5000000) / ROUNDS + 1, violations = 0;
    unsigned in_time = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t late = late_publications();
        uint64_t found = try_causality(read, tolerance, reads);
        if (late_publications() != late)
            continue;
        in_time++;
        violations += found;
    }
    print_message("%s: %u violations in %u of %u rounds of %u reads\n", name, (unsigned)violations,
                  in_time, ROUNDS, (unsigned)reads);
    assert_true(in_time > 0);
    assert_true(violations == 0);
}

/* These need no lines. */
static void ordered_ticks_respect_causality(void **state)
{
    (void)state;
    assert_true(try_causality(read_ticks, 0, threads_reads(5000000)) == 0);
}

static void monotonic_time_respects_causality(void **state)
{
    (void)state;
    expect_causality("mono", read_mono, 0);
}

static void utc_respects_causality(void **state)
{
    (void)state;
    expect_causality("utc", read_utc, 0);
}

/* The middle of two rounded ends may lie half a nanosecond off. */
static void intervals_respect_causality(void **state)
{
    (void)state;
    expect_causality("interval", read_midpoint, 1);
}

int main(void)
{
    confine_if_emulated();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordered_ticks_respect_causality),
        cmocka_unit_test(monotonic_time_respects_causality),
        cmocka_unit_test(utc_respects_causality),
        cmocka_unit_test(intervals_respect_causality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
