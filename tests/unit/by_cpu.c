/* SPDX-License-Identifier: MIT */
/* The counter corrected by CPU: its lines, its latch, and CPUs that have no lines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "clock/counter/by_cpu_here.h"
#include "dice.h"

enum { CPUS = 4 };
#define WORLDS 20000
#define PPM_63 ((uint64_t)9223372036854) /* 2^63 / 10^6 */

/* ---- the machine --------------------------------------------------------------------------- */

static struct {
    unsigned cpu;
    uint64_t raw;
    uint64_t os_ns, os_step_ns;
    void (*meanwhile)(void); /* between the two looks at the table's number, */
    unsigned let_pass;       /* after so many such moments */
} machine;

uint64_t by_cpu_here(unsigned *cpu)
{
    void (*meanwhile)(void) = machine.meanwhile;
    *cpu = machine.cpu;
    if (meanwhile != NULL && machine.let_pass-- == 0) {
        machine.meanwhile = NULL;
        meanwhile();
    }
    return machine.raw;
}

static uint64_t os_clock_ns(void)
{
    return machine.os_ns += machine.os_step_ns;
}

static struct by_cpu_entry entries[2 * CPUS];
static struct by_cpu_table table;

static int begin(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    memset(entries, 0, sizeof(entries));
    table = (struct by_cpu_table){.cpus = CPUS};
    table.copy[0].entries = entries;
    table.copy[1].entries = entries + CPUS;
    return 0;
}

static struct by_cpu_entry offset_of(int64_t offset_ticks)
{
    struct by_cpu_line line = {.add_ticks = 0 - (uint64_t)offset_ticks};
    return (struct by_cpu_entry){line, line, line, (uint64_t)1 << 62, 1};
}

/* ---- lines --------------------------------------------------------------------------------- */

static void a_line_adds_and_grows(void **state)
{
    struct by_cpu_line line = {.start_ticks = 1000, .add_ticks = (uint64_t)-700};
    (void)state;
    assert_true(by_cpu_line_ticks(&line, 1000) == 300);
    assert_true(by_cpu_line_ticks(&line, 1000000) == 999300);
    line.rate = 50 * PPM_63;
    assert_true(by_cpu_line_ticks(&line, 1000 + 1000000000) == 300 + 1000000000 + 49999);
    line.rate = 0 - 50 * PPM_63;
    assert_true(by_cpu_line_ticks(&line, 1000 + 1000000000) == 300 + 1000000000 - 49999);
}

static void one_more_tick_is_never_less(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct by_cpu_line line = {.start_ticks = dice_roll(&dice), .add_ticks = dice_roll(&dice)};
        line.rate = dice_below(&dice, 2000 * PPM_63) - 1000 * PPM_63;
        uint64_t raw = line.start_ticks + (dice_wide(&dice) >> 1);
        uint64_t step = by_cpu_line_ticks(&line, raw + 1) - by_cpu_line_ticks(&line, raw);
        assert_true(step <= 2);
    }
}

static void the_line_is_picked_by_the_tick(void **state)
{
    struct by_cpu_entry entry = {{0, 10, 0}, {1000, 20, 0}, {2000, 30, 0}, 5000, 1};
    (void)state;
    assert_true(by_cpu_entry_ticks(&entry, 999) == 1009);
    assert_true(by_cpu_entry_ticks(&entry, 1000) == 1020);
    assert_true(by_cpu_entry_ticks(&entry, 1999) == 2019);
    assert_true(by_cpu_entry_ticks(&entry, 2000) == 2030);
}

/* ---- the latch ----------------------------------------------------------------------------- */

static void publish_offsets(int64_t offset_ticks)
{
    struct by_cpu_copy *next = by_cpu_next(&table);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct by_cpu_entry entry = offset_of(offset_ticks * cpu);
        by_cpu_set_entry(next, cpu, &entry);
    }
    by_cpu_publish(&table);
}

static void each_cpu_has_its_own_correction(void **state)
{
    (void)state;
    publish_offsets(5000000000);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        machine.cpu = cpu;
        machine.raw = 123456 + 5000000000 * cpu;
        assert_true(by_cpu_ticks(&table, os_clock_ns) == 123456);
    }
}

static void publish_another(void)
{
    publish_offsets(7000);
}

/* What was read by the old lines at a tick of the new ones would be anything. */
static void a_publication_meanwhile_is_noticed(void **state)
{
    (void)state;
    publish_offsets(100);
    machine.cpu = 1;
    machine.raw = 50000;
    machine.meanwhile = publish_another;
    assert_true(by_cpu_ticks(&table, os_clock_ns) == 43000);
}

/* ---- CPUs without lines -------------------------------------------------------------------- */

/* 2.5 ticks a ns, known to 400 ns. */
static void publish_anchor(uint64_t os_ns, uint64_t ticks, uint64_t error_ns)
{
    struct by_cpu_anchor anchor = {.os_ns = os_ns,
                                   .ticks = ticks,
                                   .ticks_per_ns = 2,
                                   .ticks_per_ns_frac = (uint64_t)1 << 63,
                                   .error_ns = error_ns};
    by_cpu_set_anchor(by_cpu_next(&table), &anchor);
    by_cpu_publish(&table);
}

static void an_unknown_cpu_is_read_from_the_kernel_s_clock(void **state)
{
    (void)state;
    publish_anchor(1000000, 70000000, 400);
    machine.os_ns = 3000000;
    machine.os_step_ns = 50;
    for (unsigned cpu = 0; cpu <= CPUS; cpu++) { /* the last is not even in the table */
        machine.cpu = cpu;
        uint64_t before_ns = machine.os_ns;
        uint64_t ticks = by_cpu_ticks(&table, os_clock_ns);
        uint64_t least = 70000000 + (before_ns - 1000000) * 5 / 2;
        uint64_t most = 70000000 + (machine.os_ns - 1000000) * 5 / 2;
        assert_true(least <= ticks && ticks <= most);
        assert_true(machine.os_ns - before_ns >= 800);
    }
}

/* Nobody knows what they are off by then. */
static void past_their_end_lines_are_not_read(void **state)
{
    struct by_cpu_entry entry = offset_of(0);
    (void)state;
    entry.end_ticks = 80000000;
    by_cpu_set_entry(by_cpu_next(&table), 0, &entry);
    publish_anchor(1000000, 70000000, 400);
    machine.os_ns = 3000000;
    machine.os_step_ns = 50;
    for (machine.raw = 79999998; machine.raw <= 80000001; machine.raw++) {
        uint64_t ticks = by_cpu_ticks(&table, os_clock_ns);
        assert_true((ticks == machine.raw) == (machine.raw < 80000000));
    }
    assert_true(machine.os_ns >= 3001600);
}

static uint64_t handed_on(void)
{
    static const uint64_t values[] = {1000, 1000, 5000};
    return values[machine.cpu < 2 ? machine.cpu++ : 2];
}

/* The first may have been read before it was asked for, and so may the same again. */
/* As counter_clock_ns(). Who asks for ever is ended. */
static uint64_t refused(void)
{
    assert_true(++machine.let_pass < 1000);
    return BY_CPU_NO_OS;
}

/* A sandbox came down after the table was made. */
static void nobody_waits_for_a_kernel_s_clock_that_is_refused(void **state)
{
    (void)state;
    publish_anchor(1000000, 70000000, 400);
    assert_true(by_cpu_ticks(&table, refused) == 70000000);
}

static void the_kernel_s_clock_is_read_until_it_shows_another_value(void **state)
{
    (void)state;
    assert_true(by_cpu_os_ns(handed_on) == 5000);
}

static void publish_another_anchor(void)
{
    publish_anchor(1000000, 90000000, 400);
}

/* The first moment is that of a look for lines, the second that of taking the anchor. */
static void nor_is_it_read_by_an_anchor_that_was_replaced_meanwhile(void **state)
{
    (void)state;
    for (unsigned moment = 0; moment < 2; moment++) {
        machine.let_pass = moment;
        publish_anchor(1000000, 70000000, 400);
        machine.os_ns = 1000000;
        machine.os_step_ns = 50;
        machine.meanwhile = publish_another_anchor;
        assert_true(by_cpu_ticks(&table, os_clock_ns) >= 90000000);
        assert_true(machine.meanwhile == NULL);
    }
}

/*
 * Readers by turns on a CPU with lines and on one without, the corrected counter anywhere in what
 * the anchor allows: each sees no less than the one before.
 */
static void nothing_goes_back_between_a_known_cpu_and_an_unknown_one(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < 300; world++) {
        begin(NULL);
        uint64_t error_ns = dice_below(&dice, 3000), last = 0;
        int64_t off_ns = (int64_t)dice_below(&dice, 2 * error_ns + 1) - (int64_t)error_ns;
        struct by_cpu_entry entry = offset_of(0);
        by_cpu_set_entry(by_cpu_next(&table), 0, &entry);
        publish_anchor(1000000, 2500000, error_ns);
        machine.os_ns = 10000000;
        machine.os_step_ns = 1 + dice_below(&dice, 100);
        for (int i = 0; i < 100; i++) {
            machine.cpu = dice_below(&dice, 2) == 0;
            machine.os_ns += dice_below(&dice, 200);
            machine.raw = (machine.os_ns + (uint64_t)off_ns) * 5 / 2;
            uint64_t ticks = by_cpu_ticks(&table, os_clock_ns);
            assert_true(ticks >= last);
            last = ticks;
        }
    }
}

static void the_doubt_grows_with_the_anchor_s_age(void **state)
{
    struct by_cpu_anchor anchor = {.os_ns = 0,
                                   .ticks_per_ns = 1,
                                   .error_ns = 100,
                                   .growth = UINT64_MAX / 1000000}; /* 1 ppm */
    (void)state;
    by_cpu_set_anchor(by_cpu_next(&table), &anchor);
    by_cpu_publish(&table);
    machine.os_ns = 1000000000; /* a second later: 1 us */
    machine.os_step_ns = 10;
    uint64_t begin_ns = machine.os_ns;
    by_cpu_ticks(&table, os_clock_ns);
    assert_true(machine.os_ns - begin_ns >= 2200);
    assert_true(machine.os_ns - begin_ns < 2300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_adds_and_grows),
        cmocka_unit_test(one_more_tick_is_never_less),
        cmocka_unit_test(the_line_is_picked_by_the_tick),
        cmocka_unit_test_setup(each_cpu_has_its_own_correction, begin),
        cmocka_unit_test_setup(a_publication_meanwhile_is_noticed, begin),
        cmocka_unit_test_setup(an_unknown_cpu_is_read_from_the_kernel_s_clock, begin),
        cmocka_unit_test_setup(past_their_end_lines_are_not_read, begin),
        cmocka_unit_test_setup(nobody_waits_for_a_kernel_s_clock_that_is_refused, begin),
        cmocka_unit_test_setup(the_kernel_s_clock_is_read_until_it_shows_another_value, begin),
        cmocka_unit_test_setup(nor_is_it_read_by_an_anchor_that_was_replaced_meanwhile, begin),
        cmocka_unit_test_setup(nothing_goes_back_between_a_known_cpu_and_an_unknown_one, begin),
        cmocka_unit_test_setup(the_doubt_grows_with_the_anchor_s_age, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
