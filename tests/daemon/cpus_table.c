/* SPDX-License-Identifier: MIT */
/* The corrections by CPU behind the page: in the file whole, whatever happens to it, and taken up. */
#include "cmocka_first.h"

#include <timebase/error.h>

#include "daemon/cpus_table.h"
#include "failing_writes.h"
#include "folder.h"
#include "sync/correct.h"
#include "sync/handle.h"

enum { CPUS = 4, SKIPPED = 77 };
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static struct page_file file;
static struct problem problem;
static struct timebase_page page;
static struct cpus_table table;

/* ---- what is measured is the test's -------------------------------------------------------- */

static struct {
    struct by_cpu_table table;
    struct by_cpu_entry entries[2][CPUS];
    uint64_t offset;            /* of CPU 1 */
    int result;                 /* of the next correction */
    struct by_cpu_entry adopted; /* CPU 1's, when it was asked for */
    int calls, rounds;          /* a measurement takes so many more of these */
    bool is_doubted;            /* since the last one */
    bool is_contradicted;       /* CPU 1, at the next call */
    bool is_unknown;            /* CPU 1 has no lines yet */
} made;

/* No leak: tables are never freed. */
static struct {
    struct by_cpu_table *tables[128];
    unsigned count;
} kept;

static struct by_cpu_entry entry_of(uint64_t offset)
{
    struct by_cpu_line line = {.start_ticks = offset, .add_ticks = 0 - offset};
    return (struct by_cpu_entry){line, line, line, offset + ((uint64_t)1 << 61), 1};
}

static void publish(bool has_lines)
{
    const struct by_cpu_anchor anchor = {.ticks_per_ns = 2, .error_ns = 500};
    struct by_cpu_entry reference = entry_of(0), other = entry_of(made.offset);
    other.is_known = has_lines;
    struct by_cpu_copy *next = by_cpu_next(&made.table);
    by_cpu_set_entry(next, 0, &reference);
    by_cpu_set_entry(next, 1, &other);
    by_cpu_set_anchor(next, &anchor);
    by_cpu_set_spread(&made.table, 700);
    by_cpu_publish(&made.table);
}

int __wrap_correct_for(timebase_cpus *cpus, int64_t budget_ns, int64_t *again_ns);
int __wrap_correct_for(timebase_cpus *cpus, int64_t budget_ns, int64_t *again_ns)
{
    assert_true(budget_ns <= 3 * MS);
    *again_ns = 100 * MS;
    made.calls++;
    kept.tables[kept.count++] = cpus->table;
    if (cpus->table != NULL)
        made.adopted = cpus->table->copy[cpus->table->seq & 1].entries[1];
    if (made.result != TIMEBASE_OK)
        return made.result;
    if (made.rounds > 0 || made.is_contradicted) {
        made.rounds--;
        *again_ns = 2 * MS;
        cpus->contradictions += made.is_contradicted;
        if (made.is_contradicted)
            publish(false);
        made.is_contradicted = false;
        return TIMEBASE_OK;
    }
    publish(!made.is_unknown);
    cpus->renewals++;
    made.is_doubted = false;
    return counter_correct(&made.table);
}

void __wrap_correct_doubt(timebase_cpus *cpus);
void __wrap_correct_doubt(timebase_cpus *cpus)
{
    (void)cpus;
    made.is_doubted = true;
}

/* Does anything tell on which CPU the counter is read? */
static bool is_possible;

bool __real_by_cpu_is_possible(void);
bool __wrap_by_cpu_is_possible(void);
bool __wrap_by_cpu_is_possible(void)
{
    return is_possible;
}

static struct skew known, seen; /* by the daemon before; when it looks again */

int __wrap_timebase_cpus_measure(timebase_cpus *cpus);
int __wrap_timebase_cpus_measure(timebase_cpus *cpus)
{
    (void)cpus;
    return TIMEBASE_OK;
}

void __wrap_skew_of_map(const struct skew_map *map, struct skew *skew);
void __wrap_skew_of_map(const struct skew_map *map, struct skew *skew)
{
    (void)map;
    *skew = seen;
}

/* ---- the file ------------------------------------------------------------------------------ */

static struct {
    struct by_cpu_file_head head;
    char copies[4096];
} found;

static const struct by_cpu_file_copy *found_copy(void)
{
    int fd = open(page_path, O_RDONLY | O_NOFOLLOW);
    ssize_t size = (ssize_t)by_cpu_file_size(CPUS);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &found, sizeof(found), TIMEBASE_PAGE_SIZE), size);
    close(fd);
    assert_int_equal(by_cpu_file_judge(&found.head), TIMEBASE_OK);
    const struct by_cpu_file_copy *copy = (const struct by_cpu_file_copy *)(const void *)(
        (const char *)&found + by_cpu_file_copy_at(CPUS, found.head.seq));
    assert_true(by_cpu_file_is_sound(&found.head, copy));
    return copy;
}

static uint64_t offset_in_file(void)
{
    return 0 - found_copy()->entries[1].before.add_ticks;
}

static enum page_file_event store_page(void)
{
    enum page_file_event event;
    publish_on(&page);
    if (page_file_store(&file, &page, &event, &problem) != 0)
        fail_msg("%s", problem.text);
    return event;
}

static void correct_by(uint64_t offset, int64_t mono_ns)
{
    made.offset = offset;
    cpus_table_renew(&table, &file, mono_ns);
}

static int begin(void **state)
{
    memset(&made, 0, sizeof(made));
    memset(&table, 0, sizeof(table));
    made.table.cpus = CPUS;
    made.table.copy[0].entries = made.entries[0];
    made.table.copy[1].entries = made.entries[1];
    made.offset = 5000;
    known = (struct skew){.cpus = 2, .measured_cpus = 2, .excludes_zero = true};
    if (make_folder(state) != 0 || page_file_open(&file, page_path, "", &problem) != 0)
        return -1;
    page = a_page();
    page.counter_id = TIMEBASE_COUNTER_BY_CPU;
    page.incompatible = TIMEBASE_PAGE_CORRECTED_BY_CPU;
    return 0;
}

static int finish(void **state)
{
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    cpus_table_close(&table);
    page_file_close(&file);
    return remove_folder(state);
}

static void begin_table(int64_t mono_ns)
{
    assert_true(cpus_table_begin(&table, &file, &known, mono_ns));
    cpus_table_store(&table, &file);
}

/* As a daemon that ends, and its successor, which finds what is there. */
static void begin_again(int64_t mono_ns)
{
    timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
    cpus_table_close(&table);
    page_file_close(&file);
    memset(&table, 0, sizeof(table));
    memset(&made.adopted, 0, sizeof(made.adopted));
    assert_int_equal(page_file_open(&file, page_path, "", &problem), 0);
    assert_true(cpus_table_begin(&table, &file, &known, mono_ns));
}

/* ---- tests --------------------------------------------------------------------------------- */

static void only_a_certain_difference_is_corrected(void **state)
{
    static const struct skew none[] = {{.cpus = 2, .measured_cpus = 2, .ticks = 900},
                                       {.cpus = 2, .measured_cpus = 1}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        known = seen = none[i];
        assert_false(cpus_table_begin(&table, &file, &known, 0));
        assert_true(table.cpus == NULL);
        assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    }
    seen = (struct skew){.cpus = 2, .measured_cpus = 2, .is_inconsistent = true};
    assert_true(known.measured_cpus == 1); /* so it looks again */
    assert_true(cpus_table_begin(&table, &file, &known, 0));
}

static void the_file_is_made_with_the_table_behind_the_page(void **state)
{
    (void)state;
    begin_table(0);
    assert_int_equal(store_page(), PAGE_FILE_MADE);
    assert_true(offset_in_file() == 5000 && found_copy()->spread_ticks == 700);
    assert_int_equal(cpus_table_count(&table), 2);
    assert_int_equal(store_page(), PAGE_FILE_AS_EXPECTED);
}

static void renewals_follow_in_place_when_they_are_due(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    found_copy();
    uint64_t seq = found.head.seq;
    correct_by(6000, 99 * MS);
    assert_true(offset_in_file() == 5000);
    correct_by(6000, 100 * MS);
    assert_true(offset_in_file() == 6000 && found.head.seq == seq + 1);
    correct_by(7000, 300 * MS);
    assert_true(offset_in_file() == 7000 && found.head.seq == seq + 2);
    assert_int_equal(store_page(), PAGE_FILE_AS_EXPECTED);
}

static void a_writer_that_is_stopped_leaves_a_whole_table(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    for (int writes = 0; writes < 2; writes++) {
        writes_left = writes;
        correct_by(6000, (200 + 200 * writes) * MS);
        writes_left = WRITES_SUCCEED;
        assert_true(offset_in_file() == 5000);
        assert_int_equal(store_page(), PAGE_FILE_MADE); /* nobody knew how much of it was there */
        assert_true(offset_in_file() == 6000);
        correct_by(5000, (300 + 200 * writes) * MS);
    }
}

static void harm_to_the_table_is_noticed_and_repaired_aside(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    int fd = open(page_path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, TIMEBASE_PAGE_SIZE + 200), 1);
    close(fd);
    assert_int_equal(store_page(), PAGE_FILE_CHANGED);
    assert_true(offset_in_file() == 5000);
    assert_int_equal(truncate(page_path, TIMEBASE_PAGE_SIZE), 0);
    assert_int_equal(store_page(), PAGE_FILE_SHRUNK);
    assert_true(offset_in_file() == 5000);
}

static void the_next_daemon_goes_on_from_it_in_the_same_file(void **state)
{
    struct timebase_page there;
    (void)state;
    begin_table(0);
    store_page();
    correct_by(6000, SECOND);
    found_copy();
    uint64_t seq = found.head.seq;
    begin_again(2 * SECOND);
    assert_true(0 - made.adopted.before.add_ticks == 6000);
    assert_int_equal(page_file_adopt(&file, &there, &problem), 0);
    made.offset = 6100;
    cpus_table_store(&table, &file);
    assert_true(offset_in_file() == 6000); /* as it was corrected when it began */
    assert_true(found.head.seq == seq + 1);
    assert_int_equal(store_page(), PAGE_FILE_AS_EXPECTED);
}

static void a_table_that_is_not_sound_is_not_taken_up(void **state)
{
    const uint64_t rate = UINT64_MAX / 4;
    (void)state;
    begin_table(0);
    store_page();
    found_copy();
    int fd = open(page_path, O_WRONLY);
    off_t entry = (off_t)(TIMEBASE_PAGE_SIZE + by_cpu_file_copy_at(CPUS, found.head.seq) +
                          sizeof(struct by_cpu_file_copy) + sizeof(struct by_cpu_entry));
    off_t at = entry + (off_t)offsetof(struct by_cpu_line, rate);
    assert_int_equal(pwrite(fd, &rate, sizeof(rate), at), sizeof(rate));
    close(fd);
    begin_again(SECOND);
    assert_true(made.adopted.is_known == 0);
}

static void a_page_without_a_table_is_not_taken_up(void **state)
{
    struct timebase_page there;
    (void)state;
    page.counter_id = (uint32_t)TIMEBASE_ARCH_COUNTER;
    page.incompatible = 0;
    store_page();
    begin_table(0);
    assert_int_equal(page_file_adopt(&file, &there, &problem), -1);
}

static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    made.result = TIMEBASE_E_PERMISSION;
    assert_false(cpus_table_begin(&table, &file, &known, 0));
    assert_true(table.cpus == NULL && cpus_table_count(&table) == 0);
    assert_int_equal(timebase_counter_id(), (int)TIMEBASE_ARCH_COUNTER);
    page.incompatible = 0;
    store_page();
    struct stat status;
    assert_int_equal(stat(page_path, &status), 0);
    assert_int_equal(status.st_size, TIMEBASE_PAGE_SIZE);
}

/* It is asked for, so that the log says why it is not done. */
static void where_no_cpu_can_be_told_it_is_tried_and_refused(void **state)
{
    unsigned asked = kept.count;
    (void)state;
    is_possible = false;
    made.result = TIMEBASE_E_UNSUPPORTED;
    assert_false(cpus_table_begin(&table, &file, &known, 0));
    is_possible = true; /* as it was, or no test would run */
    assert_int_equal(kept.count, asked + 1);
    assert_true(table.cpus == NULL && cpus_table_count(&table) == 0);
}

static void what_cannot_be_renewed_is_no_promise_for_long(void **state)
{
    struct discipline_sample sample = {.is_synchronized = true, .mono_ns = 30 * SECOND};
    (void)state;
    begin_table(0);
    store_page();
    made.result = TIMEBASE_CPUS_AGREE; /* the kernel has taken the counter back */
    correct_by(6000, SECOND);
    assert_true(offset_in_file() == 5000);
    cpus_table_apply(&table, &sample);
    assert_true(sample.is_synchronized && sample.spread_ticks == 700);
    sample.mono_ns++;
    cpus_table_apply(&table, &sample);
    assert_false(sample.is_synchronized);
    made.result = TIMEBASE_OK;
    correct_by(6000, 2 * SECOND);
    sample.is_synchronized = true;
    cpus_table_apply(&table, &sample);
    assert_true(sample.is_synchronized && offset_in_file() == 6000);
}

static void a_disruption_makes_it_due(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    made.offset = 6000;
    cpus_table_heed(&table, 0, MS);
    cpus_table_renew(&table, &file, MS);
    assert_true(offset_in_file() == 5000);
    cpus_table_heed(&table, 1, MS);
    assert_true(made.is_doubted); /* so that it measures */
    cpus_table_renew(&table, &file, MS);
    assert_true(offset_in_file() == 6000);
}

/* The loop goes on in between, and the file stays as it is. */
static void a_measurement_in_rounds_is_published_when_it_is_through(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    found_copy();
    uint64_t seq = found.head.seq;
    made.rounds = 3;
    made.offset = 6000;
    for (int i = 0; i < 3; i++) {
        assert_true(table.due_ns <= (100 + 2 * i) * MS);
        cpus_table_renew(&table, &file, (100 + 2 * i) * MS);
        assert_true(offset_in_file() == 5000 && found.head.seq == seq);
    }
    cpus_table_renew(&table, &file, 106 * MS);
    assert_true(offset_in_file() == 6000 && found.head.seq == seq + 1);
}

static void lines_that_readings_contradict_are_withdrawn_from_the_file_at_once(void **state)
{
    (void)state;
    begin_table(0);
    store_page();
    assert_true(cpus_table_count(&table) == 2 && cpus_table_contradictions(&table) == 0);
    made.is_contradicted = true;
    made.rounds = 2;
    cpus_table_renew(&table, &file, 100 * MS);
    assert_true(found_copy()->entries[1].is_known == 0);
    assert_true(cpus_table_count(&table) == 1 && cpus_table_contradictions(&table) == 1);
    assert_int_equal(store_page(), PAGE_FILE_AS_EXPECTED);
}

/* It may be a CPU that has come, or that was too busy. */
static void a_cpu_without_lines_is_measured_again_after_a_second(void **state)
{
    (void)state;
    made.is_unknown = true;
    begin_table(0);
    store_page();
    made.is_unknown = false;
    made.rounds = 10; /* or looks */
    cpus_table_renew(&table, &file, 999 * MS);
    assert_false(made.is_doubted);
    cpus_table_renew(&table, &file, SECOND + 1 * MS);
    assert_true(made.is_doubted);
    made.rounds = 0;
    cpus_table_renew(&table, &file, SECOND + 10 * MS);
    assert_int_equal(cpus_table_count(&table), 2);
    cpus_table_renew(&table, &file, 9 * SECOND);
    assert_false(made.is_doubted);
}

#define A_TEST(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        A_TEST(only_a_certain_difference_is_corrected),
        A_TEST(the_file_is_made_with_the_table_behind_the_page),
        A_TEST(renewals_follow_in_place_when_they_are_due),
        A_TEST(a_writer_that_is_stopped_leaves_a_whole_table),
        A_TEST(harm_to_the_table_is_noticed_and_repaired_aside),
        A_TEST(the_next_daemon_goes_on_from_it_in_the_same_file),
        A_TEST(a_table_that_is_not_sound_is_not_taken_up),
        A_TEST(a_page_without_a_table_is_not_taken_up),
        A_TEST(what_is_refused_changes_nothing),
        A_TEST(where_no_cpu_can_be_told_it_is_tried_and_refused),
        A_TEST(what_cannot_be_renewed_is_no_promise_for_long),
        A_TEST(a_disruption_makes_it_due),
        A_TEST(a_measurement_in_rounds_is_published_when_it_is_through),
        A_TEST(lines_that_readings_contradict_are_withdrawn_from_the_file_at_once),
        A_TEST(a_cpu_without_lines_is_measured_again_after_a_second),
    };
    is_possible = __real_by_cpu_is_possible();
    if (!is_possible || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
