/* SPDX-License-Identifier: MIT */
/* Parts of a calibration on a core whose readings are the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "timing/calibration/calibration_quiet.h"

enum { LOOK = 32 }; /* series of readings, before and behind each part */

/* Who uses the core: nobody else, one that comes and goes, or one that does the same all the time. */
enum neighbour { NONE, COMES_AND_GOES, STAYS };

struct spell {
    int until; /* so many series have been read */
    enum neighbour neighbour;
};

static const struct spell *spells;
static struct waiter waiter;
static int series, parts;

static enum neighbour neighbour_now(void)
{
    const struct spell *spell = spells;
    while (series >= spell->until)
        spell++;
    return spell->neighbour;
}

static void take(uint32_t readings[APPROACH_FINE])
{
    static const uint32_t ticks[] = {[NONE] = 50, [COMES_AND_GOES] = 55, [STAYS] = 52};
    enum neighbour neighbour = neighbour_now();
    int is_alone = neighbour == COMES_AND_GOES && series % 2;
    for (uint32_t i = 0; i < APPROACH_FINE; i++)
        readings[i] = i * ticks[is_alone ? NONE : neighbour];
    series++;
}

static void part(struct waiter *of)
{
    assert_ptr_equal(of, &waiter);
    parts++;
}

/* There is time for all that comes. */
static struct quiet begin(const struct spell *core)
{
    memset(&waiter, 0, sizeof(waiter));
    waiter.vernier.readings = APPROACH_FINE;
    waiter.vernier.step_ticks = 26;
    waiter.ways.fine[0] = take;
    spells = core;
    series = parts = 0;
    struct quiet quiet = {.until = timebase_ticks() + (UINT64_C(1) << 60)};
    quiet_begin(&quiet, &waiter);
    return quiet;
}

static void run(struct quiet *quiet, int then_parts, int then_series)
{
    quiet_run(quiet, &waiter, part);
    assert_int_equal(parts, then_parts);
    assert_int_equal(series, then_series);
}

static void on_a_quiet_core_a_part_is_run_once(void **state)
{
    static const struct spell core[] = {{INT32_MAX, NONE}};
    struct quiet quiet = begin(core);
    (void)state;
    run(&quiet, 1, 2 * LOOK);
    run(&quiet, 2, 4 * LOOK);
    assert_false(quiet_was_none(&quiet));
}

static void it_is_run_once_a_neighbour_has_gone(void **state)
{
    static const struct spell core[] = {{5 * LOOK, COMES_AND_GOES}, {INT32_MAX, NONE}};
    struct quiet quiet = begin(core);
    (void)state;
    run(&quiet, 1, 7 * LOOK);
}

static void it_is_run_again_if_one_has_come_meanwhile(void **state)
{
    static const struct spell core[] = {
        {LOOK, NONE}, {2 * LOOK, COMES_AND_GOES}, {INT32_MAX, NONE}};
    struct quiet quiet = begin(core);
    (void)state;
    run(&quiet, 2, 4 * LOOK);
}

/* Its readings are equally far apart. */
static void so_it_is_if_one_has_come_that_stays(void **state)
{
    static const struct spell core[] = {{LOOK, NONE}, {9 * LOOK, STAYS}, {INT32_MAX, NONE}};
    struct quiet quiet = begin(core);
    (void)state;
    run(&quiet, 2, 11 * LOOK);
    assert_false(quiet_was_none(&quiet));
}

static void one_that_was_there_before_is_seen_when_it_has_gone(void **state)
{
    static const struct spell core[] = {{2 * LOOK, STAYS}, {INT32_MAX, NONE}};
    struct quiet quiet = begin(core);
    (void)state;
    run(&quiet, 1, 2 * LOOK);
    assert_false(quiet_was_none(&quiet));
    run(&quiet, 2, 4 * LOOK);
    assert_true(quiet_was_none(&quiet));
    quiet.until = timebase_ticks() - 1; /* too late */
    assert_false(quiet_was_none(&quiet));
}

static void it_is_not_waited_for_without_end(void **state)
{
    static const struct spell core[] = {{INT32_MAX, COMES_AND_GOES}};
    struct quiet quiet = begin(core);
    (void)state;
    quiet.until = timebase_ticks() - 1;
    run(&quiet, 1, 2 * LOOK);
}

static void by_fine_steps_nothing_is_looked_at(void **state)
{
    struct quiet quiet = begin(NULL);
    (void)state;
    waiter.vernier.readings = 1;
    run(&quiet, 1, 0);
    assert_false(quiet_was_none(&quiet));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_quiet_core_a_part_is_run_once),
        cmocka_unit_test(it_is_run_once_a_neighbour_has_gone),
        cmocka_unit_test(it_is_run_again_if_one_has_come_meanwhile),
        cmocka_unit_test(so_it_is_if_one_has_come_that_stays),
        cmocka_unit_test(one_that_was_there_before_is_seen_when_it_has_gone),
        cmocka_unit_test(it_is_not_waited_for_without_end),
        cmocka_unit_test(by_fine_steps_nothing_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
