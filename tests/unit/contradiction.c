/* SPDX-License-Identifier: MIT */
/*
 * Readings that contradict their order: which CPUs are doubted. What corrected readings differ by is
 * made up. CPU 1 was measured against 0, and 2 and 3 against 1.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "sync/contradiction.h"
#include "sync/court.h"

enum { CPUS = 4 };
#define BUDGET_NS INT64_C(3600000000000)

static const int against[CPUS] = {0, 0, 1, 1};
static struct skew_cpu measured[CPUS];
static struct by_cpu_entry entries[2][CPUS];
static struct by_cpu_table table;
static struct timebase_cpus cpus;
static int64_t shown[CPUS]; /* by the corrected counter, less what is right */
static int busy;            /* nothing is to be had of this CPU */
static unsigned pairs;

enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score);
enum court_result __wrap_court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                       struct court_score *score)
{
    (void)rounds, (void)limit_ns;
    pairs++;
    *score = (struct court_score){.range = SKEW_UNKNOWN};
    if (there == busy)
        return COURT_PLAYED;
    int64_t ahead = shown[there] - shown[here];
    score->range = (struct skew_range){ahead - 200, ahead + 200};
    return COURT_PLAYED;
}

static int begin(void **state)
{
    (void)state;
    memset(shown, 0, sizeof(shown));
    memset(entries, 0, sizeof(entries));
    table = (struct by_cpu_table){.cpus = CPUS};
    for (int i = 0; i < CPUS; i++) {
        measured[i] = (struct skew_cpu){
            .number = i, .against = against[i], .is_measured = true, .drift = {.count = 3}};
        entries[0][i].is_known = 1;
    }
    table.copy[0].entries = entries[0];
    table.copy[1].entries = entries[1];
    cpus = (struct timebase_cpus){.map = {.cpus = measured, .count = CPUS}, .table = &table};
    busy = -1;
    pairs = 0;
    return 0;
}

static bool is_doubted(int cpu)
{
    return measured[cpu].drift.count == 0;
}

static void readings_in_order_change_nothing(void **state)
{
    (void)state;
    shown[1] = 150; /* no reader sees another's so soon */
    shown[2] = -49;
    for (int i = 0; i < 3; i++) {
        assert_false(contradiction_look(&cpus, BUDGET_NS));
        assert_true(contradiction_is_through(&cpus));
    }
    assert_true(pairs == 3 * (CPUS - 1) && cpus.contradictions == 0);
}

static void who_is_ahead_or_behind_has_jumped(void **state)
{
    static const int64_t off[] = {201, -201, INT64_C(5000000000), INT64_C(-5000000000)};
    (void)state;
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        begin(NULL);
        shown[3] = off[i];
        assert_true(contradiction_look(&cpus, BUDGET_NS));
        assert_true(is_doubted(3) && measured[3].jumps == 1 && cpus.contradictions == 1);
        assert_false(is_doubted(1) || is_doubted(2));
    }
}

/* Those that were measured against it may be right: they have not jumped. */
static void who_was_measured_against_one_that_jumped_is_doubted_alone(void **state)
{
    (void)state;
    shown[1] = 5000;
    assert_true(contradiction_look(&cpus, BUDGET_NS));
    assert_true(is_doubted(1) && is_doubted(2) && is_doubted(3));
    assert_true(measured[1].jumps == 1 && measured[2].jumps == 0 && measured[3].jumps == 0);
}

/* It jumps after it was looked at. */
static void the_one_it_was_measured_against_is_asked_again(void **state)
{
    (void)state;
    cpus.looked_at = 1;
    shown[1] = 5000;
    assert_true(contradiction_look(&cpus, BUDGET_NS));
    assert_true(measured[1].jumps == 1 && measured[2].jumps == 0 && measured[3].jumps == 0);
}

static void a_look_goes_on_where_the_one_before_ended(void **state)
{
    (void)state;
    shown[3] = 5000;
    assert_false(contradiction_look(&cpus, 0));
    assert_false(contradiction_is_through(&cpus) || contradiction_look(&cpus, 0));
    assert_true(contradiction_look(&cpus, 0));
    assert_true(contradiction_is_through(&cpus));
    assert_false(contradiction_look(&cpus, 0)); /* the first again */
    assert_true(cpus.looked_at == 1);
}

/* Who has none is read from the kernel's clock, and waits; of who is busy nothing is seen. */
static void cpus_without_lines_are_passed_by(void **state)
{
    (void)state;
    shown[1] = 5000;
    entries[0][1].is_known = 0;
    assert_false(contradiction_look(&cpus, BUDGET_NS));
    assert_int_equal(pairs, 0);
    entries[0][1].is_known = 1;
    busy = 1;
    shown[2] = shown[3] = 5000;
    assert_false(contradiction_look(&cpus, BUDGET_NS));
    assert_int_equal(pairs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(readings_in_order_change_nothing, begin),
        cmocka_unit_test_setup(who_is_ahead_or_behind_has_jumped, begin),
        cmocka_unit_test_setup(who_was_measured_against_one_that_jumped_is_doubted_alone, begin),
        cmocka_unit_test_setup(the_one_it_was_measured_against_is_asked_again, begin),
        cmocka_unit_test_setup(a_look_goes_on_where_the_one_before_ended, begin),
        cmocka_unit_test_setup(cpus_without_lines_are_passed_by, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
