/* SPDX-License-Identifier: MIT */
/* What a calendar must be like to be started: room for each unit, deadlines reached, machine able.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/calendar/admit.h"
#include "calendar_units.h"

#define CAPACITY 16

static struct timebase_calendar_problem problems[CAPACITY];
static int count;

static void admit(struct timebase_calendar calendar)
{
    memset(problems, 0, sizeof(problems));
    count = timebase_calendar_admit(&calendar, NULL, problems, CAPACITY);
    assert_in_range(count, 0, CAPACITY);
}

static int kinds(int kind)
{
    return count_kind(problems, count, kind);
}

static void units_side_by_side_are_admitted(void **state)
{
    const struct timebase_unit units[] = {unit_of("a", 0, MS, 300 * US),
                                          unit_of("b", 300 * US, MS, 200 * US),
                                          unit_of("c", 500 * US, 2 * MS, 500 * US)};
    (void)state;
    admit(calendar_of(units, 3));
    assert_int_equal(count, 0);
}

static void an_overlap_is_told_with_both_units_and_its_place(void **state)
{
    const struct timebase_unit units[] = {unit_of("long", 0, 3 * MS, 20 * US),
                                          unit_of("short", MS, 4 * MS, 10 * US)};
    (void)state;
    admit(calendar_of(units, 2)); /* 9 ms is of both: 3 * 3 and 1 + 2 * 4 */
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_OVERLAP);
    assert_int_equal(problems[0].warning, 0);
    assert_int_equal(problems[0].at_ns, 9 * MS);
    assert_int_equal(problems[0].unit, 1);
    assert_int_equal(problems[0].other, 0);
    assert_string_equal(problems[0].text,
                        "'short', ready at 9 ms, overlaps 'long', which runs "
                        "until 9.02 ms; move one, or set may_overlap");
}

static void the_unit_in_whose_way_another_is_is_named_first(void **state)
{
    const struct timebase_unit units[] = {unit_of("late", 5 * US, MS, US),
                                          unit_of("early", 0, MS, 6 * US)};
    (void)state;
    admit(calendar_of(units, 2));
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].unit, 0);
    assert_int_equal(problems[0].other, 1);
    assert_int_equal(problems[0].at_ns, 5 * US);
}

static void a_unit_longer_than_its_period_overlaps_itself(void **state)
{
    const struct timebase_unit unit = unit_of("self", 0, MS, 2 * MS);
    (void)state;
    admit(calendar_of(&unit, 1));
    assert_int_equal(kinds(TIMEBASE_CALENDAR_OVERLAP), 1);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_UTILISATION), 1);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 1);
}

static void an_overlap_after_the_end_of_the_calendar_does_not_count(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, 3 * MS, 20 * US),
                                    unit_of("b", MS, 4 * MS, 10 * US)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.length_ns = 9 * MS;
    admit(calendar);
    assert_int_equal(count, 0);
    calendar.length_ns = 9 * MS + 1;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_OVERLAP), 1);
    calendar.length_ns = 0;
    units[1].releases = 2;
    admit(calendar);
    assert_int_equal(count, 0);
}

static void units_that_ask_for_more_time_than_there_is_are_refused(void **state)
{
    const struct timebase_unit units[] = {unit_of("a", 0, 10 * MS, 6 * MS),
                                          unit_of("b", 6 * MS, 10 * MS, 4 * MS)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    admit(calendar);
    assert_int_equal(count, 0); /* all of it is not more than there is */
    calendar.utilisation = 0.95;
    admit(calendar);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_UTILISATION);
    assert_non_null(strstr(problems[0].text, "100.0 %"));
    assert_non_null(strstr(problems[0].text, "95.0 %"));
    assert_int_equal(problems[0].at_ns, 6 * MS);
}

static void units_that_are_never_active_together_do_not_add_up(void **state)
{
    struct timebase_unit units[] = {unit_of("first", 0, 10 * MS, 6 * MS),
                                    unit_of("then", 20 * MS, 10 * MS, 6 * MS)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.utilisation = 0.7;
    units[0].releases = 2;
    admit(calendar);
    assert_int_equal(count, 0);
    units[0].releases = 3;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_UTILISATION), 1);
}

static void a_unit_longer_than_its_deadline_is_refused(void **state)
{
    struct timebase_unit unit = unit_of("slow", 0, MS, 30 * US);
    (void)state;
    unit.deadline_ns = 30 * US;
    admit(calendar_of(&unit, 1));
    assert_int_equal(count, 0);
    unit.deadline_ns = 30 * US - 1;
    admit(calendar_of(&unit, 1));
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_DEADLINE);
    assert_int_equal(problems[0].warning, 0);
}

static void overlaps_may_be_allowed_while_deadlines_are_reached(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, 2 * MS, 100 * US),
                                    unit_of("b", 0, 3 * MS, 100 * US)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.may_overlap = 1;
    units[1].deadline_ns = 200 * US;
    admit(calendar);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_OVERLAP);
    assert_int_equal(problems[0].warning, 1);
    units[1].deadline_ns = 200 * US - 1;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 1);
    assert_int_equal(problems[1].unit, 1);
    assert_int_equal(problems[1].other, 0);
    assert_int_equal(problems[1].at_ns, 0);
    assert_int_equal(problems[1].warning, 0);
}

/* Of units ready at once the one declared first runs first: so it alone keeps a close deadline. */
static void of_units_ready_at_once_the_one_declared_first_runs_first(void **state)
{
    struct timebase_unit units[] = {unit_of("first", 0, MS, 100 * US),
                                    unit_of("second", 0, MS, 100 * US)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.may_overlap = 1;
    units[0].deadline_ns = 100 * US;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 0);
    units[0].deadline_ns = 0;
    units[1].deadline_ns = 100 * US;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 1);
}

/* Delays add up over several units and reach one that overlaps with none of them. */
static void a_chain_of_delays_is_followed_to_its_end(void **state)
{
    struct timebase_unit units[] = {
        unit_of("a", 0, 10 * MS, 2 * MS),
        unit_of("b", 0, 10 * MS, 2 * MS),
        unit_of("c", 2 * MS, 10 * MS, 2 * MS),
        unit_of("d", 4 * MS, 10 * MS, 1 * MS),
    };
    struct timebase_calendar calendar = calendar_of(units, 4);
    (void)state;
    calendar.may_overlap = 1;
    units[3].deadline_ns = 3 * MS;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 0);
    units[3].deadline_ns = 3 * MS - 1;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 1);
    assert_int_equal(problems[count - 1].unit, 3);
    assert_int_equal(problems[count - 1].other, 2);
}

/* What happens before all units have begun is not all that happens. */
static void a_miss_after_the_last_unit_has_begun_is_found(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, 10 * MS, 6 * MS),
                                    unit_of("b", 17 * MS, 10 * MS, 4 * MS)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.may_overlap = 1;
    units[0].deadline_ns = 6 * MS;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_DEADLINE), 1);
    assert_int_equal(problems[count - 1].at_ns, 20 * MS);
}

static void a_pattern_too_long_to_be_run_through_is_said_to_be(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, 999983, 10 * US),
                                    unit_of("b", 0, 1000003, 10 * US)};
    struct timebase_calendar calendar = calendar_of(units, 2);
    (void)state;
    calendar.may_overlap = 1;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_TOO_LONG), 1);
    assert_int_equal(problems[count - 1].kind, TIMEBASE_CALENDAR_TOO_LONG);
    assert_int_equal(problems[count - 1].warning, 1);
    assert_true(problems[count - 1].at_ns > 400 * (int64_t)SEC);
    /* Overlaps need no running through: without leave they are told exactly. */
    calendar.may_overlap = 0;
    admit(calendar);
    assert_int_equal(count, 1);
    calendar.may_overlap = 1;
    calendar.length_ns = SEC;
    admit(calendar);
    assert_int_equal(kinds(TIMEBASE_CALENDAR_TOO_LONG), 0);
}

/* ---- the machine */

static void admit_on(struct timebase_calendar calendar, double least_ns, double margin_ns)
{
    static struct admission admission;
    struct timebase_waiter_description machine = {.least_ns = least_ns, .margin_ns = margin_ns};
    struct refusal_list list = {&calendar, problems, CAPACITY, 0, 0};
    assert_int_equal(admission_make(&admission, &calendar, NULL, NULL, 0), 0);
    assert_int_equal(admission.list.faults, 0);
    admission.list = list;
    admission_check_machine(&admission, &machine);
    count = admission.list.count;
}

static void a_period_shorter_than_a_wait_is_refused(void **state)
{
    const struct timebase_unit unit = unit_of("fast", 0, 300, 100);
    (void)state;
    admit_on(calendar_of(&unit, 1), 400, 0);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_TOO_SHORT);
    assert_int_equal(problems[0].warning, 0);
}

static void a_gap_too_short_for_an_exact_wait_is_warned_of(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, MS, 100 * US),
                                    unit_of("b", 101 * US, MS, 100 * US)};
    (void)state;
    admit_on(calendar_of(units, 2), 400, 0);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_TOO_SHORT);
    assert_int_equal(problems[0].warning, 1);
    assert_int_equal(problems[0].unit, 1);
    assert_int_equal(problems[0].other, 0);
    assert_int_equal(problems[0].at_ns, 101 * US);
    units[1].ready_ns = 103 * US;
    admit_on(calendar_of(units, 2), 400, 0);
    assert_int_equal(count, 0);
    units[1].timeout_ns = 100 * US; /* setting its timer takes longer */
    admit_on(calendar_of(units, 2), 400, 0);
    assert_int_equal(count, 1);
}

static void a_sleep_without_room_for_waking_up_is_warned_of(void **state)
{
    struct timebase_unit units[] = {unit_of("a", 0, MS, 100 * US),
                                    unit_of("b", 150 * US, MS, 100 * US)};
    (void)state;
    units[1].flags = TIMEBASE_WAIT_SLEEP;
    admit_on(calendar_of(units, 2), 400, 50e3 - 1);
    assert_int_equal(count, 0);
    admit_on(calendar_of(units, 2), 400, 50e3 + 1);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].kind, TIMEBASE_CALENDAR_CANNOT_SLEEP);
    assert_int_equal(problems[0].warning, 1);
    units[0].flags = TIMEBASE_WAIT_SLEEP;
    units[0].duration_ns = units[1].duration_ns = US;
    admit_on(calendar_of(units, 2), 400, 950e3);
    assert_int_equal(count, 2); /* each has the other before it */
}

static void a_unit_alone_needs_room_between_its_own_releases(void **state)
{
    struct timebase_unit unit = unit_of("dense", 0, MS, 999 * US);
    (void)state;
    admit_on(calendar_of(&unit, 1), 400, 0);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0].at_ns, MS);
    unit.releases = 1;
    admit_on(calendar_of(&unit, 1), 400, 0);
    assert_int_equal(count, 0);
}

static void a_waiter_that_was_not_initialised_is_invalid(void **state)
{
    static struct timebase_waiter waiter;
    const struct timebase_unit unit = unit_of("a", 0, MS, US);
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    struct timebase_unit_result result;
    (void)state;
    assert_int_equal(timebase_calendar_admit(&calendar, &waiter, NULL, 0), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_calendar_run(&calendar, &waiter, &result), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_calendar_run(&calendar, NULL, &result), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_calendar_run(NULL, &waiter, &result), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_side_by_side_are_admitted),
        cmocka_unit_test(an_overlap_is_told_with_both_units_and_its_place),
        cmocka_unit_test(the_unit_in_whose_way_another_is_is_named_first),
        cmocka_unit_test(a_unit_longer_than_its_period_overlaps_itself),
        cmocka_unit_test(an_overlap_after_the_end_of_the_calendar_does_not_count),
        cmocka_unit_test(units_that_ask_for_more_time_than_there_is_are_refused),
        cmocka_unit_test(units_that_are_never_active_together_do_not_add_up),
        cmocka_unit_test(a_unit_longer_than_its_deadline_is_refused),
        cmocka_unit_test(overlaps_may_be_allowed_while_deadlines_are_reached),
        cmocka_unit_test(of_units_ready_at_once_the_one_declared_first_runs_first),
        cmocka_unit_test(a_chain_of_delays_is_followed_to_its_end),
        cmocka_unit_test(a_miss_after_the_last_unit_has_begun_is_found),
        cmocka_unit_test(a_pattern_too_long_to_be_run_through_is_said_to_be),
        cmocka_unit_test(a_period_shorter_than_a_wait_is_refused),
        cmocka_unit_test(a_gap_too_short_for_an_exact_wait_is_warned_of),
        cmocka_unit_test(a_sleep_without_room_for_waking_up_is_warned_of),
        cmocka_unit_test(a_unit_alone_needs_room_between_its_own_releases),
        cmocka_unit_test(a_waiter_that_was_not_initialised_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
