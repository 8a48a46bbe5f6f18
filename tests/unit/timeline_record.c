/* SPDX-License-Identifier: MIT */
/* Records: what goes in comes back, in one record or in three, and nothing else passes for one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timeline/bytes.h"
#include "timeline/crc.h"
#include "never_expires.h"
#include "timeline/record_lines.h"
#include "timelines.h"

#define CASES 2000

static void the_checksum_is_crc32c(void **state)
{
    (void)state;
    const uint8_t nothing[32] = {0};
    assert_int_equal(crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(nothing, 32), 0x8a9136aa); /* RFC 3720, B.4 */
    assert_int_equal(crc32c(nothing, 0), 0);
}

static void numbers_are_little_endian(void **state)
{
    (void)state;
    uint8_t bytes[8];
    bytes_put(bytes, 0x0123456789abcdefu, 8);
    assert_true(bytes[0] == 0xef && bytes[7] == 0x01);
    assert_true(bytes_get64(bytes) == 0x0123456789abcdefu);
    assert_true(bytes_get32(bytes) == 0x89abcdefu);
    assert_true(bytes_get(bytes, 2) == 0xcdef);
}

static struct timebase_line any_line(struct dice *dice)
{
    struct timebase_line line = {dice_wide(dice),           dice_wide(dice),
                                 dice_wide(dice),           dice_wide(dice),
                                 (uint32_t)dice_wide(dice), (uint32_t)dice_wide(dice),
                                 dice_wide(dice),           (uint32_t)dice_wide(dice),
                                 (uint32_t)dice_wide(dice), dice_wide(dice)};
    return line;
}

static struct timeline_publication any_publication(struct dice *dice)
{
    struct timeline_publication publication = {
        dice_roll(dice), {any_line(dice), any_line(dice), any_line(dice), NEVER_EXPIRES}};
    return publication;
}

static void a_line_comes_back_as_it_was(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct timeline_publication publication = any_publication(&dice);
        const struct timebase_line *lines = &publication.lines.before;
        for (unsigned part = RECORD_BEFORE; part <= RECORD_AFTER; part++) {
            uint8_t record[RECORD_SIZE] = {0};
            struct record_head head = {RECORD_LINE, part, 7, 5};
            record_put_line(record, &publication, (enum record_part)part);
            record_seal(record, &head);
            assert_true(record_is_whole(record));
            assert_true(record_published_ticks(record) == publication.published_ticks);
            struct timebase_line back = record_get_line(record);
            assert_memory_equal(&back, &lines[part], sizeof(back));
        }
    }
}

/* A publication as the discipline makes them, and the one before it. */
static void usual(struct scene *scene, struct timeline_publication *previous,
                  struct timeline_publication *next)
{
    do
        scene_wait(scene);
    while (!scene_publish(scene));
    previous->published_ticks = scene->published_ticks;
    previous->lines = scene->lines;
    scene_wait(scene);
    assert_true(scene_publish(scene));
    next->published_ticks = scene->published_ticks;
    next->lines = scene->lines;
}

static void assert_comes_back(const uint8_t *record, unsigned part,
                              const struct timeline_publication *previous,
                              const struct timeline_publication *publication)
{
    struct timebase_lines back;
    assert_true(part == RECORD_SLEW || part == RECORD_AFTER);
    record_get_lines(record, &back);
    record_get_before(record, part == RECORD_SLEW ? &previous->lines.slew : &previous->lines.after,
                      &back);
    assert_memory_equal(&back, &publication->lines, offsetof(struct timebase_lines, validity));
    assert_true(record_published_ticks(record) == publication->published_ticks);
}

static void what_the_discipline_publishes_fits_into_one_record(void **state)
{
    struct scene scene = scene_new(0, 0x5555555555555555u);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct timeline_publication previous, next;
        uint8_t record[RECORD_SIZE] = {0};
        unsigned part;
        usual(&scene, &previous, &next);
        if (scene.discipline.events & DISCIPLINE_DISRUPTED)
            continue;
        assert_true(record_put_lines(record, &previous, &next, &part));
        assert_comes_back(record, part, &previous, &next);
    }
}

/* Change any byte of the lines: the record holds that too, or says that it does not. */
static void nothing_is_lost_in_one_record_without_a_word(void **state)
{
    struct scene scene = scene_new(0, 0x5555555555555555u);
    int kept = 0, refused = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct timeline_publication previous, next;
        uint8_t record[RECORD_SIZE] = {0};
        unsigned part;
        usual(&scene, &previous, &next);
        uint8_t *byte = (uint8_t *)&next.lines + dice_below(&scene.dice, sizeof(next.lines));
        *byte = (uint8_t)(*byte ^ (1 + dice_below(&scene.dice, 255)));
        if (!record_put_lines(record, &previous, &next, &part)) {
            refused++;
            continue;
        }
        kept++;
        assert_comes_back(record, part, &previous, &next);
    }
    assert_true(kept > CASES / 10 && refused > CASES / 10);
}

static void every_changed_bit_is_noticed(void **state)
{
    struct dice dice = dice_new();
    uint8_t record[RECORD_SIZE] = {0};
    struct timeline_publication publication = any_publication(&dice);
    struct record_head head = {RECORD_LINE, RECORD_SLEW, 70000, 5};
    (void)state;
    record_put_line(record, &publication, RECORD_SLEW);
    record_seal(record, &head);
    for (int bit = 0; bit < RECORD_SIZE * 8; bit++) {
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(record_is_whole(record));
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(record_is_whole(record));
}

static void noughts_and_ones_are_no_record(void **state)
{
    uint8_t record[RECORD_SIZE] = {0};
    (void)state;
    assert_false(record_is_whole(record));
    memset(record, 0xff, sizeof(record));
    assert_false(record_is_whole(record));
}

static void segments_and_marks_come_back_as_they_were(void **state)
{
    uint8_t record[RECORD_SIZE] = {0};
    struct record_segment segment = {RECORD_MAGIC, 1, RECORD_SIZE, {1, 2, 3}, 17, 12345678};
    struct record_mark mark = {{9, 8, 7}, -3, 0xfedcba9876543210u};
    struct record_head head = {RECORD_MARK, TIMELINE_MARK_LOST, 0xfffffffe, 0xfffffff0};
    (void)state;
    record_put_segment(record, &segment);
    struct record_segment segment_back = record_get_segment(record);
    assert_memory_equal(&segment_back, &segment, sizeof(segment));
    assert_memory_equal(record + 16, "TBTIMELN", 8);
    memset(record, 0, sizeof(record));
    record_put_mark(record, &mark);
    record_seal(record, &head);
    struct record_mark mark_back = record_get_mark(record);
    assert_memory_equal(mark_back.boot, mark.boot, sizeof(mark.boot));
    assert_int_equal(mark_back.counter_id, mark.counter_id);
    assert_true(mark_back.held_ticks == mark.held_ticks);
    struct record_head head_back = record_head(record);
    assert_memory_equal(&head_back, &head, sizeof(head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_crc32c),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(a_line_comes_back_as_it_was),
        cmocka_unit_test(what_the_discipline_publishes_fits_into_one_record),
        cmocka_unit_test(nothing_is_lost_in_one_record_without_a_word),
        cmocka_unit_test(every_changed_bit_is_noticed),
        cmocka_unit_test(noughts_and_ones_are_no_record),
        cmocka_unit_test(segments_and_marks_come_back_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
