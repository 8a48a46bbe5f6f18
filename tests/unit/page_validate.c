/* SPDX-License-Identifier: MIT */
/* Memory that is no page is refused, for each reason there is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "never_expires.h"
#include "clock/page/publish.h"

static struct timebase_line line_of(uint64_t start_ticks)
{
    struct timebase_line line = {.start_ticks = start_ticks, .mono_ns = 5, .period_ns = 1};
    return line;
}

static struct timebase_page good_page(void)
{
    struct timebase_page page = {0};
    struct timebase_lines lines = {line_of(UINT64_MAX - 4), line_of(6), line_of(6), NEVER_EXPIRES};
    publish_begin(&page, TIMEBASE_COUNTER_X86_TSC);
    publish_lines(&page, &lines, 1000);
    return page;
}

static void a_page_with_lines_is_accepted(void **state)
{
    struct timebase_page page = good_page();
    (void)state;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_OK);
}

static void no_page_at_all_is_invalid(void **state)
{
    (void)state;
    assert_int_equal(timebase_page_validate(NULL), TIMEBASE_E_INVALID);
}

static void a_page_without_lines_is_stale(void **state)
{
    struct timebase_page page = good_page();
    (void)state;
    page.seq = 0;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_STALE);
}

static void another_magic_size_or_version_is_refused(void **state)
{
    struct timebase_page magic = good_page(), size = good_page(), version = good_page();
    (void)state;
    magic.magic = __builtin_bswap32(TIMEBASE_PAGE_MAGIC);
    size.size = 512;
    version.version = 1;
    assert_int_equal(timebase_page_validate(&magic), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_page_validate(&size), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_page_validate(&version), TIMEBASE_E_FORMAT);
}

static void a_format_is_refused_even_without_lines(void **state)
{
    struct timebase_page page = {0};
    (void)state;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
}

static void a_refresh_beyond_the_half_of_all_ticks_is_refused(void **state)
{
    struct timebase_page page = good_page();
    (void)state;
    page.refresh_ticks = (uint64_t)1 << 63;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
}

/* Readers of now look at refresh_ticks alone: within it no page is silent. */
static void a_page_that_expires_before_its_renewal_is_due_is_refused(void **state)
{
    struct timebase_page page = good_page();
    struct timebase_validity *validity = &page.copy[page.seq & 1].validity;
    (void)state;
    validity->silent_ticks = validity->void_ticks = page.refresh_ticks + 1;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_OK);
    validity->silent_ticks = page.refresh_ticks;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
    validity->silent_ticks = page.refresh_ticks + 2;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT); /* void before silent */
    validity->void_ticks = TIMEBASE_PAGE_NEVER + 1;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
}

static void an_estimated_error_without_measure_is_refused(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct timebase_page page = good_page();
        uint64_t *esterror_ns = &page.copy[page.seq & 1].validity.before_esterror_ns;
        esterror_ns[which] = (uint64_t)1 << 62;
        assert_int_equal(timebase_page_validate(&page), TIMEBASE_OK);
        esterror_ns[which]++;
        assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
    }
}

static void a_feature_that_is_not_understood_is_refused(void **state)
{
    (void)state;
    for (int bit = 0; bit < 32; bit++) {
        struct timebase_page page = good_page();
        page.incompatible = (uint32_t)1 << bit;
        assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_UNSUPPORTED);
        page.seq = 0;
        assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_UNSUPPORTED);
        page.version++; /* whose bits may mean something else */
        assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
    }
}

typedef void (*spoiler)(struct timebase_line *line);

static void spoil_length(struct timebase_line *line)
{
    line->period_ns = 0;
    line->period_frac = 0;
}

static void spoil_period(struct timebase_line *line)
{
    line->period_ns = 1001;
}

static void spoil_status(struct timebase_line *line)
{
    line->flags = TIMEBASE_STATUS_UNRELIABLE + 1;
}

static void spoil_time(struct timebase_line *line)
{
    line->mono_ns = (uint64_t)-1;
}

static void spoil_error(struct timebase_line *line)
{
    line->maxerror_ns = ((uint64_t)1 << 62) + 1;
}

static void spoil_utc_error(struct timebase_line *line)
{
    line->utc_maxerror_ns = ((uint64_t)1 << 62) + 1;
}

static void assert_refused(spoiler spoil, int which)
{
    struct timebase_page page = good_page();
    struct timebase_lines *lines = &page.copy[page.seq & 1];
    struct timebase_line *line[] = {&lines->before, &lines->slew, &lines->after};
    spoil(line[which]);
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_E_FORMAT);
}

static void each_line_is_checked_for_each_range(void **state)
{
    static const spoiler spoilers[] = {spoil_length, spoil_period, spoil_status,
                                       spoil_time,   spoil_error,  spoil_utc_error};
    (void)state;
    for (size_t i = 0; i < sizeof(spoilers) / sizeof(spoilers[0]); i++)
        for (int which = 0; which < 3; which++)
            assert_refused(spoilers[i], which);
}

/* While it is being rewritten it may hold anything. */
static void the_other_copy_is_not_looked_at(void **state)
{
    struct timebase_page page = good_page();
    (void)state;
    spoil_length(&page.copy[!(page.seq & 1)].after);
    spoil_time(&page.copy[!(page.seq & 1)].before);
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_OK);
}

static void lines_out_of_order_are_refused(void **state)
{
    struct timebase_page early_slew = good_page(), early_after = good_page();
    (void)state;
    early_slew.copy[1].slew.start_ticks = UINT64_MAX - 5;
    early_after.copy[1].after.start_ticks = 5;
    assert_int_equal(timebase_page_validate(&early_slew), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_page_validate(&early_after), TIMEBASE_E_FORMAT);
}

static void the_slowest_counter_is_accepted(void **state)
{
    struct timebase_page page = good_page();
    (void)state;
    page.copy[1].after.period_ns = 1000;
    page.copy[1].slew.period_ns = 0;
    page.copy[1].slew.period_frac = 1;
    assert_int_equal(timebase_page_validate(&page), TIMEBASE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_with_lines_is_accepted),
        cmocka_unit_test(no_page_at_all_is_invalid),
        cmocka_unit_test(a_page_without_lines_is_stale),
        cmocka_unit_test(another_magic_size_or_version_is_refused),
        cmocka_unit_test(a_format_is_refused_even_without_lines),
        cmocka_unit_test(a_refresh_beyond_the_half_of_all_ticks_is_refused),
        cmocka_unit_test(a_page_that_expires_before_its_renewal_is_due_is_refused),
        cmocka_unit_test(an_estimated_error_without_measure_is_refused),
        cmocka_unit_test(a_feature_that_is_not_understood_is_refused),
        cmocka_unit_test(each_line_is_checked_for_each_range),
        cmocka_unit_test(the_other_copy_is_not_looked_at),
        cmocka_unit_test(lines_out_of_order_are_refused),
        cmocka_unit_test(the_slowest_counter_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
