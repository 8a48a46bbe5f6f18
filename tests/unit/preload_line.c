/* SPDX-License-Identifier: MIT */
/* A line of one CPU and one of the kernel's clocks: never behind it, ahead by no more than is told. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "dice.h"
#include "preload/line.h"

enum { WORLDS = 300, LINES = 400, READINGS = 5 };

/* ---- a machine: a counter of some pace, and a kernel's clock that is slewed against it --------- */

struct machine {
    struct dice *dice;
    double ns_per_tick;
    double ticks, ns;
    uint64_t narrow_ticks;
};

static struct machine machine_new(struct dice *dice)
{
    struct machine machine = {.dice = dice};
    machine.ns_per_tick = 0.2 + (double)dice_below(machine.dice, 1000) / 1000;
    machine.ticks = (double)dice_below(machine.dice, UINT64_C(1) << 40);
    machine.ns = 1e9 + (double)dice_below(machine.dice, UINT64_C(1) << 40);
    machine.narrow_ticks = 50 + dice_below(machine.dice, 5000);
    return machine;
}

static void pass(struct machine *machine, double ticks)
{
    machine->ticks += ticks;
    machine->ns += ticks * machine->ns_per_tick;
}

static struct bracket look(struct machine *machine)
{
    uint64_t width = machine->narrow_ticks + dice_below(machine->dice, machine->narrow_ticks);
    uint64_t in_it = dice_below(machine->dice, width);
    struct bracket bracket;
    bracket.before_ticks = (uint64_t)machine->ticks;
    pass(machine, (double)in_it + 1);
    bracket.ns = (uint64_t)machine->ns;
    pass(machine, (double)(width - in_it));
    bracket.after_ticks = (uint64_t)machine->ticks;
    return bracket;
}

/* By a bracket's width, the leads, and what the pace is not known by. */
static uint64_t most_ahead_ns(const struct line_past *past, const struct machine *machine)
{
    return (uint64_t)((double)past->widest_ticks * machine->ns_per_tick * (1.0 + 2.0 / LINE_BASELINES)) +
        2 * LINE_LEAD_NS + 10;
}

static void read_along(struct machine *machine, const struct line_read *line, uint64_t most_ns)
{
    for (int i = 0; i < READINGS; i++) {
        uint64_t ns;
        if (!line_at(line, (uint64_t)machine->ticks, &ns))
            return;
        assert_true(ns + 1 >= (uint64_t)machine->ns);
        assert_true(ns <= (uint64_t)machine->ns + most_ns);
        pass(machine, (double)dice_below(machine->dice, line->window_ticks / 2 + 1));
    }
}

static void it_is_never_behind_and_ahead_by_no_more_than_told(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    uint64_t made = 0;
    for (int world = 0; world < WORLDS; world++) {
        struct machine machine = machine_new(&dice);
        struct line_past past = {0};
        struct line_read line;
        double pace = machine.ns_per_tick;
        for (int i = 0; i < LINES; i++) {
            struct bracket bracket = look(&machine);
            assert_true(line_is_narrow(&past, &bracket) || i > 0);
            if (line_go_on(&past, &bracket) == LINE_STEADY && line_make(&past, &line)) {
                read_along(&machine, &line, most_ahead_ns(&past, &machine));
                made++;
            }
            pass(&machine, (double)dice_below(machine.dice, 2000000));
            if (i == LINES / 2) /* as much as NTP may change at once */
                machine.ns_per_tick = pace * (dice_below(machine.dice, 2) == 0 ? 1.0005 : 0.9995);
        }
    }
    assert_true(made > WORLDS * LINES / 2);
}

/* ---- what is no line ---------------------------------------------------------------------------- */

static struct line_read some_line(struct dice *dice)
{
    return (struct line_read){dice_roll(dice), dice_roll(dice), dice_roll(dice),
                              dice_roll(dice), dice_roll(dice), dice_roll(dice), 0};
}

static void a_mixture_of_two_is_none(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct line one = {0}, other = {0}, mixture;
        struct line_read first = some_line(&dice), second = some_line(&dice), found;
        line_store(&one, &first);
        line_store(&other, &second);
        assert_true(line_load(&one, &found) && found.start_ns == first.start_ns);
        for (unsigned words = 1; words + 1 < 1u << (LINE_READ_WORDS + 1); words++) {
            mixture = one;
            for (int i = 0; i <= LINE_READ_WORDS; i++)
                if (words >> i & 1)
                    (&mixture.read.start_ticks)[i] = (&other.read.start_ticks)[i];
            assert_false(line_load(&mixture, &found));
        }
    }
}

static void memory_that_was_never_written_is_none(void **state)
{
    static struct line empty;
    struct line_read line;
    struct line_past past;
    (void)state;
    assert_false(line_load(&empty, &line));
    assert_false(line_load_past(&empty, &past));
}

static void a_tick_outside_its_window_is_not_on_it(void **state)
{
    struct line_read line = {.start_ticks = 1000, .start_ns = 50, .pace = UINT64_C(1) << 31,
                             .window_ticks = 100};
    uint64_t ns;
    (void)state;
    assert_true(line_at(&line, 1000, &ns) && ns == 50);
    assert_true(line_at(&line, 1100, &ns) && ns == 100);
    assert_false(line_at(&line, 1101, &ns));
    assert_false(line_at(&line, 999, &ns));
}

/* ---- what a bracket tells ----------------------------------------------------------------------- */

/* Brackets without any doubt, a millisecond apart, at a tick a nanosecond. */
static struct bracket next_of(struct bracket *bracket)
{
    bracket->before_ticks += 1000000;
    bracket->after_ticks = bracket->before_ticks + 100;
    bracket->ns += 1000000;
    return *bracket;
}

static struct line_past steady_past(struct bracket *bracket)
{
    struct line_past past = {0};
    *bracket = (struct bracket){5000, 5100, 77};
    for (int i = 0; i < 10; i++) {
        struct bracket one = next_of(bracket);
        assert_true(line_is_narrow(&past, &one));
        assert_int_equal(line_go_on(&past, &one), i == 0 ? LINE_BEGUN : LINE_STEADY);
    }
    return past;
}

static void a_counter_that_stood_still_has_lost_time(void **state)
{
    struct bracket bracket;
    struct line_past past = steady_past(&bracket);
    struct line_read line;
    (void)state;
    assert_true(line_make(&past, &line));
    bracket.ns += 100000;
    struct bracket next = next_of(&bracket);
    assert_int_equal(line_go_on(&past, &next), LINE_LOST);
    assert_false(line_make(&past, &line));
}

static void a_counter_that_ran_ahead_begins_anew(void **state)
{
    struct bracket bracket;
    struct line_past past = steady_past(&bracket);
    (void)state;
    bracket.before_ticks += 100000;
    struct bracket next = next_of(&bracket);
    assert_int_equal(line_go_on(&past, &next), LINE_BEGUN);
}

static void a_clock_or_counter_that_goes_back_begins_anew(void **state)
{
    struct bracket bracket;
    struct line_past past = steady_past(&bracket);
    (void)state;
    bracket.ns -= 3000000;
    struct bracket next = next_of(&bracket);
    assert_int_equal(line_go_on(&past, &next), LINE_BEGUN);
    past = steady_past(&bracket);
    bracket.before_ticks -= 3000000;
    next = next_of(&bracket);
    assert_int_equal(line_go_on(&past, &next), LINE_BEGUN);
}

static void an_hour_without_a_reading_is_no_loss(void **state)
{
    struct bracket bracket;
    struct line_past past = steady_past(&bracket);
    (void)state;
    bracket.before_ticks += UINT64_C(3600000000000);
    bracket.ns += UINT64_C(3600000000000) + 1000000000; /* 300 ppm */
    struct bracket next = next_of(&bracket);
    assert_int_equal(line_go_on(&past, &next), LINE_STEADY);
}

static void wide_brackets_are_not_narrow_until_there_are_no_others(void **state)
{
    struct bracket narrow = {0, 100, 1}, wide = {0, 1000, 1};
    struct line_past past = {0};
    int refused = 0;
    (void)state;
    assert_true(line_is_narrow(&past, &narrow));
    while (refused < 100 && !line_is_narrow(&past, &wide))
        refused++;
    assert_in_range(refused, 1, 20);
}

static void wide_brackets_of_before_are_forgotten(void **state)
{
    struct bracket bracket = {1000000, 1100000, 77};
    struct line_past past = {0};
    (void)state;
    assert_true(line_is_narrow(&past, &bracket));
    assert_int_equal(line_go_on(&past, &bracket), LINE_BEGUN);
    struct bracket next = next_of(&bracket);
    assert_true(line_is_narrow(&past, &next));
    assert_int_equal(line_go_on(&past, &next), LINE_BEGUN);
    assert_int_equal(past.widest_ticks, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_never_behind_and_ahead_by_no_more_than_told),
        cmocka_unit_test(a_mixture_of_two_is_none),
        cmocka_unit_test(memory_that_was_never_written_is_none),
        cmocka_unit_test(a_tick_outside_its_window_is_not_on_it),
        cmocka_unit_test(a_counter_that_stood_still_has_lost_time),
        cmocka_unit_test(a_counter_that_ran_ahead_begins_anew),
        cmocka_unit_test(a_clock_or_counter_that_goes_back_begins_anew),
        cmocka_unit_test(an_hour_without_a_reading_is_no_loss),
        cmocka_unit_test(wide_brackets_are_not_narrow_until_there_are_no_others),
        cmocka_unit_test(wide_brackets_of_before_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
