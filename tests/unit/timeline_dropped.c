/* SPDX-License-Identifier: MIT */
/*
 * A writer drops and makes segments while a reader that is held up lists the folder, or reads one segment after the
 * other. What is left is whole: no gap, and what has gone is too early.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timeline/folder.h"
#include "timelines.h"

enum { PUBLICATIONS = 1400, LEAST_SEGMENTS = 6 };

static struct folder folder;

/* Before this open of a segment all files up to that number are dropped. */
static unsigned opens_left;
static uint32_t drop_to;

/* These are not listed, so often. */
static unsigned hidings_left;
static uint32_t hidden_from, hidden_to;

int __real_segment_file_open(int folder_fd, uint32_t number, int flags, uint64_t *size);
int __wrap_segment_file_open(int folder_fd, uint32_t number, int flags, uint64_t *size);
int __real_folder_list(int folder_fd, uint32_t **numbers, size_t *count);
int __wrap_folder_list(int folder_fd, uint32_t **numbers, size_t *count);

int __wrap_segment_file_open(int folder_fd, uint32_t number, int flags, uint64_t *size)
{
    if (opens_left > 0 && --opens_left == 0)
        for (uint32_t dropped = 1; dropped <= drop_to; dropped++) {
            char path[96];
            file_path(&folder, dropped, path);
            unlink(path);
        }
    return __real_segment_file_open(folder_fd, number, flags, size);
}

int __wrap_folder_list(int folder_fd, uint32_t **numbers, size_t *count)
{
    int error = __real_folder_list(folder_fd, numbers, count);
    size_t kept = 0;
    if (error != TIMEBASE_OK || hidings_left == 0)
        return error;
    hidings_left--;
    for (size_t i = 0; i < *count; i++)
        if ((*numbers)[i] < hidden_from || (*numbers)[i] > hidden_to)
            (*numbers)[kept++] = (*numbers)[i];
    *count = kept;
    return error;
}

static uint32_t newest_segment(void)
{
    char path[96];
    uint32_t number = 1;
    do
        file_path(&folder, ++number, path);
    while (access(path, F_OK) == 0);
    return number - 1;
}

/* Returns the newest segment's number. */
static uint32_t write_folder(struct readings *readings)
{
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    folder = folder_new();
    assert_int_equal(
        timeline_writer_open_boot(&timeline, folder.path, 3 * TIMELINE_SIZE_MIN, 1, boot_a), 0);
    scene_live(&scene, &timeline, readings, PUBLICATIONS);
    timeline_writer_close(&timeline);
    uint32_t newest = newest_segment();
    if (newest < LEAST_SEGMENTS)
        fail_msg("%u segments", newest);
    return newest;
}

/* From the newest on: what asks for one that has been dropped has the folder looked at again. */
static void assert_no_gap(timebase_timeline *reader, const struct readings *readings)
{
    for (size_t i = readings->count; i >= 50; i -= 50) {
        int error = error_at(reader, readings->items[i - 1].ticks);
        assert_true(error == TIMEBASE_OK || error == TIMEBASE_E_TOO_EARLY);
    }
    assert_reading(reader, &readings->items[readings->count - 1]);
    assert_int_equal(timebase_timeline_gaps(reader, NULL, 0), 0);
}

/* At each look, of one segment, of some and of nearly all. */
static void what_is_dropped_while_it_is_read_is_no_gap(void **state)
{
    (void)state;
    for (uint32_t dropped = 1; dropped < LEAST_SEGMENTS; dropped++)
        for (unsigned look = 1; look <= LEAST_SEGMENTS; look++) {
            struct readings readings = {0};
            write_folder(&readings);
            opens_left = look;
            drop_to = dropped;
            timebase_timeline *reader = reader_open(&folder);
            opens_left = 0;
            assert_no_gap(reader, &readings);
            timebase_timeline_close(reader);
            folder_remove(&folder);
            free(readings.items);
        }
}

/* Made behind where the listing was by then. */
static void what_was_not_listed_is_no_gap(void **state)
{
    struct readings readings = {0};
    uint32_t newest = write_folder(&readings);
    (void)state;
    hidden_from = newest - 2;
    hidden_to = newest - 1;
    hidings_left = 1;
    timebase_timeline *reader = reader_open(&folder);
    assert_int_equal(hidings_left, 0);
    assert_no_gap(reader, &readings);
    assert_int_equal(error_at(reader, readings.items[0].ticks), TIMEBASE_OK);
    timebase_timeline_close(reader);
    folder_remove(&folder);
    free(readings.items);
}

/* One in the middle that somebody has removed is one. */
static void what_somebody_has_removed_is_a_gap(void **state)
{
    struct readings readings = {0};
    char path[96];
    (void)state;
    write_folder(&readings);
    file_path(&folder, 3, path);
    assert_int_equal(unlink(path), 0);
    timebase_timeline *reader = reader_open(&folder);
    assert_int_equal(timebase_timeline_gaps(reader, NULL, 0), 1);
    assert_int_equal(error_at(reader, readings.items[0].ticks), TIMEBASE_OK);
    timebase_timeline_close(reader);
    folder_remove(&folder);
    free(readings.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_dropped_while_it_is_read_is_no_gap),
        cmocka_unit_test(what_was_not_listed_is_no_gap),
        cmocka_unit_test(what_somebody_has_removed_is_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
