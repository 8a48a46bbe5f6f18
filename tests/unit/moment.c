/* SPDX-License-Identifier: MIT */
/* moment: a reader's own line on the kernel's clocks promises no more than it can know. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "clock/attach/moment.h"
#include "clock/counter/probe.h"
#include "clock/line/lines.h"

#define NS_PER_TICK 16

static struct timebase_lines some_lines(void)
{
    struct timebase_lines lines;
    memset(&lines, 0, sizeof(lines));
    lines.after.period_ns = NS_PER_TICK;
    return lines;
}

/* Both ends of the look fall into one step: it took longer than the counter shows. */
static void the_bound_has_a_step_of_the_counter_in_it(void **state)
{
    struct timebase_lines lines = some_lines();
    const struct moment moment = {.ticks_before = 1000, .ticks_after = 1000};
    (void)state;
    struct timebase_lines own = moment_lines(&moment, &lines, 0);
    assert_true(own.after.maxerror_ns >= NS_PER_TICK);
}

static void the_bound_has_the_whole_look_in_it(void **state)
{
    struct timebase_lines lines = some_lines();
    const struct moment moment = {.ticks_before = 1000, .ticks_after = 5000, .error_ns = 300};
    (void)state;
    struct timebase_lines own = moment_lines(&moment, &lines, 0);
    assert_true(own.after.maxerror_ns >= 4000 * NS_PER_TICK + 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_has_a_step_of_the_counter_in_it),
        cmocka_unit_test(the_bound_has_the_whole_look_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
