/* SPDX-License-Identifier: MIT */
/* What delays always take, and what each of their cycles takes: told apart by their sums. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "../repeats.h"
#include "stepped.h"
#include "timing/learn/shares.h"

#define ALWAYS 137.0 /* ticks, on Zen 5 */
#define CYCLE 0.611
#define EQUAL 1000.0
#define STEP 26.0

static struct dice dice;

struct belief {
    double always, cycle;
};

static double error_at(const struct belief *belief, double cycles)
{
    return ALWAYS + CYCLE * cycles - belief->always - belief->cycle * cycles;
}

/* One delay, and what the counter's steps make of it. */
static void learn(struct belief *belief, double cycles, double part)
{
    double wrong = error_at(belief, cycles) + dice_between(&dice, -STEP, 2 * STEP);
    shares_follow(&belief->always, &belief->cycle, wrong * part, cycles, EQUAL);
}

static void the_sum_changes_by_what_it_is_to(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(1000); i++) {
        struct belief belief = {100, 0.5};
        double cycles = dice_between(&dice, 0, 7000), more = dice_between(&dice, -30, 60);
        shares_follow(&belief.always, &belief.cycle, more, cycles, EQUAL);
        double changed = belief.always - 100 + (belief.cycle - 0.5) * cycles;
        assert_true(fabs(changed - more) < 1e-9);
    }
}

static void at_no_units_nothing_is_theirs_and_at_many_nearly_all(void **state)
{
    struct belief belief = {0, 0};
    (void)state;
    shares_follow(&belief.always, &belief.cycle, 8, 0, EQUAL);
    assert_true(belief.always == 8 && belief.cycle == 0);
    shares_follow(&belief.always, &belief.cycle, 8, EQUAL, EQUAL);
    assert_true(belief.always == 12 && belief.cycle * EQUAL == 4);
    belief = (struct belief){0, 0};
    shares_follow(&belief.always, &belief.cycle, 8, 10 * EQUAL, EQUAL);
    assert_true(belief.always < 0.1);
}

/* Of whatever lengths, from whatever was believed; in equal shares it runs away. */
static void delays_of_many_lengths_tell_the_two_apart(void **state)
{
    static const double least[] = {100, 600, 1200};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct belief belief = {ALWAYS + (i % 2 ? 20 : -20), CYCLE * (i % 2 ? 0.95 : 1.05)};
        for (int delay = 0; delay < 100000; delay++)
            learn(&belief, dice_between(&dice, least[i / 2], 2000), 1.0 / 64);
        for (double cycles = least[i / 2]; cycles < least[i / 2] + 2000; cycles += 100)
            assert_true(fabs(error_at(&belief, cycles)) < 8);
    }
}

/* Delays of one length follow all that is wrong, and do not run away either. */
static void delays_of_one_length_are_right_at_it(void **state)
{
    (void)state;
    for (double cycles = 200; cycles < 4000; cycles += 900) {
        struct belief belief = {ALWAYS + 20, CYCLE};
        for (int delay = 0; delay < 20000; delay++)
            learn(&belief, cycles, 1.0 / 64);
        assert_true(fabs(error_at(&belief, cycles)) < 8);
        assert_true(fabs(belief.cycle - CYCLE) < 0.03 * CYCLE);
    }
}

/* ---- about the middle --------------------------------------------------------------------- */

enum { LEAST = 200 };

static void learn_about(struct shares *seen, struct belief *belief, double cycles)
{
    double wrong = error_at(belief, cycles) + dice_between(&dice, -STEP, 2 * STEP);
    shares_follow_about(seen, &belief->always, &belief->cycle, wrong / 64, cycles, LEAST);
}

/* Of whatever lengths: in hundreds of delays, where by their sums it takes thousands. */
static void about_the_middle_the_two_are_soon_told_apart(void **state)
{
    static const double least[] = {100, 600, 1200};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct belief belief = {ALWAYS + (i % 2 ? 60 : -60), CYCLE * (i % 2 ? 0.95 : 1.05)};
        struct shares seen = {0, 0};
        for (int delay = 0; delay < 1500; delay++)
            learn_about(&seen, &belief, dice_between(&dice, least[i / 2], 2000));
        for (double cycles = least[i / 2]; cycles < least[i / 2] + 2000; cycles += 100)
            assert_true(fabs(error_at(&belief, cycles)) < 10);
    }
}

static void of_one_length_nothing_is_its_units(void **state)
{
    (void)state;
    for (double cycles = 200; cycles < 4000; cycles += 900) {
        struct belief belief = {ALWAYS + 20, CYCLE};
        struct shares seen = {0, 0};
        for (int delay = 0; delay < 20000; delay++)
            learn_about(&seen, &belief, cycles);
        assert_true(fabs(error_at(&belief, cycles)) < 8);
        assert_true(belief.cycle == CYCLE);
    }
}

/* The first of another length, however long. */
static void one_far_from_all_others_moves_its_sum_by_twice_as_much_at_most(void **state)
{
    (void)state;
    for (int i = 0; i < repeats(1000); i++) {
        struct belief belief = {100, 0.5};
        struct shares seen = {dice_between(&dice, 1, 2000), 0};
        double cycles = dice_between(&dice, 0, 100000), more = dice_between(&dice, 1, 30);
        shares_follow_about(&seen, &belief.always, &belief.cycle, more, cycles, LEAST);
        double changed = belief.always - 100 + (belief.cycle - 0.5) * cycles;
        assert_true(changed >= more - 1e-6 && changed <= 2 * more + 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_changes_by_what_it_is_to),
        cmocka_unit_test(at_no_units_nothing_is_theirs_and_at_many_nearly_all),
        cmocka_unit_test(delays_of_many_lengths_tell_the_two_apart),
        cmocka_unit_test(delays_of_one_length_are_right_at_it),
        cmocka_unit_test(about_the_middle_the_two_are_soon_told_apart),
        cmocka_unit_test(of_one_length_nothing_is_its_units),
        cmocka_unit_test(one_far_from_all_others_moves_its_sum_by_twice_as_much_at_most),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
