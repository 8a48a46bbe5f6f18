/* SPDX-License-Identifier: MIT */
/* The corrections of a process: when its lines begin. The machine, its time and its CPUs are made up. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include <timebase/cpus.h>
#include <timebase/error.h>

#include "../correcting.h"
#include "clock/counter/by_cpu_here.h"
#include "clock/counter/readable.h"
#include "sync/correct.h"
#include "sync/court.h"
#include "sync/drift.h"
#include "sync/handle.h"

enum { CPUS = 2, SKIPPED = 77 };
/* A tick a nanosecond. */
#define MS 1000000
#define OFFSET 5000000000
#define WIDTH 600

static struct {
    uint64_t now;        /* ticks of the reference */
    uint64_t held_up;    /* in the next planning */
    uint64_t published;  /* when the last table was */
    struct by_cpu_entry before, last; /* the last two that were planned for CPU 1 */
    bool is_known;       /* CPU 1, by the lines that were published */
    uint64_t error_ns;   /* of the anchor then */
    uint64_t width;      /* of the next range, in ticks, */
    uint64_t widens;     /* and by how much more of that after it */
    enum anchor_result anchored;
    unsigned measured;   /* so often */
    int rounds;          /* that a measurement takes, less one */
    uint64_t step;       /* CPU 1 was set by so much since */
    unsigned compared;   /* so many pairs were */
    bool was_known;      /* CPU 1, while it was measured last */
    bool is_away;        /* it has been, since the last measurement */
} machine;

static struct skew_cpu two_cpus[CPUS];
static struct timebase_cpus cpus;

/* ---- the machine --------------------------------------------------------------------------- */

uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = 0;
    return machine.now;
}

uint64_t __wrap_by_cpu_read(unsigned *cpu)
{
    return by_cpu_here(cpu);
}

static bool is_known(void)
{
    return cpus.table != NULL && cpus.table->copy[cpus.table->seq & 1].entries[1].is_known != 0;
}

/* The first one 400 ticks off, the others 200 more. */
int __wrap_timebase_cpus_measure(timebase_cpus *of)
{
    struct skew_cpu *cpu = &of->map.cpus[1];
    int64_t middle = OFFSET + (of->table == NULL ? 400 : 600) + (int64_t)machine.step;
    machine.measured++;
    machine.was_known = is_known();
    cpu->is_measured = true;
    int64_t half = (int64_t)machine.width / 2;
    cpu->range = (struct skew_range){middle - half, middle + half};
    skew_narrow(&cpu->narrowest, machine.width);
    machine.width += machine.widens;
    machine.now += 60 * MS;
    drift_add(&cpu->drift, machine.now, &cpu->range);
    return 0;
}

bool __wrap_skew_is_outdated(const struct skew_map *map)
{
    (void)map;
    return machine.is_away;
}

void __wrap_cpus_begin(timebase_cpus *of)
{
    if (machine.is_away)
        of->map.cpus[1] = (struct skew_cpu){.number = 1, .narrowest = SKEW_NARROWEST_UNKNOWN};
    machine.is_away = false;
}

bool __wrap_cpus_go_on(timebase_cpus *of, int64_t budget_ns)
{
    assert_true(budget_ns > 0);
    machine.now += MS;
    if (machine.rounds-- > 0)
        return false;
    machine.rounds = 0;
    return __wrap_timebase_cpus_measure(of) == 0;
}

enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score);
enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score)
{
    assert_true(here == 0 && there == 1 && rounds > 0 && limit_ns > 0);
    machine.compared++;
    int64_t ahead = (int64_t)machine.step;
    score->range = (struct skew_range){ahead - 300, ahead + 300};
    return COURT_PLAYED;
}

enum anchor_result __wrap_anchor_take(struct anchor *anchor, int cpu, struct by_cpu_anchor *out)
{
    (void)anchor, (void)cpu;
    *out = (struct by_cpu_anchor){.ticks = machine.now, .ticks_per_ns = 1, .error_ns = 100};
    return machine.anchored;
}

/* While the lines are planned. */
void __wrap_by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu,
                             const struct by_cpu_entry *entry)
{
    __real_by_cpu_set_entry(copy, cpu, entry);
    if (cpu == 1)
        machine.is_known = entry->is_known != 0;
    if (cpu != 1 || !entry->is_known)
        return;
    machine.before = machine.last;
    machine.last = *entry;
    machine.now += machine.held_up;
    machine.held_up = 0;
}

void __real_by_cpu_set_anchor(struct by_cpu_copy *copy, const struct by_cpu_anchor *anchor);
void __wrap_by_cpu_set_anchor(struct by_cpu_copy *copy, const struct by_cpu_anchor *anchor);
void __wrap_by_cpu_set_anchor(struct by_cpu_copy *copy, const struct by_cpu_anchor *anchor)
{
    machine.error_ns = anchor->error_ns;
    __real_by_cpu_set_anchor(copy, anchor);
}

void __wrap_by_cpu_publish(struct by_cpu_table *table)
{
    machine.published = machine.now;
    __real_by_cpu_publish(table);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Another table each time; none is ever freed. */
static int begin(void **state)
{
    static struct by_cpu_table *kept[64]; /* no leak */
    static unsigned tables;
    (void)state;
    kept[tables++] = cpus.table;
    assert_true(kept[0] == NULL);
    two_cpus[0] = (struct skew_cpu){.is_measured = true};
    two_cpus[1] = (struct skew_cpu){.number = 1, .narrowest = SKEW_NARROWEST_UNKNOWN};
    cpus = (struct timebase_cpus){.map = {.cpus = two_cpus, .count = CPUS}};
    machine.now += 1000 * MS;
    machine.width = WIDTH;
    machine.widens = 0;
    machine.anchored = ANCHOR_TAKEN;
    machine.step = 0;
    machine.is_away = false;
    return 0;
}

/* When it is due. */
static void correct(uint64_t held_up)
{
    int64_t again_ns;
    machine.held_up = held_up;
    machine.now += 200 * MS;
    correct_doubt(&cpus);
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
}

static void correct_twice(uint64_t held_up)
{
    correct(0);
    assert_true(machine.is_known);
    correct(held_up);
    assert_true(machine.held_up == 0);
}

/* When they are published does not matter then. */
static void lines_begin_where_those_before_end_however_late_they_are(void **state)
{
    static const uint64_t held_up[] = {1, 19 * MS, 300 * MS, 5000 * (uint64_t)MS};
    (void)state;
    for (int i = 0; i < 4; i++) {
        begin(NULL);
        correct_twice(held_up[i]);
        assert_true(machine.last.slew.start_ticks == machine.before.end_ticks);
        assert_true(by_cpu_entry_ticks(&machine.last, machine.before.end_ticks) ==
                    by_cpu_entry_ticks(&machine.before, machine.before.end_ticks));
    }
}

/* A measurement two thirds of the way in, and as much time again for it to be late. */
static void lines_hold_half_as_long_again_as_they_are_meant_to_last(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    for (int i = 0; i < 20; i++) {
        machine.now += 70 * MS;
        correct_doubt(&cpus);
        assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
        int64_t left = (int64_t)(machine.last.end_ticks - OFFSET - machine.published);
        assert_true(left > again_ns + again_ns / 3);
        assert_true(left < 2 * again_ns);
        assert_true(again_ns == cpus.lasting_ns);
    }
}

/* The lines in force end, and CPUs without lines are slow. */
static void after_a_failure_the_next_renewal_is_soon(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    machine.anchored = ANCHOR_STOPS;
    correct_doubt(&cpus);
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), TIMEBASE_E_DISRUPTED);
    assert_true(again_ns <= 1000 * (int64_t)MS);
    machine.anchored = ANCHOR_TAKEN;
    unsigned measured = machine.measured;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_int_equal(machine.measured, measured + 1); /* whatever was due */
    assert_true(machine.is_known);
}

/* Nobody renews them: their drift may have come to a quarter of the narrowest range. */
static void lines_end_before_their_drift_can_matter(void **state)
{
    (void)state;
    correct_twice(0);
    struct drift_rate slopes = drift_of(&two_cpus[1].drift);
    uint64_t measured = two_cpus[1].drift.points[two_cpus[1].drift.count - 1].ticks;
    double held = (double)(int64_t)(machine.last.end_ticks - OFFSET - measured);
    assert_true((slopes.high - slopes.low) / 2 * held <= (double)WIDTH / 4 + 1);
}

/* A busy machine's ranges are of any width; that the ways are so long is known by two that agree. */
static void no_lines_begin_before_two_narrowest_ranges_agree(void **state)
{
    (void)state;
    machine.widens = WIDTH / 3;
    correct(0);
    assert_false(machine.is_known);
    machine.width = WIDTH + WIDTH / 10;
    correct(0);
    assert_true(machine.is_known);
}

/* It may have been ahead by all that its lines were uncertain by. */
static void what_a_cpu_told_before_it_lost_its_lines_is_in_the_anchor_s_error(void **state)
{
    (void)state;
    machine.width = 3900;
    correct(0);
    uint64_t told_ns = machine.error_ns;
    assert_true(told_ns > 3900);
    two_cpus[1].jumps = 1;
    correct(0);
    assert_false(machine.is_known);
    assert_true(machine.error_ns >= told_ns);
    correct(0);
    assert_true(machine.error_ns < told_ns);
}

/* Who has read the kernel's clock by this table may be followed by one who reads by those lines. */
static void what_lines_that_begin_later_may_be_off_is_in_the_anchor_s_error(void **state)
{
    (void)state;
    machine.width = 3900;
    machine.widens = 1300;
    correct(0);
    assert_false(machine.is_known);
    uint64_t error_ns = machine.error_ns;
    machine.width = 4000;
    correct(0);
    assert_true(machine.is_known);
    assert_true(error_ns >= cpus.table->spread_ticks / 2);
}

/* Before it is due, a call measures nothing. */
static void between_two_measurements_readings_are_compared(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    uint32_t seq = cpus.table->seq;
    unsigned measured = machine.measured, compared = machine.compared;
    machine.now += (uint64_t)cpus.lasting_ns / 4;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_true(machine.compared == compared + 1 && machine.measured == measured);
    assert_true(cpus.table->seq == seq && again_ns <= cpus.lasting_ns * 3 / 4 + 1);
    machine.now += (uint64_t)again_ns;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_true(machine.measured == measured + 1);
}

/* Its next call may be after their end. */
static void who_calls_in_a_rhythm_of_its_own_finds_lines_in_force_each_time(void **state)
{
    static const uint64_t rhythms[] = {30 * MS, 70 * MS, 99 * MS};
    int64_t again_ns;
    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(NULL);
        correct_twice(0);
        for (int call = 0; call < 60; call++) {
            machine.now += rhythms[i];
            assert_true((int64_t)(machine.last.end_ticks - OFFSET - machine.now) > 0);
            assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
        }
    }
}

/* A machine that measures once in ten seconds looks twice a second. */
static void no_look_is_more_than_half_a_second_away(void **state)
{
    int64_t again_ns = 0;
    (void)state;
    for (int i = 0; i < 40 && cpus.lasting_ns < 2000 * (int64_t)MS; i++) {
        machine.now += 4 * (uint64_t)cpus.lasting_ns;
        correct(0);
    }
    assert_true(cpus.lasting_ns >= 2000 * (int64_t)MS);
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_true(again_ns == 500 * (int64_t)MS);
}

static void who_contradicts_an_order_loses_its_lines_before_it_is_measured(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    unsigned measured = machine.measured;
    uint64_t told_ns = machine.error_ns;
    machine.step = 5000;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_true(cpus.contradictions == 1 && machine.measured == measured + 1);
    assert_false(machine.was_known || is_known());
    assert_int_equal(two_cpus[1].jumps, 1);
    assert_true(machine.error_ns >= told_ns);
    unsigned compared = machine.compared;
    for (int i = 0; i < 10; i++)
        correct(0);
    assert_false(is_known());
    assert_true(machine.compared == compared);
}

static void who_was_away_loses_its_lines_until_two_measurements_have_found_it(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    machine.step = 5000;
    machine.is_away = true;
    assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
    assert_false(machine.was_known || is_known());
    assert_true(cpus.contradictions == 0 && cpus.lasting_ns <= 1000 * (int64_t)MS);
    correct(0);
    assert_true(is_known());
}

/* Others wait for the loop that measures in rounds; the lines in force stay meanwhile. */
static void a_measurement_in_rounds_goes_on_from_call_to_call(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    uint64_t published = machine.published;
    unsigned measured = machine.measured;
    machine.rounds = 3;
    correct_doubt(&cpus);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(correct_for(&cpus, 3 * MS, &again_ns), 0);
        assert_true(again_ns < 10 * MS && machine.measured == measured && is_known());
    }
    assert_int_equal(correct_for(&cpus, 3 * MS, &again_ns), 0);
    assert_true(machine.measured == measured + 1 && again_ns > 10 * MS);
    assert_true(is_known() && machine.published > published);
}

/* It may have been before that. */
static void what_happens_during_a_measurement_asks_for_another_one(void **state)
{
    int64_t again_ns;
    (void)state;
    correct_twice(0);
    unsigned measured = machine.measured;
    machine.rounds = 1;
    correct_doubt(&cpus);
    assert_int_equal(correct_for(&cpus, 3 * MS, &again_ns), 0);
    correct_doubt(&cpus);
    for (int i = 0; i < 4; i++)
        assert_int_equal(correct_for(&cpus, 3 * MS, &again_ns), 0);
    assert_int_equal(machine.measured, measured + 2);
}

/* A CPU that is always busy keeps the others' lines from no renewal. */
static void a_measurement_that_takes_too_long_ends(void **state)
{
    int64_t again_ns = 0;
    (void)state;
    correct_twice(0);
    uint32_t seq = cpus.table->seq;
    machine.rounds = 1000;
    correct_doubt(&cpus);
    for (int i = 0; i < 20; i++)
        assert_int_equal(correct_for(&cpus, 3 * MS, &again_ns), 0);
    assert_true(machine.rounds > 0 && cpus.table->seq == seq + 1);
    machine.rounds = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_begin_where_those_before_end_however_late_they_are, begin),
        cmocka_unit_test_setup(lines_hold_half_as_long_again_as_they_are_meant_to_last, begin),
        cmocka_unit_test_setup(after_a_failure_the_next_renewal_is_soon, begin),
        cmocka_unit_test_setup(lines_end_before_their_drift_can_matter, begin),
        cmocka_unit_test_setup(no_lines_begin_before_two_narrowest_ranges_agree, begin),
        cmocka_unit_test_setup(
            what_a_cpu_told_before_it_lost_its_lines_is_in_the_anchor_s_error, begin),
        cmocka_unit_test_setup(
            what_lines_that_begin_later_may_be_off_is_in_the_anchor_s_error, begin),
        cmocka_unit_test_setup(between_two_measurements_readings_are_compared, begin),
        cmocka_unit_test_setup(
            who_calls_in_a_rhythm_of_its_own_finds_lines_in_force_each_time, begin),
        cmocka_unit_test_setup(no_look_is_more_than_half_a_second_away, begin),
        cmocka_unit_test_setup(
            who_contradicts_an_order_loses_its_lines_before_it_is_measured, begin),
        cmocka_unit_test_setup(
            who_was_away_loses_its_lines_until_two_measurements_have_found_it, begin),
        cmocka_unit_test_setup(a_measurement_in_rounds_goes_on_from_call_to_call, begin),
        cmocka_unit_test_setup(what_happens_during_a_measurement_asks_for_another_one, begin),
        cmocka_unit_test_setup(a_measurement_that_takes_too_long_ends, begin),
    };
    if (!by_cpu_is_possible() || timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER) {
        printf("nothing here tells which CPU the counter was read on\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
