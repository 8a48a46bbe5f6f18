/* SPDX-License-Identifier: MIT */
/*
 * A process that is attached to a page whose ticks are corrected by CPU: each clock of it reads by
 * the table behind the page, right and never back, whatever becomes of the table. The counters of
 * this machine may agree; then the corrections are 0. Guests have counters that differ
 * (tests/guests/scenarios/corrected_daemon.toml).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include <timebase.h>

#include "../unit/behind_page.h"
#include "attached.h"
#include "sync/anchor.h"

enum { READINGS = 20000 };

/* ---- a page with a table ------------------------------------------------------------------- */

static struct behind_page table;
static struct by_cpu_anchor anchor;
static int fd;

static int publish_pages(void)
{
    writer.page->counter_id = TIMEBASE_COUNTER_BY_CPU;
    writer.page->incompatible = TIMEBASE_PAGE_CORRECTED_BY_CPU;
    fd = open(writer.path, O_RDWR | O_CLOEXEC);
    behind_publish(&table, fd);
    return fd;
}

/* CPUs as they are, or none known but the reference. */
static void know_cpus(bool is_known)
{
    for (unsigned cpu = 1; cpu < BEHIND_CPUS; cpu++) {
        behind_set(&table, cpu, 0);
        table.copy->entries[cpu].end_ticks = timebase_arch_ticks_ordered() + ((uint64_t)1 << 61);
        table.copy->entries[cpu].is_known = is_known;
    }
}

/* Once: it takes some 40 ms. */
static int find_anchor(void **state)
{
    struct anchor begun = {.is_begun = false};
    enum anchor_result result;
    (void)state;
    while ((result = anchor_take(&begun, 0, &anchor)) == ANCHOR_TOO_YOUNG)
        ;
    anchor.error_ns += 10000; /* what CPUs of this machine may differ by */
    return result == ANCHOR_TAKEN ? 0 : -1;
}

static int begin_with(bool is_known)
{
    writer = writer_new();
    table = behind_begin();
    table.copy->anchor = anchor;
    table.copy->entries[0].end_ticks = timebase_arch_ticks_ordered() + ((uint64_t)1 << 61);
    know_cpus(is_known);
    publish_pages();
    return timebase_clock_attach(&shared, writer.path);
}

static int begin_known(void **state)
{
    (void)state;
    return begin_with(true);
}

static int begin_unknown(void **state)
{
    (void)state;
    return begin_with(false);
}

static int end_corrected(void **state)
{
    close(fd);
    free(table.copy);
    end(state);
    return timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER ? 0 : -1;
}

/* Every inline reader and conversion, beside a writer. */
static void read_on(int times)
{
    for (int i = 0; i < times; i++) {
        writer_publish(&writer);
        read_for(2 * MS);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void readings_are_right_and_do_not_go_back(void **state)
{
    (void)state;
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    read_on(200);
    assert_int_equal(attachment().error, TIMEBASE_OK);
}

static void no_inline_code_reads_the_page(void **state)
{
    (void)state;
    read_on(5);
    assert_true(timebase_page_seq(timebase_clock_page(shared), __ATOMIC_RELAXED) == 0);
}

static void the_default_clock_reads_by_the_same_table(void **state)
{
    const timebase_clock *own = timebase_clock_default();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t ticks = timebase_ticks_ordered();
        int64_t apart_ns = timebase_mono_at_ns(own, ticks) - timebase_mono_at_ns(shared, ticks);
        struct timebase_instant by_own, by_page;
        timebase_at(own, ticks, &by_own);
        timebase_at(shared, ticks, &by_page);
        assert_true(llabs(apart_ns) <= (int64_t)(by_own.maxerror_ns + by_page.maxerror_ns));
        writer_publish(&writer);
    }
    assert_true(timebase_page_seq(timebase_clock_page(own), __ATOMIC_RELAXED) == 0);
}

static void renewals_of_the_table_do_no_harm(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        know_cpus(i % 2);
        behind_publish(&table, fd);
        read_on(2);
    }
    assert_int_equal(attachment().error, TIMEBASE_OK);
}

/* Nobody renews it: the lines of the table end, the page is silent, and then expires. */
static void a_writer_that_dies_leaves_time_that_goes_on_and_says_so(void **state)
{
    struct timebase_lines lines;
    uint64_t ms = writer_ticks(&writer) / 20;
    int seen[5] = {0}, now = TIMEBASE_STATUS_SYNCHRONIZED;
    (void)state;
    for (unsigned cpu = 1; cpu < BEHIND_CPUS; cpu++)
        table.copy->entries[cpu].end_ticks = timebase_arch_ticks_ordered() + 50 * ms;
    behind_publish(&table, fd);
    writer_publish(&writer);
    assert_true(publish_read_back(writer.page, &lines));
    lines.validity.silent_ticks = 100 * ms;
    lines.validity.void_ticks = 200 * ms;
    publish_lines(writer.page, &lines, 20 * ms);
    for (int last = now; now != TIMEBASE_STATUS_UNKNOWN; last = now) {
        read_for(2 * MS);
        now = status();
        seen[now] = 1;
        assert_true(now == last || now != TIMEBASE_STATUS_SYNCHRONIZED);
    }
    assert_true(seen[TIMEBASE_STATUS_UNKNOWN]);
    read_for(20 * MS);
}

static void a_table_that_is_cut_off_is_told_and_the_clock_goes_on(void **state)
{
    (void)state;
    read_on(2);
    assert_int_equal(ftruncate(fd, TIMEBASE_PAGE_SIZE), 0);
    writer_publish(&writer);
    read_for(100 * MS);
    assert_int_equal(attachment().error, TIMEBASE_E_FORMAT);
    behind_publish(&table, fd);
    behind_publish(&table, fd);
    read_on(20);
    assert_int_equal(attachment().error, TIMEBASE_OK);
}

static void a_table_in_another_file_is_followed_too(void **state)
{
    (void)state;
    read_on(2);
    close(fd);
    unlink(writer.path);
    writer_map(&writer, writer.path);
    publish_begin(writer.page, TIMEBASE_COUNTER_BY_CPU);
    publish_pages();
    for (int i = 0; i < 3000 && attachment().openings < 2; i++)
        read_on(1);
    assert_true(attachment().openings == 2);
    read_on(50);
    assert_int_equal(attachment().error, TIMEBASE_OK);
}

static void two_clocks_share_the_table(void **state)
{
    timebase_clock *other;
    (void)state;
    assert_int_equal(timebase_clock_attach(&other, writer.path), TIMEBASE_OK);
    read_on(5);
    timebase_clock_detach(other);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    read_on(5);
}

/* A page of raw ticks is no use to it any more. */
static void a_raw_page_is_refused_meanwhile(void **state)
{
    struct page_writer raw = writer_new();
    timebase_clock *other;
    (void)state;
    raw.page->counter_id = TIMEBASE_ARCH_COUNTER;
    raw.page->incompatible = 0;
    assert_int_equal(timebase_clock_attach(&other, raw.path), TIMEBASE_E_UNSUPPORTED);
    writer_remove(&raw);
    read_on(5);
}

/* Its lines are for other ticks than this process has from then on. */
static void a_clock_by_raw_ticks_says_unknown_from_then_on(void **state)
{
    struct page_writer raw;
    timebase_clock *before, *corrected;
    struct timebase_instant now;
    (void)state;
    timebase_clock_detach(shared);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    raw = writer_new();
    assert_int_equal(timebase_clock_attach(&before, raw.path), TIMEBASE_OK);
    writer_publish(&writer);
    assert_int_equal(timebase_clock_attach(&corrected, writer.path), TIMEBASE_OK);
    timebase_clock_maintain(before);
    timebase_now(before, &now);
    assert_int_equal(now.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNKNOWN);
    timebase_clock_detach(before);
    shared = corrected;
    read_on(5);
    writer_remove(&raw);
}

/* ---- between threads ----------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    int64_t last_ns;
    int back;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *read_in_turn(void *unused)
{
    for (int i = 0; i < READINGS; i++) {
        pthread_mutex_lock(&seen.lock);
        int64_t now_ns = timebase_mono_ns(shared);
        seen.back += now_ns < seen.last_ns;
        seen.last_ns = now_ns;
        pthread_mutex_unlock(&seen.lock);
    }
    return unused;
}

/* As when a daemon begins to correct while it runs: another counter needs another clock. */
static void a_page_that_becomes_corrected_is_not_followed_before_it_is_attached_anew(void **state)
{
    struct page_writer raw;
    timebase_clock *before;
    (void)state;
    timebase_clock_detach(shared);
    raw = writer_new();
    assert_int_equal(timebase_clock_attach(&before, raw.path), TIMEBASE_OK);
    assert_int_equal(rename(writer.path, raw.path), 0);
    shared = before;
    int64_t last_ns = 0;
    for (int i = 0; i < 3000 && attachment().error == TIMEBASE_OK; i++) {
        int64_t now_ns = timebase_mono_ns(before);
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
        usleep(1000);
    }
    assert_int_equal(attachment().error, TIMEBASE_E_UNSUPPORTED);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    timebase_clock_detach(before);
    writer_publish(&writer);
    assert_int_equal(timebase_clock_attach(&shared, raw.path), TIMEBASE_OK);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    read_on(5);
    writer_remove(&raw);
}

static void nothing_goes_back_between_threads(void **state)
{
    pthread_t threads[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_turn, NULL), 0);
    for (int i = 0; i < 100; i++) {
        behind_publish(&table, fd);
        writer_publish(&writer);
        usleep(1000);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(seen.back, 0);
}

#define BY_LINES(test) cmocka_unit_test_setup_teardown(test, begin_known, end_corrected)
#define BY_KERNEL(test) cmocka_unit_test_setup_teardown(test, begin_unknown, end_corrected)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BY_LINES(readings_are_right_and_do_not_go_back),
        BY_KERNEL(readings_are_right_and_do_not_go_back),
        BY_LINES(no_inline_code_reads_the_page),
        BY_LINES(the_default_clock_reads_by_the_same_table),
        BY_LINES(renewals_of_the_table_do_no_harm),
        BY_LINES(a_writer_that_dies_leaves_time_that_goes_on_and_says_so),
        BY_LINES(a_table_that_is_cut_off_is_told_and_the_clock_goes_on),
        BY_LINES(a_table_in_another_file_is_followed_too),
        BY_LINES(two_clocks_share_the_table),
        BY_LINES(a_raw_page_is_refused_meanwhile),
        BY_LINES(a_clock_by_raw_ticks_says_unknown_from_then_on),
        BY_LINES(a_page_that_becomes_corrected_is_not_followed_before_it_is_attached_anew),
        BY_LINES(nothing_goes_back_between_threads),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    if (find_anchor(NULL) != 0) {
        printf("CPU 0 is not this process', or its counter does not keep going\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
