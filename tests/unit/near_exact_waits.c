/* SPDX-License-Identifier: MIT */
/* A whole wait that is exact at its call; and what those need that rehearse instead. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "near_waits.h"
#include "timing/stages/stages.h"

/* ---- one that rehearses ---------------------------------------------------------------------- */

/* A wait of a millisecond, as if those of up to so long were exact at their call. */
static double lead_need_behind(unsigned flags, int64_t near_exact_ns)
{
    enum { AHEAD_NS = 1000000, HOT_NS = 1000000000 };
    struct waiter *real = waiter_within(the_waiter());
    const struct waiter_learnt known = real->learnt;
    uint64_t now = timebase_ticks();
    const struct wait asked = {.waiter = real,
                               .function = approach_event_none,
                               .flags = flags,
                               .entered_ticks = now,
                               .ticks = now + (uint64_t)waiter_ticks_of_ns(real, AHEAD_NS)};
    real->learnt.hot_ticks = real->learnt.pause_ticks = waiter_ticks_of_ns(real, HOT_NS);
    real->learnt.near_exact_ticks = waiter_ticks_of_ns(real, (double)near_exact_ns);
    real->learnt.lead_need.ticks = 0;
    real->approach.event_ticks = now;
    real->uses = 8; /* its turn */
    stages_run(&asked);
    double need = real->learnt.lead_need.ticks;
    real->learnt = known;
    return need;
}

static void what_that_takes_is_learnt_where_others_do_without(void **state)
{
    enum { LONGER_NS = 2000000, AS_LONG_NS = 1000000 };
    (void)state;
    assert_true(lead_need_behind(0, LONGER_NS) > 0);
    assert_true(lead_need_behind(0, AS_LONG_NS) == 0);
    assert_true(lead_need_behind(0, 0) == 0);
    assert_true(lead_need_behind(TIMEBASE_WAIT_REHEARSE, LONGER_NS) == 0);
}

/* ---- a whole one --------------------------------------------------------------------------- */

/* As long ahead as nothing holds a test up. */
static void a_wait_by_the_public_function_is_one(void **state)
{
    enum { AHEAD_NS = 200000000, MOST_NS = 2 * AHEAD_NS };
    (void)state;
    struct waiter *real = waiter_of_near_waits(MOST_NS);
    if (real == NULL)
        return;
    uint64_t target = timebase_ticks() + (uint64_t)waiter_ticks_of_ns(real, AHEAD_NS);
    assert_int_equal(timebase_wait_until_ticks(the_waiter(), target, 0, NULL) & ~1, 0);
    assert_true((int64_t)(timebase_ticks_ordered() - target) > -waiter_ticks_of_ns(real, 1000));
    assert_true(real->last.is_near_exact);
    assert_int_equal(real->last.ticks, target);
    assert_true(real->last.near_rehearsals > 1);
    uint64_t waits = real->waits;
    struct timebase_waiter_description told;
    assert_int_equal(timebase_waiter_describe(the_waiter(), &told), TIMEBASE_OK);
    assert_int_equal(told.waits, waits + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_that_takes_is_learnt_where_others_do_without),
        cmocka_unit_test(a_wait_by_the_public_function_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
