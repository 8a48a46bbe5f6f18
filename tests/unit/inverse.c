/* SPDX-License-Identifier: MIT */
/*
 * The tick of a time is the one that bit by bit is found, whatever the lines: straight ones, with
 * steps of UTC between them, and such as no writer makes. The conversion is the only judge.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/page.h>

#define PAGES 20000
#define TARGETS 6
#define SECOND UINT64_C(1000000000)

static struct timebase_page page;
static uint64_t seed;

static uint64_t any(void)
{
    /* splitmix64 (Vigna) */
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of any length. */
static uint64_t some(void)
{
    uint64_t value = any();
    return value >> any() % 64;
}

static uint64_t near(uint64_t value)
{
    switch (any() % 5) {
    case 0:
        return value;
    case 1:
        return value + 1;
    case 2:
        return value - 1;
    case 3:
        return value + some();
    default:
        return value - some();
    }
}

static int64_t time_at(uint64_t ticks, bool is_utc)
{
    struct timebase_instant instant;
    assert_true(timebase_page_convert(&page, ticks, &instant));
    return is_utc ? instant.utc_ns : instant.mono_ns;
}

/* Each bit is set if the last tick without it is too early. */
static uint64_t by_bits(int64_t target_ns, bool is_utc)
{
    const struct timebase_line *after = &page.copy[0].after;
    int bits = 62;
    for (uint32_t period_ns = after->period_ns; period_ns != 0; period_ns >>= 1)
        bits--;
    uint64_t found = after->start_ticks - ((uint64_t)1 << bits);
    for (int bit = bits; bit >= 0; bit--) {
        uint64_t step = (uint64_t)1 << bit;
        if (time_at(found + step - 1, is_utc) < target_ns)
            found += step;
    }
    return found;
}

static void expect_same(int64_t target_ns, bool is_utc)
{
    uint64_t ticks = 0;
    assert_true(is_utc ? timebase_page_ticks_at_utc(&page, target_ns, &ticks)
                       : timebase_page_ticks_at_mono(&page, target_ns, &ticks));
    assert_int_equal(ticks, by_bits(target_ns, is_utc));
}

static struct timebase_line *line(unsigned i)
{
    struct timebase_lines *lines = &page.copy[0];
    return i == 0 ? &lines->before : i == 1 ? &lines->slew : &lines->after;
}

static void expect_same_near_the_lines(void)
{
    for (unsigned i = 0; i < TARGETS; i++) {
        bool is_utc = any() % 2;
        const struct timebase_line *at = line((unsigned)(any() % 3));
        uint64_t target_ns = near(is_utc ? at->utc_ns : at->mono_ns);
        expect_same((int64_t)(i == 0 ? any() : target_ns), is_utc);
    }
}

static void begin(uint64_t with)
{
    static const struct timebase_page empty;
    seed = with;
    page = empty;
    page.seq = 2;
}

/* Each begins where the one before ends; UTC may be stepped there, by up to so much. */
static void draw(uint64_t period_frac, uint32_t period_ns, uint64_t step_ns)
{
    uint64_t ticks = some(), mono_ns = some() >> 2, utc_ns = mono_ns + 1790000000 * SECOND;
    for (unsigned i = 0; i < 3; i++) {
        struct timebase_line one = {.start_ticks = ticks, .mono_ns = mono_ns, .utc_ns = utc_ns};
        one.period_frac = i == 1 ? period_frac + (period_frac >> 11) : period_frac;
        one.period_ns = period_ns;
        *line(i) = one;
        uint64_t low, span = any() >> (24 + any() % 40);
        uint64_t ns =
            timebase_multiply(span, one.period_frac, &low) + span * one.period_ns;
        ticks += span;
        mono_ns += ns;
        utc_ns += ns + (step_ns == 0 ? 0 : any() % (2 * step_ns) - step_ns);
    }
}

static void on_lines_as_they_are_published(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        begin(i);
        draw(any() >> (1 + any() % 3), (uint32_t)(any() % 4 == 0 ? any() % 1000 : 0), 0);
        expect_same_near_the_lines();
    }
}

static void where_utc_is_stepped_between_them(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        begin(i);
        draw(any() >> 1, 0, SECOND);
        expect_same_near_the_lines();
    }
}

static void on_ticks_of_no_length_and_of_seconds(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        begin(i);
        draw(any() % 2 ? some() : 0, (uint32_t)(any() % 2 ? some() : 0), any() % 2);
        expect_same_near_the_lines();
    }
}

/* In no order, over the ends of all numbers. */
static void on_lines_that_nobody_makes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        begin(i);
        uint64_t ticks = any() % 2 ? near(0) : any(), ns = any() % 2 ? near(0) : any();
        for (unsigned j = 0; j < 3; j++) {
            struct timebase_line one = {.start_ticks = near(ticks), .mono_ns = near(ns)};
            one.utc_ns = any() % 2 ? near(ns) : any();
            one.period_frac = some();
            one.period_ns = (uint32_t)(any() % 2 ? 0 : some());
            *line(j) = one;
        }
        expect_same_near_the_lines();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_lines_as_they_are_published),
        cmocka_unit_test(where_utc_is_stepped_between_them),
        cmocka_unit_test(on_ticks_of_no_length_and_of_seconds),
        cmocka_unit_test(on_lines_that_nobody_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
