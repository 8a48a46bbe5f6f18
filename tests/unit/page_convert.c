/* SPDX-License-Identifier: MIT */
/* What a tick means by a page: which line, how far, how sure; and the way back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/page.h>

#include "dice.h"
#include "clock/page/publish.h"

#define HALF ((uint64_t)1 << 63)
#define UTC_OFFSET 1000000000000
#define CASES 300

/* 1.5, 2.5 and 3.5 ns a tick, from ticks 1,000, 2,000 and 3,000 on. */
static struct timebase_page three_lines(void)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = {
        {.start_ticks = 1000,
         .mono_ns = 10000,
         .utc_ns = 10000 + UTC_OFFSET,
         .period_ns = 1,
         .period_frac = HALF,
         .flags = 1,
         .maxerror_ns = 100,
         .drift_rate = 1u << 31,
         .slew_rate = 1u << 30,
         .utc_maxerror_ns = 5000},
        {.start_ticks = 2000,
         .mono_ns = 11500,
         .utc_ns = 11500 + UTC_OFFSET + 7,
         .period_ns = 2,
         .period_frac = HALF,
         .flags = 2,
         .maxerror_ns = 200},
        {.start_ticks = 3000,
         .mono_ns = 14000,
         .utc_ns = 14000 + UTC_OFFSET + 7,
         .period_ns = 3,
         .period_frac = HALF,
         .flags = 3,
         .maxerror_ns = 300},
        {.silent_ticks = 1000,
         .void_ticks = 5000,
         .before_esterror_ns = 10,
         .slew_esterror_ns = 20,
         .after_esterror_ns = 30,
         .esterror_rate = 1u << 31},
    };
    publish_begin(&page, TIMEBASE_ARCH_COUNTER);
    publish_lines(&page, &lines, 500);
    return page;
}

static struct timebase_instant at(const struct timebase_page *page, uint64_t ticks)
{
    struct timebase_instant instant;
    assert_true(timebase_page_convert(page, ticks, &instant));
    assert_true(instant.ticks == ticks);
    return instant;
}

static void each_tick_takes_the_line_in_whose_span_it_lies(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    assert_true(at(&page, 1000).mono_ns == 10000 && at(&page, 1000).flags == 1);
    assert_true(at(&page, 1999).mono_ns == 11498 && at(&page, 1999).flags == 1);
    assert_true(at(&page, 2000).mono_ns == 11500 && at(&page, 2000).flags == 2);
    assert_true(at(&page, 2999).mono_ns == 13997 && at(&page, 2999).flags == 2);
    assert_true(at(&page, 3000).mono_ns == 14000 && at(&page, 3000).flags == 3);
    assert_true(at(&page, 1000003000).mono_ns == 14000 + 3500000000);
}

static void utc_takes_the_offset_of_its_line(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    assert_true(at(&page, 1999).utc_ns == 11498 + UTC_OFFSET);
    assert_true(at(&page, 2000).utc_ns == 11500 + UTC_OFFSET + 7);
    assert_true(at(&page, 3001).utc_ns == 14003 + UTC_OFFSET + 7);
}

static void ticks_before_the_page_are_rounded_down_too(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    assert_true(at(&page, 999).mono_ns == 9998);
    assert_true(at(&page, 998).mono_ns == 9997);
    assert_true(at(&page, 997).mono_ns == 9995);
    assert_true(at(&page, 0).mono_ns == 8500);
    assert_true(at(&page, 999).utc_ns == 9998 + UTC_OFFSET);
    assert_true(at(&page, (uint64_t)-9000).mono_ns == 10000 - 15000);
}

static void bounds_grow_on_both_sides_of_a_line_s_start(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    assert_true(at(&page, 1000).maxerror_ns == 100 && at(&page, 1000).utc_maxerror_ns == 5100);
    assert_true(at(&page, 1400).maxerror_ns == 100 + 200 + 100);
    assert_true(at(&page, 1400).utc_maxerror_ns == 5100 + 200);
    assert_true(at(&page, 600).maxerror_ns == 100 + 200 + 100);
    assert_true(at(&page, 600).utc_maxerror_ns == 5100 + 200);
}

static void the_counter_may_wrap_within_the_lines(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    page.copy[1].before.start_ticks -= 2500;
    page.copy[1].slew.start_ticks -= 2500;
    page.copy[1].after.start_ticks -= 2500;
    assert_true(at(&page, (uint64_t)-501).mono_ns == 11498);
    assert_true(at(&page, (uint64_t)-500).mono_ns == 11500);
    assert_true(at(&page, 0).mono_ns == 11500 + 1250);
    assert_true(at(&page, 499).mono_ns == 13997);
    assert_true(at(&page, 500).mono_ns == 14000);
}

static void a_page_without_lines_converts_nothing(void **state)
{
    struct timebase_page page = {0};
    struct timebase_instant instant = {.mono_ns = 5};
    uint64_t ticks = 6;
    (void)state;
    assert_false(timebase_page_convert(&page, 1000, &instant));
    assert_false(timebase_page_ticks_at_mono(&page, 1000, &ticks));
    assert_false(timebase_page_ticks_at_utc(&page, 1000, &ticks));
    assert_false(timebase_page_read(&page, 1, TIMEBASE_WANT_ALL, &instant));
}

static void assert_first(const struct timebase_page *page, int64_t target_ns)
{
    uint64_t ticks, utc_ticks;
    assert_true(timebase_page_ticks_at_mono(page, target_ns, &ticks));
    assert_true(at(page, ticks).mono_ns >= target_ns);
    assert_true(at(page, ticks - 1).mono_ns < target_ns);
    assert_true(timebase_page_ticks_at_utc(page, target_ns + UTC_OFFSET, &utc_ticks));
    assert_true(at(page, utc_ticks).utc_ns >= target_ns + UTC_OFFSET);
    assert_true(at(page, utc_ticks - 1).utc_ns < target_ns + UTC_OFFSET);
}

static void the_inverse_is_the_first_tick_that_shows_the_time(void **state)
{
    struct timebase_page page = three_lines();
    uint64_t ticks;
    (void)state;
    for (int64_t target = 9900; target < 14100; target++)
        assert_first(&page, target);
    assert_true(timebase_page_ticks_at_mono(&page, 11499, &ticks));
    assert_true(ticks == 2000);
    assert_true(timebase_page_ticks_at_mono(&page, 14001, &ticks));
    assert_true(ticks == 3001);
}

static void the_inverse_reaches_years_either_way_at_any_rate(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct timebase_page page = three_lines();
        uint64_t frac = dice_roll(&dice) | HALF >> 2;
        uint32_t period_ns = (uint32_t)dice_below(&dice, 1000);
        struct timebase_lines *lines = &page.copy[1];
        lines->before.period_ns = lines->slew.period_ns = lines->after.period_ns = period_ns;
        lines->before.period_frac = lines->slew.period_frac = lines->after.period_frac = frac;
        lines->slew.mono_ns = (uint64_t)at(&page, 1999).mono_ns + period_ns;
        lines->after.mono_ns = (uint64_t)at(&page, 2999).mono_ns + period_ns;
        lines->slew.utc_ns = lines->slew.mono_ns + UTC_OFFSET;
        lines->after.utc_ns = lines->after.mono_ns + UTC_OFFSET;
        assert_first(&page, (int64_t)dice_below(&dice, 300000000000000000));
        assert_first(&page, -(int64_t)dice_below(&dice, 300000000000000000));
    }
}

static void targets_out_of_reach_give_the_end_of_the_range(void **state)
{
    struct timebase_page page = three_lines();
    uint64_t first, last;
    (void)state;
    assert_true(timebase_page_ticks_at_mono(&page, INT64_MIN, &first));
    assert_true(timebase_page_ticks_at_mono(&page, INT64_MAX, &last));
    assert_true((int64_t)(first - 3000) < 0);
    assert_true((int64_t)(last - 3000) > 0);
    assert_true(at(&page, first).mono_ns < -((int64_t)1 << 60));
    assert_true(at(&page, last).mono_ns > (int64_t)1 << 61);
}

static void a_reader_of_now_takes_the_line_of_its_tick(void **state)
{
    struct timebase_page page = three_lines();
    const struct timebase_lines *lines = &page.copy[1];
    uint64_t d;
    (void)state;
    assert_ptr_equal(timebase_page_line_now(lines, 1000, 500, &d), &lines->before);
    assert_ptr_equal(timebase_page_line_now(lines, 2999, 500, &d), &lines->slew);
    assert_true(d == 999);
    assert_ptr_equal(timebase_page_line_now(lines, 3500, 500, &d), &lines->after);
    assert_true(d == 500);
}

static void a_reader_of_now_gets_no_line_when_renewal_is_due_or_the_counter_went_back(void **state)
{
    struct timebase_page page = three_lines();
    const struct timebase_lines *lines = &page.copy[1];
    uint64_t d;
    (void)state;
    assert_null(timebase_page_line_now(lines, 3501, 500, &d));
    assert_null(timebase_page_line_now(lines, 999, 500, &d));
    assert_null(timebase_page_line_now(lines, 3000 + ((uint64_t)1 << 62), 500, &d));
}

static void set_flags(struct timebase_page *page, uint32_t flags)
{
    struct timebase_lines *lines = &page->copy[1];
    lines->before.flags = lines->slew.flags = lines->after.flags = flags;
}

static uint32_t status_at(const struct timebase_page *page, uint64_t ticks)
{
    return at(page, ticks).flags & TIMEBASE_LINE_STATUS_MASK;
}

static void a_page_that_nobody_renews_expires_at_its_own_ticks(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    set_flags(&page, TIMEBASE_STATUS_SYNCHRONIZED | TIMEBASE_LINE_ESTIMATE);
    assert_int_equal(status_at(&page, 3999), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_int_equal(status_at(&page, 4000), TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(status_at(&page, 7999), TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(status_at(&page, 8000), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(at(&page, 8000).flags, TIMEBASE_STATUS_UNKNOWN | TIMEBASE_LINE_ESTIMATE);
    assert_int_equal(status_at(&page, 2999 + HALF), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(status_at(&page, 3000 + HALF), TIMEBASE_STATUS_SYNCHRONIZED); /* long ago */
}

static void no_status_becomes_better_by_silence(void **state)
{
    static const uint32_t silent[] = {TIMEBASE_STATUS_UNKNOWN, TIMEBASE_STATUS_FREERUNNING,
                                      TIMEBASE_STATUS_FREERUNNING, TIMEBASE_STATUS_FREERUNNING,
                                      TIMEBASE_STATUS_UNRELIABLE};
    struct timebase_page page = three_lines();
    (void)state;
    for (uint32_t status = 0; status <= TIMEBASE_STATUS_UNRELIABLE; status++) {
        set_flags(&page, status);
        assert_int_equal(status_at(&page, 4000), silent[status]);
        assert_int_equal(status_at(&page, 8000), TIMEBASE_STATUS_UNKNOWN);
    }
}

static void a_page_may_be_kept_for_ever(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    page.copy[1].validity.silent_ticks = page.copy[1].validity.void_ticks = TIMEBASE_PAGE_NEVER;
    set_flags(&page, TIMEBASE_STATUS_SYNCHRONIZED);
    assert_int_equal(status_at(&page, 2999 + HALF), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void the_estimated_error_grows_from_where_its_line_starts(void **state)
{
    struct timebase_page page = three_lines();
    (void)state;
    assert_int_equal(at(&page, 800).esterror_ns, 110);
    assert_int_equal(at(&page, 1000).esterror_ns, 10);
    assert_int_equal(at(&page, 1003).esterror_ns, 11);
    assert_int_equal(at(&page, 2400).esterror_ns, 220);
    assert_int_equal(at(&page, 3000).esterror_ns, 30);
    assert_int_equal(at(&page, 8000).esterror_ns, 2530);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tick_takes_the_line_in_whose_span_it_lies),
        cmocka_unit_test(utc_takes_the_offset_of_its_line),
        cmocka_unit_test(ticks_before_the_page_are_rounded_down_too),
        cmocka_unit_test(bounds_grow_on_both_sides_of_a_line_s_start),
        cmocka_unit_test(the_counter_may_wrap_within_the_lines),
        cmocka_unit_test(a_page_without_lines_converts_nothing),
        cmocka_unit_test(the_inverse_is_the_first_tick_that_shows_the_time),
        cmocka_unit_test(the_inverse_reaches_years_either_way_at_any_rate),
        cmocka_unit_test(targets_out_of_reach_give_the_end_of_the_range),
        cmocka_unit_test(a_page_that_nobody_renews_expires_at_its_own_ticks),
        cmocka_unit_test(no_status_becomes_better_by_silence),
        cmocka_unit_test(a_page_may_be_kept_for_ever),
        cmocka_unit_test(the_estimated_error_grows_from_where_its_line_starts),
        cmocka_unit_test(a_reader_of_now_takes_the_line_of_its_tick),
        cmocka_unit_test(a_reader_of_now_gets_no_line_when_renewal_is_due_or_the_counter_went_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
