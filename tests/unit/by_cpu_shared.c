/* SPDX-License-Identifier: MIT */
/* The corrections behind another process' page: the CPU, its counter and the kernel's clock are the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <timebase.h>

#include "behind_page.h"
#include "clock/attach/by_cpu_shared.h"
#include "clock/counter/by_cpu_here.h"

enum { CPUS = 3, SKIPPED = 77 };
#define AHEAD 5000000000
/* What a look at the kernel's clock takes. */
#define LOOK_NS 100

static struct {
    unsigned cpu;
    uint64_t ticks; /* of the reference, two a nanosecond */
    uint64_t offset[CPUS];
} machine;

uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = machine.cpu;
    return machine.ticks + machine.offset[machine.cpu];
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    machine.ticks += 2 * LOOK_NS;
    out->tv_sec = (time_t)(machine.ticks / 2 / 1000000000);
    out->tv_nsec = (long)(machine.ticks / 2 % 1000000000);
    return 0;
}

/* So it is called where seconds have 64 bits and words 32. */
int __wrap___clock_gettime64(clockid_t id, struct timespec *out);
int __wrap___clock_gettime64(clockid_t id, struct timespec *out)
{
    return __wrap_clock_gettime(id, out);
}

/* ---- files --------------------------------------------------------------------------------- */

static char folder[64];
static struct behind_page table;
static struct shared_file file;
static int written;

static const char *path_of(const char *name)
{
    static char path[96];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* Room for a page, which nobody looks at here, and a table with CPU 1 as it is. */
static void make_file(const char *name)
{
    close(written);
    written = open(path_of(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    assert_true(written >= 0);
    assert_int_equal(ftruncate(written, TIMEBASE_PAGE_SIZE), 0);
    free(table.copy);
    table = behind_begin();
    behind_set(&table, 1, AHEAD);
    behind_publish(&table, written);
    shared_file_close(&file);
    assert_int_equal(shared_file_open(&file, path_of(name), TIMEBASE_PAGE_FOLDER), TIMEBASE_OK);
}

static int begin(void **state)
{
    (void)state;
    machine.cpu = 0;
    machine.ticks = 1000000;
    machine.offset[1] = machine.offset[2] = AHEAD;
    strcpy(folder, "/tmp/timebase-table-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    file.fd = written = -1;
    make_file("page");
    return 0;
}

static int end(void **state)
{
    (void)state;
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    shared_file_close(&file);
    close(written);
    free(table.copy);
    table.copy = NULL;
    unlink(path_of("page"));
    unlink(path_of("another"));
    return rmdir(folder);
}

static uint64_t read_on(unsigned cpu)
{
    machine.cpu = cpu;
    return timebase_ticks_ordered();
}

/* ---- tests --------------------------------------------------------------------------------- */

static void each_cpu_is_read_by_its_own_line(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    uint64_t now = machine.ticks;
    assert_true(read_on(0) == now && read_on(1) == now);
    assert_true(machine.ticks == now); /* nobody asked the kernel */
    by_cpu_shared_end();
}

static void a_cpu_without_lines_is_read_from_the_kernels_clock(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    uint64_t before = read_on(0), between = read_on(2);
    assert_true(before <= between && between <= read_on(1));
    assert_true(machine.ticks - before >= 2 * 2 * 500);
    by_cpu_shared_end();
}

static void a_renewal_takes_the_next_publication(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    behind_set(&table, 2, AHEAD);
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_OK);
    uint64_t now = machine.ticks;
    assert_true(read_on(2) == now);
    by_cpu_shared_end();
}

static void the_last_clock_gives_the_counter_back(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    by_cpu_shared_end();
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_BY_CPU);
    by_cpu_shared_end();
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_E_UNSUPPORTED);
}

/* A process that corrects its counter by itself does so on. */
static void another_correction_stays_in_force(void **state)
{
    static struct by_cpu_table own;
    (void)state;
    assert_int_equal(counter_correct(&own), TIMEBASE_OK);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_UNSUPPORTED);
    assert_true(counter_correction() == &own);
}

/* Perhaps because the processor's is to be switched off. */
static void another_counter_stays_selected(void **state)
{
    (void)state;
    assert_int_equal(timebase_counter_select(TIMEBASE_COUNTER_OS), TIMEBASE_OK);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_UNSUPPORTED);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_OS);
}

/* What the reading by old lines may have told is past when the new ones are read by. */
static void between_two_files_no_cpu_has_lines(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    uint64_t last = read_on(1);
    make_file("another");
    behind_set(&table, 1, AHEAD + 900); /* the other daemon's measurement: 900 ticks back */
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_OK);
    bool has_waited = false;
    for (int i = 0; i < 100; i++) {
        uint64_t before = machine.ticks, now = read_on(1);
        assert_true(now >= last);
        last = now;
        has_waited |= machine.ticks != before;
        assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_OK);
    }
    assert_true(has_waited);
    assert_true(read_on(1) == machine.ticks - 900);
    by_cpu_shared_end();
}

/* Nobody waits for longer than a tenth of a second, and nothing goes back. */
static void a_table_that_nobody_renews_is_over_at_last(void **state)
{
    (void)state;
    table.copy->anchor.growth = UINT64_MAX / 1000;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    uint64_t last = read_on(2);
    int error = TIMEBASE_OK;
    for (int i = 0; i < 100; i++) {
        machine.ticks += 2 * 1000000000ULL;
        error = by_cpu_shared_renew(&file);
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
            uint64_t before = machine.ticks, now = read_on((cpu + 2) % CPUS);
            assert_true(now >= last);
            assert_true(machine.ticks - before <= 2 * 101000000);
            last = now;
        }
    }
    assert_int_equal(error, TIMEBASE_E_STALE);
    uint64_t before = machine.ticks;
    read_on(0);
    assert_true(machine.ticks - before <= 2 * 5 * LOOK_NS);
    behind_publish(&table, written); /* from the same anchor, which is too wide by now */
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_STALE);
    by_cpu_shared_end();
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    table.copy->anchor.os_ns = machine.ticks / 2;
    table.copy->anchor.ticks = machine.ticks;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    by_cpu_shared_end();
}

/* The counter has parted from the anchor by half of what that allows for. */
static void a_table_that_is_over_shows_no_less_than_it_has_told(void **state)
{
    (void)state;
    table.copy->anchor.growth = UINT64_MAX / 1000;
    table.copy->anchor.ticks_per_ns = 1;
    table.copy->anchor.ticks_per_ns_frac = UINT64_MAX / 1000 * 999;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    machine.ticks += 2 * 49000000000ULL;
    int error = by_cpu_shared_renew(&file);
    assert_int_equal(error, TIMEBASE_OK);
    uint64_t last = read_on(1);
    for (int ms = 0; ms < 2000; ms++) {
        machine.ticks += 2 * 1000000;
        error = by_cpu_shared_renew(&file);
        uint64_t now = read_on(1);
        assert_true(now >= last);
        last = now;
    }
    assert_int_equal(error, TIMEBASE_E_STALE);
    by_cpu_shared_end();
}

static void an_anchor_of_another_time_is_refused(void **state)
{
    (void)state;
    table.copy->anchor.growth = UINT64_MAX / 1000;
    table.copy->anchor.os_ns = machine.ticks * 2;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_STALE);
}

static void another_reference_is_refused(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    make_file("another");
    table.head.reference_cpu = 1;
    table.copy->entries[1] = table.copy->entries[0];
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_E_DISRUPTED);
    uint64_t now = machine.ticks;
    assert_true(read_on(1) == now);
    by_cpu_shared_end();
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Neither begins it, nor is a good one left for it. */
static void assert_refused(int error)
{
    int fd = written;
    struct behind_page spoilt = table;
    assert_int_equal(by_cpu_shared_begin(&file), error);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    assert_int_equal(ftruncate(fd, TIMEBASE_PAGE_SIZE), 0);
    struct behind_page good = behind_begin();
    behind_set(&good, 1, AHEAD);
    good.head.seq = spoilt.head.seq;
    behind_publish(&good, fd);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    spoilt.head.seq = good.head.seq;
    behind_publish(&spoilt, fd);
    assert_int_equal(by_cpu_shared_renew(&file), error);
    uint64_t now = machine.ticks;
    assert_true(read_on(1) == now);
    by_cpu_shared_end();
    free(good.copy);
}

static void no_table_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ftruncate(written, TIMEBASE_PAGE_SIZE), 0);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
}

static void a_table_that_is_cut_short_is_refused(void **state)
{
    off_t size = (off_t)(TIMEBASE_PAGE_SIZE + by_cpu_file_copy_at(BEHIND_CPUS, 1));
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    behind_publish(&table, written);
    behind_publish(&table, written);
    assert_int_equal(ftruncate(written, size + 100), 0);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_E_FORMAT);
    uint64_t now = machine.ticks;
    assert_true(read_on(1) == now); /* by the copy that there is */
    by_cpu_shared_end();
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_FORMAT);
}

static void something_else_is_refused(void **state)
{
    (void)state;
    table.head.magic ^= 1;
    behind_publish(&table, written);
    assert_refused(TIMEBASE_E_FORMAT);
}

static void a_table_of_more_cpus_than_have_a_number_is_refused(void **state)
{
    (void)state;
    table.head.cpus = BY_CPU_FILE_CPUS_MAX + 1;
    behind_publish(&table, written);
    assert_refused(TIMEBASE_E_UNSUPPORTED);
}

static void a_table_of_more_cpus_than_before_is_refused(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_OK);
    table.head.cpus++;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_renew(&file), TIMEBASE_E_UNSUPPORTED);
    by_cpu_shared_end();
}

static void a_table_that_never_was_published_is_refused(void **state)
{
    (void)state;
    table.head.seq = UINT64_MAX;
    behind_publish(&table, written);
    assert_int_equal(by_cpu_shared_begin(&file), TIMEBASE_E_STALE);
}

/* One word of an entry, or of the anchor, that no writer puts there. */
static void impossible_words_are_refused(void **state)
{
    struct by_cpu_entry *entry = &table.copy->entries[1];
    struct by_cpu_anchor *anchor = &table.copy->anchor;
    struct {
        uint64_t *word, value;
    } spoilt[] = {
        {&entry->before.rate, UINT64_C(1) << 60},
        {&entry->slew.add_ticks, entry->slew.add_ticks + 1},
        {&entry->after.start_ticks, entry->after.start_ticks - 1},
        {&table.copy->entries[0].before.add_ticks, 1},
        {&table.copy->entries[0].is_known, 0},
        {&anchor->error_ns, UINT64_MAX},
        {&anchor->growth, UINT64_MAX / 2},
        {&anchor->ticks_per_ns, 0},
        {&anchor->ticks_per_ns, 1001},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
        uint64_t kept = *spoilt[i].word;
        *spoilt[i].word = spoilt[i].value;
        behind_publish(&table, written);
        assert_refused(TIMEBASE_E_FORMAT);
        *spoilt[i].word = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_cpu_is_read_by_its_own_line, begin, end),
        cmocka_unit_test_setup_teardown(a_cpu_without_lines_is_read_from_the_kernels_clock, begin, end),
        cmocka_unit_test_setup_teardown(a_renewal_takes_the_next_publication, begin, end),
        cmocka_unit_test_setup_teardown(the_last_clock_gives_the_counter_back, begin, end),
        cmocka_unit_test_setup_teardown(another_correction_stays_in_force, begin, end),
        cmocka_unit_test_setup_teardown(another_counter_stays_selected, begin, end),
        cmocka_unit_test_setup_teardown(between_two_files_no_cpu_has_lines, begin, end),
        cmocka_unit_test_setup_teardown(a_table_that_nobody_renews_is_over_at_last, begin, end),
        cmocka_unit_test_setup_teardown(a_table_that_is_over_shows_no_less_than_it_has_told, begin, end),
        cmocka_unit_test_setup_teardown(an_anchor_of_another_time_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(another_reference_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(no_table_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_table_that_is_cut_short_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(something_else_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_table_of_more_cpus_than_have_a_number_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_table_of_more_cpus_than_before_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_table_that_never_was_published_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(impossible_words_are_refused, begin, end),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
