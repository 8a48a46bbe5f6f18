/* SPDX-License-Identifier: MIT */
/* Exact or by the loop: by what they did in rehearsals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "stepped.h"
#include "timing/learn/choice.h"

#define SHARE (1.0 / 512) /* by which what is known fades */

static struct dice dice;

/* A machine: exact errors are small but for a share that is held up; the loop's are even. */
struct machine {
    double exact, held_up_share, held_up, loop;
};

static double exact_error(const struct machine *machine)
{
    int is_held_up = dice_between(&dice, 0, 1) < machine->held_up_share;
    return dice_between(&dice, 0, is_held_up ? machine->held_up : machine->exact);
}

static void rehearse(struct choice *choice, const struct machine *machine, int rehearsals)
{
    for (int i = 1; i <= rehearsals; i++)
        if (i % 8 == 0)
            choice_learn(choice, CHOICE_LOOP, dice_between(&dice, 0, machine->loop));
        else
            choice_learn(choice, CHOICE_EXACT, exact_error(machine));
}

static struct choice new_choice(void)
{
    static const double errors[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct choice choice;
    choice_forget(&choice);
    choice_init(&choice, CHOICE_EXACT, errors, 10);
    choice_init(&choice, CHOICE_LOOP, errors, 10);
    return choice;
}

static double share_exact(const struct machine *machine, int steady)
{
    struct choice choice = new_choice();
    int exact = 0;
    rehearse(&choice, machine, 4000);
    for (int i = 0; i < 4000; i++) {
        rehearse(&choice, machine, 16);
        exact += choice_is_exact(&choice, steady, 1);
    }
    return exact / 4000.0;
}

static void where_exact_waits_are_better_they_are_chosen(void **state)
{
    static const struct machine quiet = {2, 0.002, 30, 20};
    (void)state;
    assert_true(share_exact(&quiet, 0) > 0.99);
    assert_true(share_exact(&quiet, 1) > 0.9);
}

static void where_a_tenth_of_them_is_held_up_the_loop_is(void **state)
{
    static const struct machine busy = {2, 0.2, 300, 20};
    (void)state;
    assert_true(share_exact(&busy, 0) < 0.02);
}

static void who_asks_for_the_tail_gets_the_loop_sooner(void **state)
{
    static const struct machine spoilt = {2, 0.03, 300, 20};
    (void)state;
    assert_true(share_exact(&spoilt, 0) > 0.5);
    assert_true(share_exact(&spoilt, 1) < 0.1);
}

static void a_core_is_quiet_where_exact_waits_are_far_better(void **state)
{
    static const struct machine quiet = {2, 0.002, 30, 20}, shared = {20, 0.002, 30, 20};
    struct choice choice = new_choice();
    (void)state;
    rehearse(&choice, &shared, 4000);
    assert_false(choice_is_quiet(&choice));
    rehearse(&choice, &quiet, 4000);
    assert_true(choice_is_quiet(&choice));
    choice_forget(&choice);
    assert_false(choice_is_quiet(&choice));
}

static void a_machine_that_changes_is_followed(void **state)
{
    static const struct machine quiet = {2, 0.002, 30, 20}, busy = {2, 0.3, 300, 20};
    struct choice choice = new_choice();
    (void)state;
    for (int spell = 0; spell < 20; spell++) {
        rehearse(&choice, &busy, 200);
        assert_false(choice_is_exact(&choice, 0, 1));
        rehearse(&choice, &quiet, 1000);
        assert_true(choice_is_exact(&choice, 0, 1));
    }
}

static void what_is_known_against_exact_waits_fades_unless_seen_again(void **state)
{
    struct choice choice = new_choice();
    int waits = 0;
    (void)state;
    rehearse(&choice, &(struct machine){300, 0, 0, 20}, 1000);
    for (; !choice_is_exact(&choice, 0, 1); waits++)
        choice_fade(&choice, SHARE);
    assert_in_range(waits, 100, 10000);
}

/* Four of 256 that a host stopped: with the tail it would be the loop for a thousand waits. */
static void what_held_up_a_calibration_is_no_tail(void **state)
{
    enum { TRIALS = 256, HELD_UP = 4, USUAL = 3, MOST = 8 };
    double errors[TRIALS];
    struct choice choice = new_choice();
    (void)state;
    for (int i = 0; i < TRIALS; i++)
        errors[i] = i < TRIALS - HELD_UP ? USUAL : 5000;
    choice_init(&choice, CHOICE_EXACT, errors, TRIALS);
    assert_true(choice.error_ticks[CHOICE_EXACT][1] == USUAL);
    assert_true(choice.error_ticks[CHOICE_EXACT][2] == MOST * USUAL);
}

static void a_way_that_is_not_there_is_never_chosen(void **state)
{
    struct choice choice;
    (void)state;
    choice_forget(&choice);
    for (int i = 0; i < 1000000; i++)
        choice_fade(&choice, SHARE);
    choice_learn(&choice, CHOICE_LOOP, 1e6);
    assert_false(choice_is_exact(&choice, 0, 1));
    assert_false(choice_is_exact(&choice, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_exact_waits_are_better_they_are_chosen),
        cmocka_unit_test(where_a_tenth_of_them_is_held_up_the_loop_is),
        cmocka_unit_test(who_asks_for_the_tail_gets_the_loop_sooner),
        cmocka_unit_test(a_core_is_quiet_where_exact_waits_are_far_better),
        cmocka_unit_test(a_machine_that_changes_is_followed),
        cmocka_unit_test(what_held_up_a_calibration_is_no_tail),
        cmocka_unit_test(a_way_that_is_not_there_is_never_chosen),
        cmocka_unit_test(what_is_known_against_exact_waits_fades_unless_seen_again),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
