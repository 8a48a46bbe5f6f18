/* SPDX-License-Identifier: MIT */
/* The system's clock as the counter, by choice; and back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "whole_clock.h"

static void choose(int id)
{
    EXPECT(timebase_counter_select(id) == TIMEBASE_OK);
    EXPECT(timebase_counter_id() == id);
    EXPECT(timebase_clock_restart(timebase_clock_default()) == TIMEBASE_OK);
}

static void select_first(void)
{
    choose(TIMEBASE_COUNTER_OS);
    whole_clock_check(timebase_clock_default());
    if ((int)TIMEBASE_ARCH_COUNTER != TIMEBASE_COUNTER_OS)
        EXPECT(timebase_clock_page(timebase_clock_default())->seq == 0);
}

static void select_after_use_and_return(void)
{
    whole_clock_check(timebase_clock_default());
    int own = timebase_counter_id();
    for (int i = 0; i < 3; i++) {
        choose(TIMEBASE_COUNTER_OS);
        whole_clock_check(timebase_clock_default());
        choose(own);
        whole_clock_check(timebase_clock_default());
    }
}

static void the_system_s_clock_can_be_the_counter(void **state)
{
    (void)state;
    child_must_pass(select_first);
}

static void the_counter_can_be_changed_and_changed_back(void **state)
{
    (void)state;
    child_must_pass(select_after_use_and_return);
}

static void counters_of_other_processors_are_unsupported(void **state)
{
    (void)state;
    for (int id = TIMEBASE_COUNTER_ARM_VCNT; id <= TIMEBASE_COUNTER_INVALID; id++)
        if (id != (int)TIMEBASE_ARCH_COUNTER && id != TIMEBASE_COUNTER_OS)
            assert_int_equal(timebase_counter_select(id), TIMEBASE_E_UNSUPPORTED);
    assert_int_equal(timebase_counter_select(-1), TIMEBASE_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_s_clock_can_be_the_counter),
        cmocka_unit_test(the_counter_can_be_changed_and_changed_back),
        cmocka_unit_test(counters_of_other_processors_are_unsupported),
    };
    return run_all(tests);
}
