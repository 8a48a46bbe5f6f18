/* SPDX-License-Identifier: MIT */
/*
 * A counter that is set between two measurements, against assumption 1 of docs/proof-cpus.md: readings
 * go back before the next look at them, and never after it (corrected_world.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corrected_world.h"

/* Between two calls the counter of CPU 1 is set, by
 * more than a reader can be later than another; a CPU that was away has its counter set, too. */
static void set_counter(bool is_away)
{
    uint64_t by = 1000 + (dice_roll(&world.dice) >> (20 + world_below(34)));
    world.offset[1] += world_below(2) ? by : 0 - by;
    world.is_broken = world_has_lines();
    world.was_away = is_away;
    world.set += world.is_broken;
}

/* Sets it once, halfway. Whoever calls then finds it out in the same call, due or not. */
static void run_world_that_is_set(bool is_away)
{
    int64_t again_ns;
    world_begin();
    for (int i = 0; i < RENEWALS; i++) {
        assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
        assert_false(world.is_broken && world_has_lines());
        world.is_broken = false;
        uint64_t rest = world_below((uint64_t)again_ns + 1), before = world_below(rest + 1);
        world_pass(before);
        if (i == RENEWALS / 2)
            set_counter(is_away);
        world_pass(rest - before);
    }
    assert_true((cpus.table->copy[cpus.table->seq & 1].entries[1].is_known != 0) == is_away);
    world_keep(cpus.table);
}

static void run_worlds_that_are_set(uint64_t held_up_most, bool is_away)
{
    world_begin_all();
    world.held_up_most = held_up_most;
    for (unsigned long i = 0; i < worlds(); i++)
        run_world_that_is_set(is_away);
    print_message("set %llu times: %llu of %llu went back before the next look, %llu after it\n",
                  (unsigned long long)world.set, (unsigned long long)world.back_while_broken,
                  (unsigned long long)world.readings, (unsigned long long)world.back);
    assert_int_equal(world.back, 0);
    assert_true(world.set > 0 && world.back_while_broken > 0);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void a_counter_that_is_set_goes_back_until_the_next_look_and_never_after_it(void **state)
{
    (void)state;
    run_worlds_that_are_set(0, false);
    run_worlds_that_are_set(400 * MS, false);
}

static void nor_does_one_of_a_cpu_that_was_away_and_it_has_lines_again(void **state)
{
    (void)state;
    run_worlds_that_are_set(0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_is_set_goes_back_until_the_next_look_and_never_after_it),
        cmocka_unit_test(nor_does_one_of_a_cpu_that_was_away_and_it_has_lines_again),
    };
    return world_is_skipped() ? SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
