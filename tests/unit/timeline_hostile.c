/* SPDX-License-Identifier: MIT */
/* Anything may be in the folder: reading it never crashes, hangs or tells a wrong time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "../repeats.h"
#include "timelines.h"

/* The fuzz target itself, on what dice make of good segments. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CASES 1000
#define FLIPS 100
#define ROOM (60 * RECORD_SIZE)

/* The one segment of a log. */
static char first[96];

static struct log log_with(unsigned publications)
{
    struct log log = log_open();
    for (unsigned i = 0; i < publications; i++) {
        if (i % 16 == 15)
            timeline_writer_mark(&log.timeline, TIMELINE_MARK_DISRUPTION);
        scene_append(&log.scene, &log.timeline, 1);
        scene_read(&log.scene, &log.readings, 3);
    }
    timeline_writer_close(&log.timeline);
    file_path(&log.folder, 1, first);
    return log;
}

static size_t load(const char *path, uint8_t *bytes, size_t room)
{
    int fd = open(path, O_RDONLY);
    ssize_t got = read(fd, bytes, room);
    close(fd);
    assert_true(got > 0);
    return (size_t)got;
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    assert_true(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

static void records_with_right_checksums_and_wrong_content_do_no_harm(void **state)
{
    struct log log = log_with(40);
    static uint8_t good[ROOM], bad[10 + ROOM];
    struct dice dice = dice_new();
    (void)state;
    size_t size = load(first, good, sizeof(good));
    for (int i = 0; i < repeats(CASES); i++) {
        for (size_t j = 0; j < 10; j++)
            bad[j] = (uint8_t)dice_roll(&dice);
        memcpy(bad + 10, good, size);
        for (uint64_t changes = dice_below(&dice, 30); changes > 0; changes--)
            bad[10 + dice_below(&dice, size)] = (uint8_t)dice_roll(&dice);
        LLVMFuzzerTestOneInput(bad, 10 + size - dice_below(&dice, 3) * 37);
    }
    log_remove(&log);
}

/* A bit somewhere: each reading is as it was, or refused; never another. */
static void a_changed_bit_never_makes_another_time(void **state)
{
    struct log log = log_with(40);
    static uint8_t bytes[ROOM];
    struct dice dice = dice_new();
    unsigned refused = 0, same = 0;
    (void)state;
    size_t size = load(first, bytes, sizeof(bytes));
    for (int i = 0; i < repeats(FLIPS); i++) {
        uint64_t at = RECORD_SIZE + dice_below(&dice, size - RECORD_SIZE);
        uint8_t was = bytes[at];
        bytes[at] ^= (uint8_t)(1 << dice_below(&dice, 8));
        store(first, bytes, size);
        timebase_timeline *reader = reader_open(&log.folder);
        for (size_t j = 0; j < log.readings.count; j++) {
            const struct timebase_instant *wanted = &log.readings.items[j];
            struct timebase_instant got;
            if (timebase_timeline_at(reader, NULL, wanted->ticks, &got) != 0) {
                refused++;
                continue;
            }
            assert_true(is_same_instant(&got, wanted));
            same++;
        }
        timebase_timeline_close(reader);
        bytes[at] = was;
    }
    assert_true(refused > 0 && same > (size_t)repeats(FLIPS) * log.readings.count / 2);
    log_remove(&log);
}

/* A record written over another one, right by itself. */
static void a_record_in_the_place_of_another_never_makes_another_time(void **state)
{
    struct log log = log_with(40);
    static uint8_t bytes[ROOM];
    unsigned refused = 0;
    (void)state;
    size_t size = load(first, bytes, sizeof(bytes));
    for (uint32_t i = 6; i < 12; i++) {
        uint8_t was[RECORD_SIZE];
        memcpy(was, bytes + (i + 3) * RECORD_SIZE, RECORD_SIZE);
        memcpy(bytes + (i + 3) * RECORD_SIZE, bytes + i * RECORD_SIZE, RECORD_SIZE);
        store(first, bytes, size);
        timebase_timeline *reader = reader_open(&log.folder);
        for (size_t j = 0; j < log.readings.count; j++) {
            struct timebase_instant got;
            if (timebase_timeline_at(reader, NULL, log.readings.items[j].ticks, &got) != 0)
                refused++;
            else
                assert_true(is_same_instant(&got, &log.readings.items[j]));
        }
        timebase_timeline_close(reader);
        memcpy(bytes + (i + 3) * RECORD_SIZE, was, RECORD_SIZE);
    }
    assert_true(refused > 0);
    log_remove(&log);
}

/* The longest there can be: its lease is no number. */
static void lines_that_no_page_may_have_are_refused(void **state)
{
    struct log log = log_with(2);
    struct timebase_lines lines = log.scene.lines;
    uint64_t ticks = log.scene.published_ticks + 1000000;
    (void)state;
    lines.before.period_ns = lines.slew.period_ns = lines.after.period_ns = UINT32_MAX;
    lines.before.period_frac = lines.slew.period_frac = lines.after.period_frac = UINT64_MAX;
    log_begin(&log, boot_a);
    assert_int_equal(timeline_writer_append(&log.timeline, &lines, ticks), 0);
    timeline_writer_close(&log.timeline);
    timebase_timeline *reader = reader_open(&log.folder);
    assert_int_equal(error_at(reader, ticks), TIMEBASE_E_GAP);
    timebase_timeline_close(reader);
    log_remove(&log);
}

static int open_error(const struct folder *folder)
{
    timebase_timeline *reader;
    int error = timebase_timeline_open(&reader, folder->path);
    timebase_timeline_close(reader);
    return error;
}

static void what_is_no_timeline_is_refused(void **state)
{
    struct folder folder = folder_new();
    struct timeline_writer timeline;
    uint8_t bytes[300];
    char path[96];
    (void)state;
    assert_int_equal(open_error(&folder), 0); /* empty: no boots */
    memset(bytes, 'x', sizeof(bytes));
    file_path(&folder, 1, path);
    store(path, bytes, sizeof(bytes));
    assert_int_equal(open_error(&folder), TIMEBASE_E_FORMAT);
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     TIMEBASE_E_FORMAT);
    folder_remove(&folder);
}

/* The beginning of the first segment, as a later version may write it. */
static void store_of_version_2(const char *path)
{
    uint8_t bytes[RECORD_SIZE];
    load(first, bytes, sizeof(bytes));
    struct record_head head = record_head(bytes);
    bytes[24] = 2;
    record_seal(bytes, &head);
    store(path, bytes, sizeof(bytes));
}

static void a_segment_of_another_version_is_refused(void **state)
{
    struct log log = log_with(3);
    struct timeline_writer timeline;
    (void)state;
    store_of_version_2(first);
    assert_int_equal(open_error(&log.folder), TIMEBASE_E_FORMAT);
    assert_int_equal(
        timeline_writer_open_boot(&timeline, log.folder.path, SIZE_MAX_BYTES, 1, boot_a),
        TIMEBASE_E_FORMAT);
    log_remove(&log);
}

/* What cannot be read is not nothing: boots, gaps and damage are unknown, and so are ticks. */
static void a_reader_says_so_when_a_segment_of_another_version_appears(void **state)
{
    struct log log = log_with(3);
    char path[96];
    (void)state;
    timebase_timeline *reader = reader_open(&log.folder);
    assert_true(timebase_timeline_boots(reader, NULL, 0) == 1);
    file_path(&log.folder, 2, path);
    store_of_version_2(path);
    for (int i = 0; i < 2; i++) {
        assert_true(timebase_timeline_boots(reader, NULL, 0) == TIMEBASE_E_FORMAT);
        assert_true(timebase_timeline_gaps(reader, NULL, 0) == TIMEBASE_E_FORMAT);
        assert_true(timebase_timeline_damages(reader, NULL, 0) == TIMEBASE_E_FORMAT);
        assert_int_equal(error_at(reader, log.readings.items[0].ticks), TIMEBASE_E_FORMAT);
    }
    assert_int_equal(unlink(path), 0);
    assert_true(timebase_timeline_boots(reader, NULL, 0) == 1);
    assert_true(timebase_timeline_damages(reader, NULL, 0) == 0);
    assert_reading(reader, &log.readings.items[0]);
    timebase_timeline_close(reader);
    log_remove(&log);
}

static void links_pipes_and_folders_are_not_opened(void **state)
{
    struct log log = log_with(10);
    char moved[96], path[96];
    struct timebase_timeline_damage damages[3];
    (void)state;
    file_path(&log.folder, 2, path);
    assert_int_equal(mkfifo(path, 0644), 0);
    file_path(&log.folder, 3, path);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(moved, sizeof(moved), "%s/elsewhere", log.folder.path);
    file_path(&log.folder, 4, path);
    store(moved, (const uint8_t *)"x", 1);
    assert_int_equal(symlink(moved, path), 0);
    timebase_timeline *reader = reader_open(&log.folder);
    assert_true(timebase_timeline_damages(reader, damages, 3) == 3);
    assert_true(damages[0].segment == 2 && damages[2].segment == 4);
    log.readings.count -= 2;
    assert_readings(reader, &log.readings);
    timebase_timeline_close(reader);
    log_remove(&log);
}

/* Though it leads to a segment that would be right. */
static void a_link_to_a_segment_is_not_followed(void **state)
{
    struct log log = log_with(10);
    char moved[96];
    (void)state;
    snprintf(moved, sizeof(moved), "%s/elsewhere", log.folder.path);
    assert_int_equal(rename(first, moved), 0);
    assert_int_equal(symlink(moved, first), 0);
    assert_int_equal(open_error(&log.folder), TIMEBASE_E_FORMAT);
    log_remove(&log);
}

static void a_segment_that_shrinks_while_it_is_read_gives_a_reason(void **state)
{
    struct log log = log_with(40);
    (void)state;
    timebase_timeline *reader = reader_open(&log.folder);
    assert_reading(reader, &log.readings.items[3]);
    assert_int_equal(truncate(first, 6 * RECORD_SIZE), 0);
    int error = error_at(reader, log.readings.items[100].ticks);
    assert_true(error == TIMEBASE_E_GAP || error == TIMEBASE_E_TOO_LATE);
    timebase_timeline_close(reader);
    log_remove(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_with_right_checksums_and_wrong_content_do_no_harm),
        cmocka_unit_test(a_changed_bit_never_makes_another_time),
        cmocka_unit_test(a_record_in_the_place_of_another_never_makes_another_time),
        cmocka_unit_test(lines_that_no_page_may_have_are_refused),
        cmocka_unit_test(what_is_no_timeline_is_refused),
        cmocka_unit_test(a_segment_of_another_version_is_refused),
        cmocka_unit_test(a_reader_says_so_when_a_segment_of_another_version_appears),
        cmocka_unit_test(links_pipes_and_folders_are_not_opened),
        cmocka_unit_test(a_link_to_a_segment_is_not_followed),
        cmocka_unit_test(a_segment_that_shrinks_while_it_is_read_gives_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
