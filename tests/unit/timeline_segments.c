/* SPDX-License-Identifier: MIT */
/* Segments: begun when one is full, dropped when there are too many, continued by the next writer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "timelines.h"

#define SMALL TIMELINE_SIZE_MIN /* segments of 8 KiB: 73 records */

static uint64_t bytes_in(const struct folder *folder, unsigned *files)
{
    uint64_t size = 0;
    DIR *stream = opendir(folder->path);
    struct dirent *entry;
    assert_non_null(stream);
    *files = 0;
    while ((entry = readdir(stream)) != NULL) {
        struct stat status;
        char path[400];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder->path, entry->d_name);
        assert_int_equal(stat(path, &status), 0);
        assert_true((status.st_mode & 07777) == 0644);
        size += (uint64_t)status.st_size;
        (*files)++;
    }
    closedir(stream);
    return size;
}

/* The oldest readings are refused, from some on all are as they were. Returns how many. */
static size_t assert_newest(timebase_timeline *reader, const struct readings *readings)
{
    size_t i = 0;
    while (i < readings->count &&
           error_at(reader, readings->items[i].ticks) == TIMEBASE_E_TOO_EARLY)
        i++;
    for (size_t j = i; j + 1 < readings->count; j++)
        assert_reading(reader, &readings->items[j]);
    return readings->count - i;
}

static void the_oldest_segment_goes_and_the_rest_stays(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    unsigned files;
    (void)state;
    mode_t mask = umask(077);
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    timebase_timeline *reader = reader_open(&folder);
    for (int i = 0; i < 40; i++) {
        scene_live(&scene, &timeline, &readings, 50);
        uint64_t size = bytes_in(&folder, &files);
        assert_true(size <= SMALL && size == timeline_writer_size(&timeline) && files <= 8);
        assert_reading(reader, &readings.items[readings.count - 2]);
    }
    umask(mask);
    assert_true(assert_newest(reader, &readings) > 2 * 6 * 64);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    assert_true(timebase_timeline_damages(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
    timeline_writer_close(&timeline);
    free(readings.items);
    folder_remove(&folder);
}

static void a_reader_who_looked_before_may_look_after_the_oldest_is_gone(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    scene_live(&scene, &timeline, &readings, 300);
    timebase_timeline *reader = reader_open(&folder);
    assert_reading(reader, &readings.items[598]);
    scene_live(&scene, &timeline, &readings, 800);
    assert_int_equal(error_at(reader, readings.items[0].ticks), TIMEBASE_E_TOO_EARLY);
    assert_newest(reader, &readings);
    timebase_timeline_close(reader);
    timeline_writer_close(&timeline);
    free(readings.items);
    folder_remove(&folder);
}

static void a_segment_that_is_missing_is_a_gap(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    struct timebase_timeline_gap gap;
    char path[96];
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    scene_live(&scene, &timeline, &readings, 300);
    timeline_writer_close(&timeline);
    file_path(&folder, 3, path);
    assert_int_equal(unlink(path), 0);
    timebase_timeline *reader = reader_open(&folder);
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, TIMEBASE_TIMELINE_UNREADABLE);
    unsigned refused = 0;
    for (size_t i = 0; i + 1 < readings.count; i++) {
        if (error_at(reader, readings.items[i].ticks) == TIMEBASE_E_GAP)
            refused++;
        else
            assert_reading(reader, &readings.items[i]);
    }
    assert_in_range(refused, 2 * 60, 2 * 73 + 2);
    timebase_timeline_close(reader);
    free(readings.items);
    folder_remove(&folder);
}

static void segments_are_taken_up_by_the_next_writer(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    unsigned files;
    (void)state;
    for (int i = 0; i < 30; i++) {
        assert_int_equal(
            timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a), 0);
        scene_live(&scene, &timeline, &readings, 1 + i % 3);
        timeline_writer_close(&timeline);
    }
    bytes_in(&folder, &files);
    assert_int_equal(files, 1);
    timebase_timeline *reader = reader_open(&folder);
    readings.count--;
    assert_readings(reader, &readings);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
    free(readings.items);
    folder_remove(&folder);
}

static void there_is_one_writer(void **state)
{
    struct folder folder = folder_new();
    struct timeline_writer timeline, other;
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    assert_int_equal(timeline_writer_open_boot(&other, folder.path, SMALL, 1, boot_a),
                     TIMEBASE_E_BUSY);
    timeline_writer_close(&timeline);
    assert_int_equal(timeline_writer_open_boot(&other, folder.path, SMALL, 1, boot_a), 0);
    timeline_writer_close(&other);
    folder_remove(&folder);
}

static void a_folder_is_made_for_all_to_read(void **state)
{
    struct folder folder = folder_new();
    struct timeline_writer timeline;
    struct stat status;
    char path[80];
    (void)state;
    snprintf(path, sizeof(path), "%s/timeline", folder.path);
    mode_t mask = umask(077);
    assert_int_equal(timeline_writer_open(&timeline, path, SMALL, 1), 0);
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_true((status.st_mode & 07777) == 0755);
    timeline_writer_close(&timeline);
    snprintf(path, sizeof(path), "%s/no/timeline", folder.path);
    assert_int_equal(timeline_writer_open(&timeline, path, SMALL, 1), TIMEBASE_E_NOT_FOUND);
    folder_remove(&folder);
}

/* Cut after every byte of the last record, and of the publication in three records before it. */
static void a_torn_end_is_passed_over_and_named(void **state)
{
    struct log log = log_open();
    char path[96];
    (void)state;
    log_live(&log, 10);
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_DISRUPTION), 0);
    log_live(&log, 2);
    uint64_t size = timeline_writer_size(&log.timeline);
    timeline_writer_close(&log.timeline);
    file_path(&log.folder, 1, path);
    for (uint64_t cut = size - 1; cut >= size - 4 * RECORD_SIZE; cut--) {
        struct timebase_timeline_damage damage = {0};
        assert_int_equal(truncate(path, (off_t)cut), 0);
        timebase_timeline *reader = reader_open(&log.folder);
        bool is_second_left = cut >= size - RECORD_SIZE;
        uint64_t whole = is_second_left ? size - RECORD_SIZE : size - 4 * RECORD_SIZE;
        assert_true(timebase_timeline_damages(reader, &damage, 1) == (cut != whole));
        assert_true(damage.size == cut - whole);
        assert_true(cut == whole || (damage.offset == whole && damage.segment == 1));
        assert_int_equal(error_at(reader, log.readings.items[20].ticks),
                         is_second_left ? 0 : TIMEBASE_E_TOO_LATE);
        assert_int_equal(error_at(reader, log.readings.items[22].ticks), TIMEBASE_E_TOO_LATE);
        for (int i = 0; i < 19; i++)
            assert_reading(reader, &log.readings.items[i]);
        timebase_timeline_close(reader);
    }
    log_remove(&log);
}

static void after_a_torn_end_the_next_writer_begins_another_segment(void **state)
{
    struct log log = log_open();
    struct timebase_timeline_damage damage;
    unsigned files;
    char path[96];
    (void)state;
    log_live(&log, 10);
    file_path(&log.folder, 1, path);
    assert_int_equal(truncate(path, (off_t)timeline_writer_size(&log.timeline) - 50), 0);
    log_reopen(&log, boot_a);
    log.readings.count -= 3; /* of the line that was torn, and one after the last line */
    size_t second = log.readings.count;
    log_live(&log, 10);
    bytes_in(&log.folder, &files);
    assert_int_equal(files, 2);
    timebase_timeline *reader = reader_open(&log.folder);
    log.readings.count--;
    assert_readings(reader, &log.readings);
    assert_true(timebase_timeline_damages(reader, &damage, 1) == 1);
    assert_true(damage.segment == 1 && damage.size == RECORD_SIZE - 50);
    struct timebase_timeline_gap gap;
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, TIMEBASE_TIMELINE_KILLED);
    assert_true(gap.to_ticks == log.readings.items[second].ticks);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void an_empty_segment_is_passed_over(void **state)
{
    struct log log = log_open();
    char path[96];
    (void)state;
    log_live(&log, 10);
    timeline_writer_close(&log.timeline);
    file_path(&log.folder, 2, path);
    close(open(path, O_CREAT | O_WRONLY, 0644));
    log_begin(&log, boot_a);
    log_live(&log, 10);
    timeline_writer_close(&log.timeline);
    timebase_timeline *reader = reader_open(&log.folder);
    log.readings.count--;
    assert_readings(reader, &log.readings);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
    log_remove(&log);
}

/* The inverse, of a time whose segment has been dropped since the reader looked. */
static void a_time_that_was_dropped_meanwhile_is_too_early(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    uint64_t ticks;
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    scene_live(&scene, &timeline, &readings, 200);
    timebase_timeline *reader = reader_open(&folder);
    int64_t utc_ns = readings.items[20].utc_ns;
    assert_int_equal(timebase_timeline_ticks_at_utc(reader, NULL, utc_ns, &ticks), 0);
    scene_live(&scene, &timeline, &readings, 1000);
    assert_int_equal(timebase_timeline_ticks_at_utc(reader, NULL, utc_ns, &ticks),
                     TIMEBASE_E_TOO_EARLY);
    timebase_timeline_close(reader);
    timeline_writer_close(&timeline);
    free(readings.items);
    folder_remove(&folder);
}

/* One of those in between, while a reader knows it: what it had is a gap, and no beginning. */
static void a_segment_that_is_removed_meanwhile_leaves_a_gap(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    char path[96];
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SMALL, 1, boot_a), 0);
    scene_live(&scene, &timeline, &readings, 200);
    assert_true(timeline.number >= 3);
    timebase_timeline *reader = reader_open(&folder);
    assert_reading(reader, &readings.items[0]);
    file_path(&folder, 2, path);
    assert_int_equal(unlink(path), 0);
    unsigned gaps = 0;
    for (size_t i = 0; i + 1 < readings.count; i++) { /* the last one may be too late */
        int error = error_at(reader, readings.items[i].ticks);
        assert_true(error == TIMEBASE_OK || error == TIMEBASE_E_GAP);
        gaps += error != TIMEBASE_OK;
    }
    assert_true(gaps > 0);
    timebase_timeline_close(reader);
    timeline_writer_close(&timeline);
    free(readings.items);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_segment_goes_and_the_rest_stays),
        cmocka_unit_test(a_reader_who_looked_before_may_look_after_the_oldest_is_gone),
        cmocka_unit_test(a_segment_that_is_missing_is_a_gap),
        cmocka_unit_test(segments_are_taken_up_by_the_next_writer),
        cmocka_unit_test(there_is_one_writer),
        cmocka_unit_test(a_folder_is_made_for_all_to_read),
        cmocka_unit_test(a_torn_end_is_passed_over_and_named),
        cmocka_unit_test(after_a_torn_end_the_next_writer_begins_another_segment),
        cmocka_unit_test(an_empty_segment_is_passed_over),
        cmocka_unit_test(a_time_that_was_dropped_meanwhile_is_too_early),
        cmocka_unit_test(a_segment_that_is_removed_meanwhile_leaves_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
