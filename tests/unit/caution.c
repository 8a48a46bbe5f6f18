/* SPDX-License-Identifier: MIT */
/* How often something is tried that went wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "stepped.h"
#include "timing/learn/caution.h"

enum { LEAST = 8, MOST = 512 };

static struct dice dice;

struct tries {
    int all, tried, bad;
};

static struct tries try_often(struct caution *caution, int turns, double bad_share)
{
    struct tries tries = {.all = turns};
    for (int i = 0; i < turns; i++) {
        if (!caution_allows(caution)) {
            caution_pass(caution);
            continue;
        }
        int is_bad = dice_between(&dice, 0, 1) < bad_share;
        if (is_bad)
            caution_went_wrong(caution, LEAST, MOST);
        else
            caution_went_well(caution);
        tries.tried++;
        tries.bad += is_bad;
    }
    return tries;
}

static void what_goes_well_is_always_tried(void **state)
{
    struct caution caution = {0};
    (void)state;
    assert_int_equal(try_often(&caution, 1000, 0).tried, 1000);
}

/* However bad it is: one turn in LEAST at most goes wrong; what is very bad, far less
 * often. */
static void few_turns_go_wrong(void **state)
{
    (void)state;
    for (double share = 0.01; share < 1; share *= 1.5) {
        struct caution caution = {0};
        struct tries tries = try_often(&caution, 200000, share);
        assert_true(tries.bad > 0);
        assert_true(tries.bad <= tries.all / 40);
        if (share > 0.3)
            assert_true(tries.bad < tries.all / 200);
    }
}

/* And what has become good is tried again, soon always. */
static void what_has_become_good_is_tried_again(void **state)
{
    struct caution caution = {0};
    (void)state;
    try_often(&caution, 10000, 1);
    assert_true(caution.turns == MOST);
    struct tries after = try_often(&caution, MOST + 1000, 0);
    assert_true(after.tried >= 1000);
    assert_true(caution.turns < LEAST);
    assert_true(try_often(&caution, 10000, 0.001).tried > 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_well_is_always_tried),
        cmocka_unit_test(few_turns_go_wrong),
        cmocka_unit_test(what_has_become_good_is_tried_again),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
