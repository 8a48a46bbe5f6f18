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

static struct own_clock new_clock(void)
{
    struct own_clock own = OWN_CLOCK_INITIALIZER(&moved_reference, NULL);
    draw_first_lines(&own);
    return own;
}

/* The lines that have just been published must have begun. */
static void maintain(struct own_clock *own)
{
    while (timebase_clock_maintain(own_handle(own)) == TIMEBASE_E_BUSY)
        timebase_arch_relax();
}

static struct timebase_statistics statistics_of(struct own_clock *own)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(own_handle(own), &statistics), 0);
    return statistics;
}

static void a_step_of_utc_is_counted(void **state)
{
    struct own_clock own = new_clock();
    (void)state;
    moved_utc_offset_ns -= 3;
    maintain(&own);
    maintain(&own);
    assert_true(statistics_of(&own).utc_steps == 1);
    assert_true(statistics_of(&own).last_utc_step_ns == -3);
    assert_true(cell_lines_page(&own.cell)->utc_step_count == 1);
    assert_true(cell_lines_page(&own.cell)->disruption_marker == 0);
}

static void a_jump_is_counted_and_marked(void **state)
{
    struct own_clock own = new_clock();
    (void)state;
    moved_ns += 5 * SECOND;
    maintain(&own);
    assert_true(statistics_of(&own).counter_jumps == 1);
    assert_true(statistics_of(&own).utc_steps == 0);
    assert_true(cell_lines_page(&own.cell)->disruption_marker == 1);
}

/* A manual clock that nobody maintains is helped by its readers, who say so. */
static void a_rescue_is_counted(void **state)
{
    struct own_clock own = new_clock();
    const timebase_clock *clock = own_handle(&own);
    (void)state;
    timebase_mono_ns(clock);
    timebase_clock_set_maintenance(clock, TIMEBASE_MAINTENANCE_MANUAL);
    assert_true(statistics_of(&own).rescues == 0);
    maintain(&own);
    wait_until(kernel_now(CLOCK_MONOTONIC) + 1200 * MS);
    timebase_mono_ns(clock);
    assert_true(statistics_of(&own).rescues == 1);
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
