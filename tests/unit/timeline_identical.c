/* SPDX-License-Identifier: MIT */
/*
 * What a tick meant is what it will always mean: readings of a page are asked for again from the
 * timeline, hours later, and must be the same to the nanosecond, with flags and both bounds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../emulated.h"
#include "timelines.h"

#define PER_HOUR (3600 * 4)

struct counter {
    uint32_t period_ns;
    uint64_t period_frac;
};

/* 3 GHz, 1 GHz, 62.5 MHz, and 5 GHz. */
static const struct counter counters[] = {
    {0, 0x5555555555555555u},
    {1, 0},
    {16, 12345},
    {0, 0x3333333333333333u},
};

/* Publications, with readings in between, that wrap the counter when it is told to. */
static void live(struct scene *scene, struct timeline_writer *timeline, struct readings *readings,
                 unsigned publications, unsigned reads)
{
    for (unsigned i = 0; i < publications; i++) {
        scene->is_late = dice_below(&scene->dice, 50) == 0;
        scene_append(scene, timeline, 1);
        scene_read(scene, readings, reads);
    }
}

static void assert_hour_later(const struct counter *counter, unsigned publications, unsigned reads,
                              uint64_t origin_ticks)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(counter->period_ns, counter->period_frac);
    struct timeline_writer timeline;
    struct readings readings = {0};
    scene.line.origin_ticks += origin_ticks;
    scene.line.now_ticks += origin_ticks;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    live(&scene, &timeline, &readings, publications, reads);
    scene_append(&scene, &timeline, 1);
    timebase_timeline *reader = reader_open(&folder);
    assert_readings(reader, &readings);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    assert_true(timebase_timeline_boots(reader, NULL, 0) == 1);
    timebase_timeline_close(reader);
    print_message("%zu readings over %u publications, %.1f bytes each\n", readings.count,
                  publications, (double)timeline_writer_size(&timeline) / publications);
    timeline_writer_close(&timeline);
    free(readings.items);
    folder_remove(&folder);
}

static void a_tick_of_an_hour_ago_means_what_it_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        assert_hour_later(&counters[i], PER_HOUR, 4, 0);
}

static void a_tick_of_a_day_ago_means_what_it_meant(void **state)
{
    (void)state;
    if (is_emulated()) {
        print_message("skipped: a day is too long under emulation\n");
        skip();
    }
    assert_hour_later(&counters[0], 24 * PER_HOUR, 1, 0);
}

static void the_counter_may_wrap(void **state)
{
    (void)state;
    uint64_t half_an_hour = (uint64_t)1800 * 3000000000;
    assert_hour_later(&counters[0], PER_HOUR, 4, -half_an_hour);
}

static void ticks_may_be_asked_for_in_any_order(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    live(&scene, &timeline, &readings, 20000, 2);
    timeline_writer_close(&timeline);
    timebase_timeline *reader = reader_open(&folder);
    for (int i = 0; i < 20000; i++)
        assert_reading(reader, &readings.items[dice_below(&scene.dice, readings.count - 4)]);
    timebase_timeline_close(reader);
    free(readings.items);
    folder_remove(&folder);
}

/* Three records for the first of a segment, one for each other: what a steady clock needs. */
static void a_publication_takes_one_record(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    scene_append(&scene, &timeline, 1);
    uint64_t before = timeline_writer_size(&timeline);
    assert_true(before == 5 * RECORD_SIZE);
    scene_append(&scene, &timeline, 5000);
    assert_true(timeline_writer_size(&timeline) - before < 5100 * RECORD_SIZE);
    timeline_writer_close(&timeline);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tick_of_an_hour_ago_means_what_it_meant),
        cmocka_unit_test(a_tick_of_a_day_ago_means_what_it_meant),
        cmocka_unit_test(the_counter_may_wrap),
        cmocka_unit_test(ticks_may_be_asked_for_in_any_order),
        cmocka_unit_test(a_publication_takes_one_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
