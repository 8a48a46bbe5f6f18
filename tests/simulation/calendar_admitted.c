/* SPDX-License-Identifier: MIT */
/*
 * Random calendars: what is admitted keeps its promises when it is run, in virtual time, with units
 * that take as long as they may; and what is refused would have broken them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "calendar_machine.h"

#define WORLDS 1500
#define UNITS 5

static struct simulated simulated;
static struct timebase_unit units[UNITS];
static struct timebase_calendar_problem problems[64];
static int problem_count;

static uint64_t worlds(void)
{
    const char *wanted = getenv("TIMEBASE_TEST_WORLDS");
    return wanted != NULL ? strtoull(wanted, NULL, 0) : WORLDS;
}

/* Periods of a few ticks of a common length, so that patterns are short and often fit. */
static struct timebase_unit random_unit(struct dice *dice, int64_t grain_ns)
{
    static const int64_t periods[] = {4, 6, 8, 12, 24, 5};
    int64_t period_ns = grain_ns * periods[dice_below(dice, 6)];
    struct timebase_unit unit =
        unit_of("random", (int64_t)dice_below(dice, 30) * grain_ns, period_ns, 0);
    unit.duration_ns = 1 + (int64_t)dice_below(dice, (uint64_t)grain_ns);
    if (dice_below(dice, 3) == 0)
        unit.deadline_ns = unit.duration_ns + (int64_t)dice_below(dice, 3 * (uint64_t)grain_ns);
    if (dice_below(dice, 5) == 0)
        unit.releases = 1 + dice_below(dice, 10);
    if (dice_below(dice, 10) == 0 && unit.releases <= 1)
        unit.period_ns = 0;
    return unit;
}

static bool make_world(struct dice *dice, int may_overlap)
{
    static const struct simulated fresh;
    int64_t grain_ns = 10 + (int64_t)dice_below(dice, 100000);
    uint32_t count = 1 + (uint32_t)dice_below(dice, UNITS);
    simulated = fresh;
    for (uint32_t i = 0; i < count; i++)
        units[i] = random_unit(dice, grain_ns);
    simulated.dice = dice;
    simulated.calendar = calendar_of(units, count);
    simulated.calendar.may_overlap = (uint32_t)may_overlap;
    /* Everything that can happen has happened by then: 120 is the multiple of all periods. */
    simulated.calendar.length_ns = dice_below(dice, 2) ? 0 : grain_ns * 600;
    problem_count = timebase_calendar_admit(&simulated.calendar, NULL, problems, 64);
    simulated.calendar.length_ns = grain_ns * 600;
    assert_in_range(problem_count, 0, 64);
    for (int i = 0; i < problem_count; i++)
        if (!problems[i].warning)
            return false;
    return true;
}

static void assert_flawless(uint32_t unit)
{
    const struct timebase_unit_result *result = &simulated.results[unit];
    assert_int_equal(result->late + result->missed + result->overruns + result->skipped, 0);
    assert_true(result->error_max_ns == 0 && result->error_min_ns == 0);
}

/* Nothing that is admitted overlaps: each begins exactly at its time. */
static void admitted_units_all_begin_and_end_in_time(void **state)
{
    struct dice dice = dice_new();
    uint64_t admitted = 0, all = worlds();
    (void)state;
    for (uint64_t i = 0; i < all; i++) {
        if (!make_world(&dice, 0))
            continue;
        admitted++;
        assert_int_equal(simulated_run(&simulated), 0);
        for (uint32_t unit = 0; unit < simulated.calendar.unit_count; unit++)
            assert_flawless(unit);
    }
    print_message("%llu of %llu calendars were admitted\n", (unsigned long long)admitted,
                  (unsigned long long)all);
    assert_true(admitted > all / 20 && admitted < all);
}

/* The other way round: what is refused for an overlap or a deadline goes wrong when run. */
static void refused_calendars_go_wrong_when_they_run(void **state)
{
    struct dice dice = dice_new();
    uint64_t refused = 0, all = worlds();
    (void)state;
    for (uint64_t i = 0; i < all; i++) {
        int wrong = 0;
        if (make_world(&dice, 0) ||
            count_kind(problems, problem_count, TIMEBASE_CALENDAR_UTILISATION) > 0)
            continue;
        refused++;
        simulated_run(&simulated);
        for (uint32_t unit = 0; unit < simulated.calendar.unit_count; unit++)
            wrong += simulated.results[unit].late + simulated.results[unit].missed +
                    simulated.results[unit].skipped >
                0;
        assert_true(wrong > 0);
    }
    assert_true(refused > all / 20);
}

static int64_t runs_as_it_likes(struct simulated *machine, uint32_t unit)
{
    uint64_t longest = (uint64_t)machine->calendar.units[unit].duration_ns;
    return dice_below(machine->dice, 2) ? (int64_t)longest
                                        : (int64_t)dice_below(machine->dice, longest + 1);
}

/* With leave to overlap units may be late, but no deadline is missed, however short the runs. */
static void units_that_may_wait_for_each_other_still_reach_their_deadlines(void **state)
{
    struct dice dice = dice_new();
    uint64_t admitted = 0, late = 0, all = worlds();
    (void)state;
    for (uint64_t i = 0; i < all; i++) {
        if (!make_world(&dice, 1))
            continue;
        admitted++;
        simulated.runs_ns = dice_below(&dice, 2) ? runs_as_it_likes : NULL;
        assert_int_equal(simulated_run(&simulated), 0);
        for (uint32_t unit = 0; unit < simulated.calendar.unit_count; unit++) {
            assert_int_equal(simulated.results[unit].missed, 0);
            assert_int_equal(simulated.results[unit].skipped, 0);
            late += simulated.results[unit].late;
        }
    }
    assert_true(admitted > all / 20 && admitted < all);
    assert_true(late > 0);
}

static int64_t now_and_then_far_too_long(struct simulated *machine, uint32_t unit)
{
    int64_t duration_ns = machine->calendar.units[unit].duration_ns;
    return dice_below(machine->dice, 10) ? duration_ns
                                         : duration_ns * (int64_t)dice_below(machine->dice, 40);
}

static int64_t now_and_then_late(struct simulated *machine, uint32_t unit)
{
    int64_t duration_ns = machine->calendar.units[unit].duration_ns;
    return dice_below(machine->dice, 10) ? 0 : duration_ns * (int64_t)dice_below(machine->dice, 40);
}

/* However badly units behave: order is kept (simulated_call asserts it), and all are accounted for.
 */
static void every_release_is_accounted_for_whatever_happens(void **state)
{
    static struct timebase_release entries[4096];
    struct dice dice = dice_new();
    uint64_t skipped = 0, all = worlds();
    (void)state;
    for (uint64_t i = 0; i < all; i++) {
        uint64_t next[UNITS] = {0};
        struct timebase_release_log log = {.entries = entries, .capacity = 4096};
        make_world(&dice, 1);
        simulated.runs_ns = now_and_then_far_too_long;
        simulated.delay_ns = now_and_then_late;
        simulated.wakes_early_by_ns = (int64_t)dice_below(&dice, 3000);
        simulated.calendar.log = &log;
        assert_int_equal(simulated_run(&simulated), 0);
        assert_int_equal(log.lost, 0);
        for (uint32_t entry = 0; entry < log.written; entry++) {
            const struct timebase_release *release = &entries[entry];
            assert_int_equal(release->number, next[release->unit]);
            assert_int_equal(
                release->target_ns,
                START_NS + pattern_ready(&simulated.patterns[release->unit], release->number));
            next[release->unit] += release->count;
        }
        for (uint32_t unit = 0; unit < simulated.calendar.unit_count; unit++) {
            const struct timebase_unit_result *result = &simulated.results[unit];
            assert_int_equal(next[unit], simulated.patterns[unit].count);
            assert_int_equal(result->released + result->skipped, next[unit]);
            assert_true(result->error_min_ns >= 0); /* never before its time */
            skipped += result->skipped;
        }
    }
    assert_true(skipped > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(admitted_units_all_begin_and_end_in_time),
        cmocka_unit_test(refused_calendars_go_wrong_when_they_run),
        cmocka_unit_test(units_that_may_wait_for_each_other_still_reach_their_deadlines),
        cmocka_unit_test(every_release_is_accounted_for_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
