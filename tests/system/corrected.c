/* SPDX-License-Identifier: MIT */
/*
 * A private clock over ticks that are corrected by CPU: it is right, it does not go back, and no
 * inline code reads by it. The counters of this machine may agree; then the corrections are 0.
 * Guests (tests/guests/scenarios/corrected.toml) have counters that differ.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <timebase.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/readable.h"
#include "sync/anchor.h"

enum { CPUS = 4096, READINGS = 20000, SKIPPED = 77 };

static struct by_cpu_entry entries[2][CPUS];
static struct by_cpu_table table;

/* All CPUs as they are, or none known. */
static void correct(bool is_known)
{
    struct anchor anchor = {.is_begun = false};
    struct by_cpu_anchor found = {0};
    struct by_cpu_entry entry = {.is_known = is_known};
    struct by_cpu_copy *next;
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    entry.end_ticks = timebase_ticks_ordered() + ((uint64_t)1 << 62);
    table.cpus = CPUS;
    table.copy[0].entries = entries[0];
    table.copy[1].entries = entries[1];
    next = by_cpu_next(&table);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        by_cpu_set_entry(next, cpu, &entry);
    enum anchor_result result;
    while ((result = anchor_take(&anchor, 0, &found)) == ANCHOR_TOO_YOUNG)
        ;
    if (result != ANCHOR_TAKEN) {
        print_message("CPU 0 is not this process', or its counter does not keep going\n");
        skip();
    }
    found.error_ns += 10000; /* what CPUs of this machine may differ by */
    by_cpu_set_anchor(next, &found);
    by_cpu_publish(&table);
    assert_int_equal(counter_correct(&table), TIMEBASE_OK);
    assert_int_equal(timebase_clock_restart(timebase_clock_default()), TIMEBASE_OK);
}

static int end(void **state)
{
    (void)state;
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    timebase_clock_restart(timebase_clock_default());
    return 0;
}

/* Between two readings of the kernel's clock, give or take the bound. */
static void check_bound(void)
{
    struct timebase_instant now;
    int64_t before_ns = counter_clock_ns(CLOCK_MONOTONIC);
    timebase_now(timebase_clock_default(), &now);
    int64_t after_ns = counter_clock_ns(CLOCK_MONOTONIC);
    int64_t error_ns = (int64_t)now.maxerror_ns;
    assert_true(before_ns - error_ns <= now.mono_ns && now.mono_ns <= after_ns + error_ns);
}

static void check_readings(int count)
{
    const timebase_clock *clock = timebase_clock_default();
    int64_t last_ns = 0;
    for (int i = 0; i < count; i++) {
        int64_t now_ns = timebase_mono_ns(clock);
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
        if (i % 100 == 0)
            check_bound();
    }
}

static void readings_are_right_and_do_not_go_back(void **state)
{
    (void)state;
    correct(true);
    check_readings(READINGS);
}

static void so_are_those_of_cpus_that_nobody_knows(void **state)
{
    (void)state;
    correct(false);
    check_readings(READINGS / 100);
}

static void no_inline_code_reads_by_it(void **state)
{
    const struct timebase_page *page = timebase_clock_page(timebase_clock_default());
    (void)state;
    correct(true);
    timebase_mono_ns(timebase_clock_default());
    assert_true(timebase_page_seq(page, __ATOMIC_RELAXED) == 0);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    assert_false(timebase_counter_is_readable());
    end(NULL);
    timebase_mono_ns(timebase_clock_default());
    timebase_utc_at_ns(timebase_clock_default(), timebase_ticks()); /* waits for lines */
    assert_true(timebase_page_seq(page, __ATOMIC_RELAXED) != 0);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
}

static void ticks_convert_as_they_are_read(void **state)
{
    const timebase_clock *clock = timebase_clock_default();
    (void)state;
    correct(true);
    for (int i = 0; i < 1000; i++) {
        int64_t before_ns = timebase_mono_ns(clock);
        uint64_t ticks = timebase_ticks_ordered();
        int64_t after_ns = timebase_mono_ns(clock);
        int64_t then_ns = timebase_mono_at_ns(clock, ticks);
        assert_true(before_ns <= then_ns && then_ns <= after_ns);
    }
}

static void a_loop_ends_at_the_tick_of_its_time(void **state)
{
    const timebase_clock *clock = timebase_clock_default();
    (void)state;
    correct(true);
    int64_t target_ns = timebase_mono_ns(clock) + 2000000;
    uint64_t target = timebase_ticks_at_mono(clock, target_ns);
    while ((int64_t)(timebase_ticks_ordered() - target) < 0)
        timebase_arch_relax();
    assert_true(timebase_mono_ns(clock) >= target_ns);
}

/* ---- what it costs: told, not judged ------------------------------------------------------- */

enum { TURNS = 20, BATCHES = 21, CALLS = 500 };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void take(uint64_t *took)
{
    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = timebase_arch_ticks_ordered();
        for (int j = 0; j < CALLS; j++) {
            int64_t ns = timebase_mono_ns(timebase_clock_default());
            __asm__ __volatile__("" : : "r"(&ns) : "memory"); /* else it is read, but not worked out */
        }
        took[i] = timebase_arch_ticks_ordered() - begin;
    }
}

static double median(uint64_t *took)
{
    qsort(took, (size_t)TURNS * BATCHES, sizeof(took[0]), compare);
    return (double)took[TURNS * BATCHES / 2] / CALLS;
}

/* In turns, so that both see the same machine. */
static void the_cost_of_a_reading_is_told(void **state)
{
    static uint64_t plain[TURNS * BATCHES], corrected[TURNS * BATCHES];
    (void)state;
    for (int i = 0; i < TURNS; i++) {
        end(NULL);
        take(plain + i * BATCHES);
        correct(true);
        take(corrected + i * BATCHES);
    }
    double plain_ticks = median(plain), corrected_ticks = median(corrected);
    print_message("mono: %.1f ticks, corrected by CPU %.1f: %.2f\n", plain_ticks, corrected_ticks,
                  corrected_ticks / plain_ticks);
}

/* ---- between threads ----------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    int64_t last_ns;
    int back;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *read_in_turn(void *unused)
{
    for (int i = 0; i < READINGS; i++) {
        pthread_mutex_lock(&shared.lock);
        int64_t now_ns = timebase_mono_ns(timebase_clock_default());
        shared.back += now_ns < shared.last_ns;
        shared.last_ns = now_ns;
        pthread_mutex_unlock(&shared.lock);
    }
    return unused;
}

static void nothing_goes_back_between_threads(void **state)
{
    pthread_t threads[3];
    (void)state;
    correct(true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_turn, NULL), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.back, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(readings_are_right_and_do_not_go_back, end),
        cmocka_unit_test_teardown(so_are_those_of_cpus_that_nobody_knows, end),
        cmocka_unit_test_teardown(no_inline_code_reads_by_it, end),
        cmocka_unit_test_teardown(ticks_convert_as_they_are_read, end),
        cmocka_unit_test_teardown(a_loop_ends_at_the_tick_of_its_time, end),
        cmocka_unit_test_teardown(the_cost_of_a_reading_is_told, end),
        cmocka_unit_test_teardown(nothing_goes_back_between_threads, end),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
