/* SPDX-License-Identifier: MIT */
/* The table is the inverse of the latencies it is made from, whatever they are. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stepped.h"
#include "timing/wait/table.h"

#define CASES 5000

/* What entry j is for, in ticks. */
#define WANTED(latencies, j) ((latencies)[0] + ((j) + 0.5) / 4)

/* A core of 0.02 to 3 ticks an instruction, here and there another one. */
static void some_latencies(double latencies[TABLE_RUNS], struct dice *dice)
{
    double usual = dice_between(dice, 0.02, 3);
    latencies[0] = dice_between(dice, 1, 2000);
    for (int i = 1; i < TABLE_RUNS; i++) {
        double each = dice_below(dice, 3) == 0 ? dice_between(dice, 0.02, 3) : usual;
        latencies[i] = latencies[i - 1] + each * TABLE_RUN_STEP;
    }
}

/* How many instructions take that long, to a fraction; the last slope goes on for ever. */
static double instructions_for(const double latencies[TABLE_RUNS], double wanted)
{
    int i = 0;
    while (i < TABLE_RUNS - 2 && latencies[i + 1] < wanted)
        i++;
    double each = (latencies[i + 1] - latencies[i]) / TABLE_RUN_STEP;
    return TABLE_SHORTEST_RUN + i * TABLE_RUN_STEP + (wanted - latencies[i]) / each;
}

static void build(uint8_t table[APPROACH_TABLE_ENTRIES], const double latencies[TABLE_RUNS])
{
    assert_int_equal(table_build(table, latencies), 0);
}

static void each_entry_is_within_half_an_instruction_of_the_inverse(void **state)
{
    struct dice dice = dice_new();
    double latencies[TABLE_RUNS];
    uint8_t table[APPROACH_TABLE_ENTRIES];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        some_latencies(latencies, &dice);
        build(table, latencies);
        for (int j = 0; j < APPROACH_TABLE_ENTRIES; j++) {
            double exact = instructions_for(latencies, WANTED(latencies, j));
            double off = table[j] - fmin(exact, APPROACH_LONGEST_RUN);
            int moved = table[j] % TABLE_LINE == TABLE_LINE / 2 + 2; /* from the line's end */
            assert_true(off >= -0.5 - 1e-6 && off <= (moved ? 1.5 : 0.5) + 1e-6);
        }
    }
}

static void more_time_never_gets_fewer_instructions(void **state)
{
    struct dice dice = dice_new();
    double latencies[TABLE_RUNS];
    uint8_t table[APPROACH_TABLE_ENTRIES];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        some_latencies(latencies, &dice);
        build(table, latencies);
        for (int j = 1; j < APPROACH_TABLE_ENTRIES; j++)
            assert_true(table[j] >= table[j - 1]);
    }
}

/* The run ends at APPROACH_LONGEST_RUN: the last of a line is half a line off a whole one. */
static void no_entry_enters_at_the_end_of_a_line_or_outside_of_the_run(void **state)
{
    struct dice dice = dice_new();
    double latencies[TABLE_RUNS];
    uint8_t table[APPROACH_TABLE_ENTRIES];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        some_latencies(latencies, &dice);
        build(table, latencies);
        for (int j = 0; j < APPROACH_TABLE_ENTRIES; j++) {
            int into_line = (APPROACH_LONGEST_RUN - table[j]) % TABLE_LINE;
            assert_int_not_equal(into_line, TABLE_LINE - 1);
            assert_in_range(table[j], TABLE_SHORTEST_RUN, APPROACH_LONGEST_RUN);
        }
    }
}

/* A tick an instruction: so the number can be told by heart. */
static void a_straight_core_has_a_straight_table(void **state)
{
    double latencies[TABLE_RUNS];
    uint8_t table[APPROACH_TABLE_ENTRIES];
    (void)state;
    for (int i = 0; i < TABLE_RUNS; i++)
        latencies[i] = 500 + i * TABLE_RUN_STEP;
    build(table, latencies);
    assert_int_equal(table[0], 8);          /* 1/8 tick more than the shortest run takes */
    assert_int_equal(table[4 * 6], 14);     /* 6 1/8 ticks more */
    assert_int_equal(table[4 * 1 + 1], 10); /* 9 would be the last of its line */
    assert_int_equal(table[4 * 100], 108);
    assert_int_equal(table[APPROACH_TABLE_ENTRIES - 1], 136);
}

static void a_fast_core_runs_out_of_instructions_not_out_of_the_run(void **state)
{
    double latencies[TABLE_RUNS];
    uint8_t table[APPROACH_TABLE_ENTRIES];
    (void)state;
    for (int i = 0; i < TABLE_RUNS; i++)
        latencies[i] = i * 1e-300;
    build(table, latencies);
    for (int j = 0; j < APPROACH_TABLE_ENTRIES; j++)
        assert_int_equal(table[j], APPROACH_LONGEST_RUN);
}

static void assert_refused(const double latencies[TABLE_RUNS])
{
    uint8_t table[APPROACH_TABLE_ENTRIES], before[APPROACH_TABLE_ENTRIES];
    memset(table, 0xa5, sizeof(table));
    memcpy(before, table, sizeof(table));
    assert_int_equal(table_build(table, latencies), 1);
    assert_memory_equal(table, before, sizeof(table));
}

static void latencies_that_do_not_grow_are_refused_and_change_nothing(void **state)
{
    struct dice dice = dice_new();
    double latencies[TABLE_RUNS];
    (void)state;
    for (int i = 1; i < TABLE_RUNS; i++) {
        some_latencies(latencies, &dice);
        double good = latencies[i];
        latencies[i] = latencies[i - 1];
        assert_refused(latencies);
        latencies[i] -= 1;
        assert_refused(latencies);
        latencies[i] = -INFINITY;
        assert_refused(latencies);
        latencies[i] = NAN;
        assert_refused(latencies);
        latencies[i] = good;
        assert_int_equal(table_build((uint8_t[APPROACH_TABLE_ENTRIES]){0}, latencies), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_is_within_half_an_instruction_of_the_inverse),
        cmocka_unit_test(more_time_never_gets_fewer_instructions),
        cmocka_unit_test(no_entry_enters_at_the_end_of_a_line_or_outside_of_the_run),
        cmocka_unit_test(a_straight_core_has_a_straight_table),
        cmocka_unit_test(a_fast_core_runs_out_of_instructions_not_out_of_the_run),
        cmocka_unit_test(latencies_that_do_not_grow_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
