/* SPDX-License-Identifier: MIT */
/* What a rehearsal's return says of those of waits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "timing/stages/rehearsal.h"
#include "near_exact.h"

/* Its run lasts no time, so it returns far too soon. */
static int approach_once(struct approach *approach)
{
    approach->run = 1;
    approach->marker = 1;
    return 0;
}

/* By how much the way from a call's event to such a return is taken for another one then. */
static double believed(void)
{
    waiter.ways.exact = approach_once;
    waiter.ways.poll_bare = NULL; /* it returns within */
    waiter.approach.another_cycles = APPROACH_LONGEST_RUN;
    rehearsal_learn(&waiter, (struct rehearsal_plan){1, EVENT_RETURNS, 0});
    double more = waiter.learnt.exit_ticks[1][EVENT_RETURNS];
    return more < 0 ? -more : more;
}

/* As one may return to where the core did not expect it. */
static void by_a_fine_counter_one_is_hardly_believed(void **state)
{
    (void)state;
    begin_without_evidence();
    assert_true(believed() == 2.0 / 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_a_fine_counter_one_is_hardly_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
