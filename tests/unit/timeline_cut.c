/* SPDX-License-Identifier: MIT */
/* A segment that is cut short between any two looks at it, by a writer whose disk is full or by
 * whoever: a reader finds less, and comes to no harm. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timeline/folder.h"
#include "timeline/lookup.h"
#include "timelines.h"

#define PUBLICATIONS 150

/* The file is cut to this size before this look at it. */
static char cut_path[96];
static long cut_size;
static unsigned looks_left;

long __real_segment_file_read(int fd, void *bytes, size_t size, uint64_t offset);
long __wrap_segment_file_read(int fd, void *bytes, size_t size, uint64_t offset);

long __wrap_segment_file_read(int fd, void *bytes, size_t size, uint64_t offset)
{
    if (looks_left > 0 && --looks_left == 0)
        assert_int_equal(truncate(cut_path, cut_size), 0);
    return __real_segment_file_read(fd, bytes, size, offset);
}

static void write_segment(const struct folder *folder, struct timebase_instant *late)
{
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    assert_int_equal(timeline_writer_open_boot(&timeline, folder->path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    scene_append(&scene, &timeline, PUBLICATIONS);
    scene_read(&scene, &readings, 1);
    timeline_writer_close(&timeline);
    *late = readings.items[0];
    free(readings.items);
}

/* Returns whether the cut came to pass. */
static bool read_and_cut(unsigned look, long size)
{
    struct folder folder = folder_new();
    struct timebase_instant late, found;
    timebase_timeline *reader;
    write_segment(&folder, &late);
    file_path(&folder, 1, cut_path);
    cut_size = size;
    looks_left = look;
    if (timebase_timeline_open(&reader, folder.path) == TIMEBASE_OK) {
        if (timebase_timeline_at(reader, NULL, late.ticks, &found) == TIMEBASE_OK)
            assert_true(is_same_instant(&found, &late));
        timebase_timeline_close(reader);
    }
    bool is_cut = looks_left == 0;
    looks_left = 0;
    folder_remove(&folder);
    return is_cut;
}

static void a_segment_may_be_cut_between_any_two_looks(void **state)
{
    static const long sizes[] = {0, 60, RECORD_SIZE, 6 * RECORD_SIZE, 70 * RECORD_SIZE + 11};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned look = 1;
        while (read_and_cut(look, sizes[i]))
            look++;
        assert_true(look > 3);
    }
}

/* Nothing but the head of the segment is left, after the index has been made. */
static void a_publication_that_cannot_be_read_gives_no_page(void **state)
{
    struct folder folder = folder_new();
    struct timebase_instant late, found;
    (void)state;
    write_segment(&folder, &late);
    timebase_timeline *reader = reader_open(&folder);
    file_path(&folder, 1, cut_path);
    assert_int_equal(truncate(cut_path, RECORD_SIZE), 0);
    reader->page_from = 0x5a5a5a5a5a5a5a5a;
    assert_int_equal(timebase_timeline_at(reader, NULL, late.ticks, &found), TIMEBASE_E_NO_BOOT);
    assert_false(reader->has_page);
    assert_true(reader->page_from == 0x5a5a5a5a5a5a5a5a);
    timebase_timeline_close(reader);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_may_be_cut_between_any_two_looks),
        cmocka_unit_test(a_publication_that_cannot_be_read_gives_no_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
