/* SPDX-License-Identifier: MIT */
/* The only code that writes a page: which words, in which copy. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include <timebase/error.h>

#include "clock/page/publish.h"

static struct timebase_line line_of(uint64_t start_ticks)
{
    struct timebase_line line = {
        .start_ticks = start_ticks,
        .mono_ns = 0x1122334455667788 + start_ticks,
        .utc_ns = 0x99aabbccddeeff01,
        .period_frac = 0x8765432112345678,
        .period_ns = 41,
        .flags = 0xffdb0012,
        .maxerror_ns = 0x100000002 + start_ticks,
        .drift_rate = 0x89abcdef,
        .slew_rate = 0xfedcba98,
        .utc_maxerror_ns = 0x300000004,
    };
    return line;
}

static struct timebase_lines lines_of(uint64_t start_ticks)
{
    struct timebase_lines lines = {
        line_of(start_ticks),
        line_of(start_ticks + 10),
        line_of(start_ticks + 20),
        {.silent_ticks = (uint64_t)1 << 62 | 3,
         .void_ticks = (uint64_t)1 << 63,
         .before_esterror_ns = 0x500000006 + start_ticks,
         .slew_esterror_ns = 0x600000007,
         .after_esterror_ns = 0x700000008,
         .esterror_rate = 0xcdef0123},
    };
    return lines;
}

static int is_same(const struct timebase_lines *a, const struct timebase_lines *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static void a_new_page_says_what_it_is_and_has_no_lines(void **state)
{
    struct timebase_page page;
    (void)state;
    memset(&page, 0, sizeof(page));
    publish_begin(&page, TIMEBASE_COUNTER_POWER_TB);
    assert_int_equal(page.magic, TIMEBASE_PAGE_MAGIC);
    assert_int_equal(page.size, 640);
    assert_int_equal(page.incompatible, 0);
    assert_int_equal(page.version, TIMEBASE_PAGE_VERSION);
    assert_int_equal(page.counter_id, TIMEBASE_COUNTER_POWER_TB);
    assert_true(page.seq == 0);
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_STALE);
}

static void nothing_is_read_back_from_an_empty_page(void **state)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = lines_of(3), same = lines_of(3);
    (void)state;
    assert_false(publish_read_back(&page, &lines));
    assert_true(is_same(&lines, &same));
}

static void what_was_published_is_read_back(void **state)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = lines_of(0x7fffffffffffff00), back;
    (void)state;
    memset(&back, 0xa5, sizeof(back));
    publish_lines(&page, &lines, 77);
    assert_true(publish_read_back(&page, &back));
    assert_true(is_same(&lines, &back));
    assert_true(page.refresh_ticks == 77);
}

static void publications_are_numbered_and_take_the_copies_in_turn(void **state)
{
    struct timebase_page page = {0};
    (void)state;
    for (uint64_t seq = 1; seq <= 6; seq++) {
        struct timebase_lines lines = lines_of(1000 * seq);
        publish_lines(&page, &lines, seq);
        assert_true(page.seq == seq);
        assert_true(is_same(&page.copy[seq & 1], &lines));
    }
}

/* A reader may be in it; and if the writer dies, it is what remains. */
static void the_published_copy_is_not_touched_by_the_next_publication(void **state)
{
    struct timebase_page page = {0};
    (void)state;
    for (uint64_t seq = 1; seq <= 6; seq++) {
        struct timebase_lines lines = lines_of(1000 * seq), previous = page.copy[!(seq & 1)];
        publish_lines(&page, &lines, seq);
        assert_true(is_same(&page.copy[!(seq & 1)], &previous));
    }
}

static void the_words_around_the_copies_stay(void **state)
{
    struct timebase_page page = {0}, before;
    struct timebase_lines lines = lines_of(5);
    (void)state;
    publish_begin(&page, TIMEBASE_COUNTER_X86_TSC);
    page.disruption_marker = 3;
    page.utc_step_count = 4;
    page.late_count = 5;
    before = page;
    publish_lines(&page, &lines, 9);
    assert_memory_equal(&page.magic, &before.magic,
                        offsetof(struct timebase_page, copy) -
                            offsetof(struct timebase_page, magic));
}

/* In C as in the specification: a tick before `after` must look huge to readers. */
static void the_refresh_is_limited_so_that_earlier_ticks_look_huge(void **state)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = lines_of(100);
    uint64_t d;
    (void)state;
    publish_lines(&page, &lines, UINT64_MAX);
    assert_true(page.refresh_ticks < (uint64_t)1 << 63);
    assert_ptr_equal(timebase_page_line_now(&page.copy[1], 119, page.refresh_ticks, &d),
                     &page.copy[1].slew);
}

/* Between two publications, for readers of either; 32-bit ones may take halves of any two. */
static void the_refresh_between_is_none_that_a_reader_could_overrun(void **state)
{
    static const uint64_t samples[] = {0,           1,           0x0fffffff0,       0x100000010,
                                       0xfffffffff, 0x200000000, 0x4000000000000000};
    const size_t count = sizeof(samples) / sizeof(samples[0]);
    (void)state;
    for (size_t i = 0; i < count * count; i++) {
        uint64_t a = samples[i / count], b = samples[i % count];
        uint64_t between = publish_refresh_between(a, b);
        uint64_t torn = (between & UINT64_C(0xffffffff00000000)) | (uint32_t)a;
        uint64_t other = (a & UINT64_C(0xffffffff00000000)) | (uint32_t)between;
        assert_true(between <= a && between <= b);
        assert_true(between == publish_refresh_between(b, a));
        assert_true(torn <= a && other <= a);
    }
    assert_true(publish_refresh_between(7, 9) == 7);
}

/* 32-bit readers see the lower half alone, and 0 means "no lines": that number is passed over. */
static void the_number_goes_on_beyond_32_bits(void **state)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = lines_of(100), back;
    (void)state;
    page.seq = 0xffffffff;
    publish_lines(&page, &lines, 1);
    assert_true(page.seq == 0x100000001);
    assert_true(publish_read_back(&page, &back));
    assert_memory_equal(&page.copy[1], &lines, sizeof lines);
    publish_lines(&page, &lines, 1);
    assert_true(page.seq == 0x100000002);
}

static void counts_count(void **state)
{
    uint64_t count = 0xffffffff;
    (void)state;
    publish_count(&count);
    assert_true(count == 0x100000000);
    publish_count(&count);
    assert_true(count == 0x100000001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_page_says_what_it_is_and_has_no_lines),
        cmocka_unit_test(nothing_is_read_back_from_an_empty_page),
        cmocka_unit_test(what_was_published_is_read_back),
        cmocka_unit_test(publications_are_numbered_and_take_the_copies_in_turn),
        cmocka_unit_test(the_published_copy_is_not_touched_by_the_next_publication),
        cmocka_unit_test(the_words_around_the_copies_stay),
        cmocka_unit_test(the_refresh_is_limited_so_that_earlier_ticks_look_huge),
        cmocka_unit_test(the_refresh_between_is_none_that_a_reader_could_overrun),
        cmocka_unit_test(the_number_goes_on_beyond_32_bits),
        cmocka_unit_test(counts_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
