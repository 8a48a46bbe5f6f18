/* SPDX-License-Identifier: MIT */
/* What is not known is refused, with its reason: gaps, boots, ends; and what is known is not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timelines.h"

#define LEASE_TICKS 59000000 /* somewhat less than 20 ms at 3 GHz */

static void assert_one_gap(timebase_timeline *reader, int reason, uint64_t from, uint64_t to)
{
    struct timebase_timeline_gap gap;
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, reason);
    assert_true(gap.from_ticks - from <= LEASE_TICKS + LEASE_TICKS / 10);
    assert_true(gap.to_ticks == to);
    assert_true(gap.from_utc_ns < gap.to_utc_ns);
    assert_int_equal(error_at(reader, gap.from_ticks - 1), 0);
    assert_int_equal(error_at(reader, gap.from_ticks), TIMEBASE_E_GAP);
    assert_int_equal(error_at(reader, gap.to_ticks - 1), TIMEBASE_E_GAP);
    assert_int_equal(error_at(reader, gap.to_ticks), 0);
}

static void before_the_first_and_after_the_last_line_nothing_is_known(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 10);
    timebase_timeline *reader = reader_open(&log.folder);
    uint64_t first = log.readings.items[0].ticks, last = log.scene.published_ticks;
    assert_int_equal(error_at(reader, first), 0);
    assert_int_equal(error_at(reader, first - 1), TIMEBASE_E_TOO_EARLY);
    assert_int_equal(error_at(reader, last + LEASE_TICKS), 0);
    assert_int_equal(error_at(reader, last + LEASE_TICKS + LEASE_TICKS / 10), TIMEBASE_E_TOO_LATE);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void the_newest_line_is_drawn_on_if_asked_for(void **state)
{
    struct log log = log_open();
    struct timebase_instant wanted = {0}, got;
    (void)state;
    log_live(&log, 10);
    uint64_t ticks = log.scene.published_ticks + 3000000000u;
    assert_true(timebase_page_convert(&log.scene.page, ticks, &wanted));
    timebase_timeline *reader = reader_open(&log.folder);
    timebase_timeline_set_drawing_on(reader, true);
    assert_int_equal(timebase_timeline_at(reader, NULL, ticks, &got), 0);
    assert_true(is_same_instant(&got, &wanted));
    assert_readings(reader, &log.readings);
    assert_int_equal(error_at(reader, log.readings.items[0].ticks - 1), TIMEBASE_E_TOO_EARLY);
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_DISRUPTION), 0);
    assert_int_equal(error_at(reader, ticks), TIMEBASE_E_TOO_LATE);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void a_reader_sees_what_is_added(void **state)
{
    struct log log = log_open();
    (void)state;
    timebase_timeline *reader = reader_open(&log.folder);
    assert_int_equal(error_at(reader, 5), TIMEBASE_E_NO_BOOT);
    for (int i = 0; i < 50; i++) {
        log_live(&log, 1);
        assert_reading(reader, &log.readings.items[log.readings.count - 2]);
    }
    timebase_timeline_close(reader);
    log_close(&log);
}

static void a_disruption_is_a_gap_from_the_last_line_on(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 10);
    uint64_t last = log.scene.published_ticks;
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_DISRUPTION), 0);
    log.readings.count -= 2; /* read after the last line before it */
    size_t second = log.readings.count;
    log_live(&log, 10);
    log.readings.count--; /* read after the newest line */
    timebase_timeline *reader = reader_open(&log.folder);
    assert_readings(reader, &log.readings);
    assert_one_gap(reader, TIMEBASE_TIMELINE_DISRUPTED, last, log.readings.items[second].ticks);
    assert_int_equal(error_at(reader, last + 1), TIMEBASE_E_GAP);
    timebase_timeline_close(reader);
    log_close(&log);
}

/* A killed writer, whose page goes on, and the next, which takes up the lines on it. */
static void a_writer_that_takes_up_the_page_leaves_no_gap(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 10);
    log_reopen(&log, boot_a);
    log_live(&log, 10);
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_END), 0);
    log_reopen(&log, boot_a);
    struct discipline *discipline = &log.scene.discipline;
    discipline_adopt(discipline, &log.scene.lines);
    log_live(&log, 10);
    log.readings.count--; /* read after the newest line */
    timebase_timeline *reader = reader_open(&log.folder);
    assert_readings(reader, &log.readings);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
    log_close(&log);
}

/* Killed between publishing and appending: the next one's first line was never written down. */
static void a_line_that_was_published_and_not_written_is_a_gap(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 10);
    uint64_t last = log.scene.published_ticks;
    scene_wait(&log.scene);
    assert_true(scene_publish(&log.scene));
    log_reopen(&log, boot_a);
    log.readings.count -= 2;
    size_t second = log.readings.count;
    log_live(&log, 10);
    log.readings.count--; /* read after the newest line */
    timebase_timeline *reader = reader_open(&log.folder);
    assert_readings(reader, &log.readings);
    assert_one_gap(reader, TIMEBASE_TIMELINE_KILLED, last, log.readings.items[second].ticks);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void another_page_after_an_orderly_end_is_a_gap(void **state)
{
    struct log log = log_open();
    static const struct discipline fresh;
    (void)state;
    log_live(&log, 10);
    uint64_t last = log.scene.published_ticks;
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_END), 0);
    log_reopen(&log, boot_a);
    log.scene.discipline = fresh;
    log.readings.count -= 2;
    size_t second = log.readings.count;
    log_live(&log, 10);
    log.readings.count--; /* read after the newest line */
    timebase_timeline *reader = reader_open(&log.folder);
    assert_readings(reader, &log.readings);
    assert_one_gap(reader, TIMEBASE_TIMELINE_ENDED, last, log.readings.items[second].ticks);
    timebase_timeline_close(reader);
    log_close(&log);
}

/* The line that began before it was published: readers were on the old one till then. */
static void a_late_publication_is_seen_from_its_tick_on(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 10);
    log.scene.is_late = true;
    scene_wait(&log.scene);
    struct timebase_page before = log.scene.page;
    simulated_change_pace(
        &log.scene.line, fixed_add(log.scene.line.period, fixed_over(log.scene.line.period, 3000)));
    assert_true(scene_publish(&log.scene));
    uint64_t begin = log.scene.lines.slew.start_ticks, published = log.scene.published_ticks;
    assert_true((int64_t)(published - begin) >= 0);
    assert_int_equal(timeline_writer_append(&log.timeline, &log.scene.lines, published), 0);
    timebase_timeline *reader = reader_open(&log.folder);
    unsigned differing = 0;
    for (uint64_t i = 0; i <= 1000; i++) {
        uint64_t ticks = begin + (published - begin) / 1000 * i;
        const struct timebase_page *page =
            (int64_t)(ticks - published) < 0 ? &before : &log.scene.page;
        struct timebase_instant wanted = {0}, other = {0};
        assert_true(timebase_page_convert(page, ticks, &wanted));
        assert_true(timebase_page_convert(&log.scene.page, ticks, &other));
        assert_reading(reader, &wanted);
        differing += !is_same_instant(&wanted, &other);
    }
    assert_true(differing > 0);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void two_boots_are_told_apart_or_asked_for(void **state)
{
    struct log log = log_open();
    struct timebase_timeline_boot boots[3];
    struct timebase_instant got;
    (void)state;
    log_live(&log, 10);
    assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_END), 0);
    struct readings first = log.readings;
    static const struct readings none;
    log.readings = none;
    log_reopen(&log, boot_b);
    log.scene = scene_new(0, 0x5555555555555555u); /* the counter begins again */
    log.scene.line.utc_offset_ns += 86400000000000;
    log_live(&log, 5);
    timebase_timeline *reader = reader_open(&log.folder);
    assert_true(timebase_timeline_boots(reader, boots, 3) == 2);
    assert_memory_equal(boots[0].id, boot_a, 16);
    assert_memory_equal(boots[1].id, boot_b, 16);
    assert_true(boots[0].first_ticks == first.items[0].ticks && boots[0].gap_count == 0);
    assert_true(boots[0].first_utc_ns == first.items[0].utc_ns);
    assert_true(boots[0].last_utc_ns < boots[1].first_utc_ns && boots[1].counter_id == 1);
    assert_int_equal(error_at(reader, log.readings.items[3].ticks), TIMEBASE_E_AMBIGUOUS);
    /* Of the first boot alone; but the second one may have shown it since. */
    assert_int_equal(error_at(reader, first.items[18].ticks), TIMEBASE_E_AMBIGUOUS);
    for (size_t i = 0; i < first.count - 2; i++) {
        assert_int_equal(timebase_timeline_at(reader, boot_a, first.items[i].ticks, &got), 0);
        assert_true(is_same_instant(&got, &first.items[i]));
    }
    for (size_t i = 0; i < log.readings.count - 2; i++) {
        struct timebase_instant *wanted = &log.readings.items[i];
        assert_int_equal(timebase_timeline_at(reader, boot_b, wanted->ticks, &got), 0);
        assert_true(is_same_instant(&got, wanted));
    }
    const uint8_t other[16] = {1};
    assert_int_equal(timebase_timeline_at(reader, other, 5, &got), TIMEBASE_E_NO_BOOT);
    uint64_t ticks;
    assert_int_equal(
        timebase_timeline_ticks_at_utc(reader, NULL, log.readings.items[3].utc_ns, &ticks), 0);
    assert_true((int64_t)(log.readings.items[3].ticks - ticks) >= 0);
    timebase_timeline_close(reader);
    free(first.items);
    log_close(&log);
}

static void a_counter_that_went_back_makes_its_ticks_ambiguous(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 40);
    uint64_t once = log.readings.items[4].ticks;
    log.scene.line.origin_ticks -= 30 * (uint64_t)700000000;
    log.scene.line.now_ticks -= 30 * (uint64_t)700000000;
    uint64_t last = log.scene.published_ticks;
    log_live(&log, 10); /* nobody marks it: the writer sees it by itself */
    assert_true((int64_t)(log.scene.published_ticks - last) < 0);
    timebase_timeline *reader = reader_open(&log.folder);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 1);
    assert_int_equal(error_at(reader, once), 0);
    struct timebase_timeline_gap gap;
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, TIMEBASE_TIMELINE_DISRUPTED);
    assert_int_equal(error_at(reader, gap.to_ticks), TIMEBASE_E_AMBIGUOUS);
    assert_int_equal(error_at(reader, log.scene.published_ticks), TIMEBASE_E_AMBIGUOUS);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void the_inverse_is_the_first_tick_that_shows_the_time(void **state)
{
    struct log log = log_open();
    (void)state;
    log_live(&log, 1000);
    timebase_timeline *reader = reader_open(&log.folder);
    int found = 0;
    for (size_t i = 2; i + 4 < log.readings.count; i += 7) {
        int64_t target_ns = log.readings.items[i].utc_ns + (int64_t)(i % 3) - 1;
        struct timebase_instant there, earlier;
        uint64_t ticks;
        int error = timebase_timeline_ticks_at_utc(reader, NULL, target_ns, &ticks);
        assert_int_equal(error, 0);
        assert_int_equal(timebase_timeline_at(reader, NULL, ticks, &there), 0);
        assert_int_equal(timebase_timeline_at(reader, NULL, ticks - 1, &earlier), 0);
        assert_true(there.utc_ns >= target_ns && earlier.utc_ns < target_ns);
        found++;
    }
    assert_true(found > 100);
    uint64_t ticks;
    int64_t first_ns = log.readings.items[0].utc_ns;
    assert_int_equal(timebase_timeline_ticks_at_utc(reader, NULL, first_ns - 1, &ticks),
                     TIMEBASE_E_TOO_EARLY);
    assert_int_equal(timebase_timeline_ticks_at_utc(reader, NULL, INT64_MAX, &ticks),
                     TIMEBASE_E_TOO_LATE);
    timebase_timeline_close(reader);
    log_close(&log);
}

static void wrong_arguments_are_refused(void **state)
{
    struct folder folder = folder_new();
    timebase_timeline *reader = (timebase_timeline *)&folder;
    struct timeline_writer timeline;
    char missing[80];
    (void)state;
    snprintf(missing, sizeof(missing), "%s/none", folder.path);
    assert_int_equal(timebase_timeline_open(NULL, folder.path), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_timeline_open(&reader, NULL), TIMEBASE_E_INVALID);
    assert_null(reader);
    assert_int_equal(timebase_timeline_open(&reader, missing), TIMEBASE_E_NOT_FOUND);
    assert_int_equal(timebase_timeline_open(&reader, "/proc/version"), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_timeline_at(NULL, NULL, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_timeline_boots(NULL, NULL, 0), TIMEBASE_E_INVALID);
    assert_int_equal(timeline_writer_open_boot(&timeline, NULL, SIZE_MAX_BYTES, 1, boot_a),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, 65535, 1, boot_a),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timeline_writer_open(&timeline, folder.path, SIZE_MAX_BYTES, 1), 0);
    assert_int_equal(timeline_writer_mark(&timeline, TIMELINE_MARK_LOST), TIMEBASE_E_INVALID);
    timeline_writer_close(&timeline);
    timebase_timeline_close(NULL);
    for (int a = TIMEBASE_E_NO_BOOT; a <= TIMEBASE_E_NOT_FOUND; a++)
        for (int b = TIMEBASE_E_NO_BOOT; b <= TIMEBASE_OK; b++)
            assert_true(a == b || b == -1 || (b < TIMEBASE_OK && b > TIMEBASE_E_NOT_FOUND) ||
                        strcmp(timebase_strerror(a), timebase_strerror(b)) != 0);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_and_after_the_last_line_nothing_is_known),
        cmocka_unit_test(the_newest_line_is_drawn_on_if_asked_for),
        cmocka_unit_test(a_reader_sees_what_is_added),
        cmocka_unit_test(a_disruption_is_a_gap_from_the_last_line_on),
        cmocka_unit_test(a_writer_that_takes_up_the_page_leaves_no_gap),
        cmocka_unit_test(a_line_that_was_published_and_not_written_is_a_gap),
        cmocka_unit_test(another_page_after_an_orderly_end_is_a_gap),
        cmocka_unit_test(a_late_publication_is_seen_from_its_tick_on),
        cmocka_unit_test(two_boots_are_told_apart_or_asked_for),
        cmocka_unit_test(a_counter_that_went_back_makes_its_ticks_ambiguous),
        cmocka_unit_test(the_inverse_is_the_first_tick_that_shows_the_time),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
