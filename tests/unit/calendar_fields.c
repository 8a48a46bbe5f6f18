/* SPDX-License-Identifier: MIT */
/* A calendar with a field out of range is refused, with the unit, the field and what to do. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "calendar_units.h"

#define CAPACITY 8

static struct timebase_calendar_problem problems[CAPACITY];

static int admit_one(struct timebase_unit unit)
{
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    memset(problems, 0xaa, sizeof(problems));
    return timebase_calendar_admit(&calendar, NULL, problems, CAPACITY);
}

static struct timebase_unit good_unit(void)
{
    return unit_of("pump", 0, MS, 10 * US);
}

static void assert_refused(struct timebase_unit unit, const char *word)
{
    assert_int_equal(admit_one(unit), 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_BAD_UNIT);
    assert_int_equal(problems[0].warning, 0);
    assert_int_equal(problems[0].unit, 0);
    assert_int_equal(problems[0].other, 0);
    if (unit.name != NULL)
        assert_non_null(strstr(problems[0].text, "'pump'"));
    assert_non_null(strstr(problems[0].text, word));
}

static void assert_warned(struct timebase_unit unit, const char *word)
{
    assert_int_equal(admit_one(unit), 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_BAD_UNIT);
    assert_int_equal(problems[0].warning, 1);
    assert_non_null(strstr(problems[0].text, word));
}

static void a_good_unit_has_no_problems(void **state)
{
    (void)state;
    assert_int_equal(admit_one(good_unit()), 0);
}

static void a_unit_needs_a_name_and_an_action(void **state)
{
    struct timebase_unit unit = good_unit();
    (void)state;
    unit.name = NULL;
    assert_refused(unit, "unit 0 has no name");
    unit = good_unit();
    unit.action = NULL;
    assert_refused(unit, "no action");
}

static void times_below_0_or_above_36_years_are_refused(void **state)
{
    static const struct {
        size_t offset;
        const char *name;
    } fields[] = {{offsetof(struct timebase_unit, ready_ns), "ready_ns"},
                  {offsetof(struct timebase_unit, period_ns), "period_ns"},
                  {offsetof(struct timebase_unit, duration_ns), "duration_ns"},
                  {offsetof(struct timebase_unit, deadline_ns), "deadline_ns"},
                  {offsetof(struct timebase_unit, timeout_ns), "timeout_ns"}};
    static const int64_t bad[] = {-1, INT64_MIN, PATTERN_LIFE_NS + 1, INT64_MAX};
    (void)state;
    for (size_t field = 0; field < sizeof(fields) / sizeof(fields[0]); field++)
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            struct timebase_unit unit = good_unit();
            memcpy((char *)&unit + fields[field].offset, &bad[i], sizeof(bad[i]));
            assert_refused(unit, fields[field].name);
        }
}

static void a_duration_of_0_is_refused(void **state)
{
    struct timebase_unit unit = good_unit();
    (void)state;
    unit.duration_ns = 0;
    assert_refused(unit, "duration_ns is 0");
}

static void several_releases_need_a_period(void **state)
{
    struct timebase_unit unit = good_unit();
    (void)state;
    unit.period_ns = 0;
    unit.releases = 2;
    assert_refused(unit, "no period_ns");
    unit.releases = 1;
    assert_int_equal(admit_one(unit), 0);
}

static void unknown_flags_and_unused_fields_are_refused(void **state)
{
    struct timebase_unit unit = good_unit();
    (void)state;
    unit.flags = 127;
    assert_int_equal(admit_one(unit), 0);
    unit.flags = 128 | TIMEBASE_WAIT_SLEEP;
    assert_refused(unit, "flags 0x80 are unknown");
    unit = good_unit();
    unit.unused = 1;
    assert_refused(unit, "unused");
}

static void what_makes_little_sense_is_warned_of(void **state)
{
    struct timebase_unit unit = good_unit();
    (void)state;
    unit.timeout_ns = 9 * US;
    assert_warned(unit, "stopped after 9 us, before its duration of 10 us is over");
    unit = good_unit();
    unit.deadline_ns = 2 * MS;
    assert_warned(unit, "deadline of 2 ms above the period of 1 ms");
    unit = good_unit();
    unit.ready_ns = 3 * MS;
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    calendar.length_ns = 3 * MS;
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, CAPACITY), 1);
    assert_int_equal(problems[0].warning, 1);
    assert_non_null(strstr(problems[0].text, "never released"));
}

static void every_bad_field_of_every_unit_is_told(void **state)
{
    struct timebase_unit units[3] = {good_unit(), good_unit(), good_unit()};
    struct timebase_calendar calendar = calendar_of(units, 3);
    (void)state;
    units[0].period_ns = -5;
    units[2].ready_ns = -1;
    units[2].name = NULL;
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, CAPACITY), 3);
    assert_int_equal(problems[0].unit, 0);
    assert_int_equal(problems[1].unit, 2);
    assert_int_equal(problems[2].unit, 2);
    assert_non_null(strstr(problems[0].text, "period_ns is -5"));
}

static void more_problems_than_fit_are_counted(void **state)
{
    struct timebase_unit units[3] = {good_unit(), good_unit(), good_unit()};
    struct timebase_calendar calendar = calendar_of(units, 3);
    (void)state;
    units[0].period_ns = units[1].period_ns = units[2].period_ns = -5;
    memset(problems, 0xaa, sizeof(problems));
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, 1), 3);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_BAD_UNIT);
    assert_int_equal((uint32_t)problems[1].kind, 0xaaaaaaaau);
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, NULL, 0), 3);
}

static void assert_calendar_refused(struct timebase_calendar calendar, const char *word)
{
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, CAPACITY), 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_BAD_CALENDAR);
    assert_int_equal(problems[0].warning, 0);
    assert_non_null(strstr(problems[0].text, word));
}

static void fields_of_the_calendar_out_of_range_are_refused(void **state)
{
    struct timebase_unit unit = good_unit();
    const struct timebase_calendar good = calendar_of(&unit, 1);
    struct timebase_calendar bad;
    (void)state;
#define REFUSED(field, value, word)                                                                \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.field = value;                                                                         \
        assert_calendar_refused(bad, word);                                                        \
    } while (0)
    REFUSED(unit_count, 0, "unit_count");
    REFUSED(unit_count, TIMEBASE_CALENDAR_UNITS + 1, "unit_count");
    REFUSED(start_ns, -1, "start_ns");
    REFUSED(start_ns, INT64_MAX, "start_ns");
    REFUSED(length_ns, -1, "length_ns");
    REFUSED(utilisation, -0.1, "utilisation");
    REFUSED(utilisation, 1.1, "utilisation");
    REFUSED(utilisation, (double)NAN, "utilisation");
    REFUSED(may_overlap, 2, "may_overlap");
    REFUSED(avoid_tick, 1, "comb");
    REFUSED(unused, 1, "unused");
}

static void a_log_must_be_a_power_of_two_of_entries(void **state)
{
    struct timebase_release entries[4];
    struct timebase_unit unit = good_unit();
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    struct timebase_release_log log = {.entries = entries, .capacity = 4};
    (void)state;
    calendar.log = &log;
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, CAPACITY), 0);
    static const uint32_t bad[] = {0, 3, 6, UINT32_MAX, 0x80000001u};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        log.capacity = bad[i];
        assert_calendar_refused(calendar, "log->capacity");
    }
    log.capacity = 4;
    log.entries = NULL;
    assert_calendar_refused(calendar, "log->entries");
}

static void a_comb_must_be_one(void **state)
{
    static const struct timebase_tick_comb bad[] = {
        {-1, 0, 0, 0, 0, 0},   {SEC + 1, 0, 0, 0, 0, 0}, {100, 100, 0, 0, 0, 0},
        {100, -1, 0, 0, 0, 0}, {100, 0, 101, 0, 0, 0},   {100, 0, -1, 0, 0, 0}};
    struct timebase_unit unit = good_unit();
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        calendar.comb = &bad[i];
        assert_calendar_refused(calendar, "comb");
    }
}

static void null_pointers_are_invalid(void **state)
{
    struct timebase_unit unit = good_unit();
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    (void)state;
    assert_int_equal(timebase_calendar_admit(NULL, NULL, problems, CAPACITY), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, NULL, 1), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, -1), TIMEBASE_E_INVALID);
    calendar.units = NULL;
    assert_int_equal(timebase_calendar_admit(&calendar, NULL, problems, 1), TIMEBASE_E_INVALID);
}

static void a_name_of_any_length_is_cut_and_the_text_ends(void **state)
{
    static char name[1000];
    struct timebase_unit unit = good_unit();
    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    unit.name = name;
    unit.period_ns = -1;
    assert_int_equal(admit_one(unit), 1);
    assert_non_null(memchr(problems[0].text, 0, sizeof(problems[0].text)));
    assert_non_null(strstr(problems[0].text, "period_ns"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_unit_has_no_problems),
        cmocka_unit_test(a_unit_needs_a_name_and_an_action),
        cmocka_unit_test(times_below_0_or_above_36_years_are_refused),
        cmocka_unit_test(a_duration_of_0_is_refused),
        cmocka_unit_test(several_releases_need_a_period),
        cmocka_unit_test(unknown_flags_and_unused_fields_are_refused),
        cmocka_unit_test(what_makes_little_sense_is_warned_of),
        cmocka_unit_test(every_bad_field_of_every_unit_is_told),
        cmocka_unit_test(more_problems_than_fit_are_counted),
        cmocka_unit_test(fields_of_the_calendar_out_of_range_are_refused),
        cmocka_unit_test(a_log_must_be_a_power_of_two_of_entries),
        cmocka_unit_test(a_comb_must_be_one),
        cmocka_unit_test(null_pointers_are_invalid),
        cmocka_unit_test(a_name_of_any_length_is_cut_and_the_text_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
