/* SPDX-License-Identifier: MIT */
/* What befell a clock is counted, in its statistics and on its page. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "moved_reference.h"

#define MS 1000000
#define SECOND 1000000000LL

static struct clock_cell new_cell(void)
{
    struct clock_cell cell = CLOCK_CELL_INITIALIZER(&moved_reference, NULL);
    draw_first_lines(&cell);
    return cell;
}

/* The lines that have just been published must have begun. */
static void maintain(struct clock_cell *cell)
{
    while (timebase_clock_maintain(cell_handle(cell)) == TIMEBASE_E_BUSY)
        timebase_arch_relax();
}

static struct timebase_statistics statistics_of(struct clock_cell *cell)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(cell_handle(cell), &statistics), 0);
    return statistics;
}

static void a_step_of_utc_is_counted(void **state)
{
    struct clock_cell cell = new_cell();
    (void)state;
    moved_utc_offset_ns -= 3;
    maintain(&cell);
    maintain(&cell);
    assert_true(statistics_of(&cell).utc_steps == 1);
    assert_true(statistics_of(&cell).last_utc_step_ns == -3);
    assert_true(cell_lines_page(&cell)->utc_step_count == 1);
    assert_true(cell_lines_page(&cell)->disruption_marker == 0);
}

static void a_jump_is_counted_and_marked(void **state)
{
    struct clock_cell cell = new_cell();
    (void)state;
    moved_ns += 5 * SECOND;
    maintain(&cell);
    assert_true(statistics_of(&cell).counter_jumps == 1);
    assert_true(statistics_of(&cell).utc_steps == 0);
    assert_true(cell_lines_page(&cell)->disruption_marker == 1);
}

/* A manual clock that nobody maintains is helped by its readers, who say so. */
static void a_rescue_is_counted(void **state)
{
    struct clock_cell cell = new_cell();
    const timebase_clock *clock = cell_handle(&cell);
    (void)state;
    timebase_mono_ns(clock);
    timebase_clock_set_maintenance(clock, TIMEBASE_MAINTENANCE_MANUAL);
    assert_true(statistics_of(&cell).rescues == 0);
    maintain(&cell);
    wait_until(kernel_now(CLOCK_MONOTONIC) + 1200 * MS);
    timebase_mono_ns(clock);
    assert_true(statistics_of(&cell).rescues == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_utc_is_counted),
        cmocka_unit_test(a_jump_is_counted_and_marked),
        cmocka_unit_test(a_rescue_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
