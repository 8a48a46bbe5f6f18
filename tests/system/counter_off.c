/* SPDX-License-Identifier: MIT */
/* A process whose TSC raises SIGSEGV, and with it the vDSO's clocks: the library still works. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/prctl.h>

#include "whole_clock.h"

static void switch_off(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        child_skip("this kernel cannot switch the TSC off");
#else
    child_skip("only x86 can switch its counter off for a process");
#endif
}

static void use_everything(void)
{
    const timebase_clock *clock = timebase_clock_default();
    switch_off();
    EXPECT(timebase_utc_ns(clock) > 0);
    EXPECT(timebase_counter_id() == TIMEBASE_COUNTER_OS);
    whole_clock_check(clock);
    EXPECT(timebase_clock_page(clock)->seq == 0);
}

static void convert_first(void)
{
    const timebase_clock *clock = timebase_clock_default();
    switch_off();
    whole_clock_check_conversions(clock);
    whole_clock_check(clock);
    EXPECT(timebase_clock_page(clock)->seq == 0);
}

static void ticks_are_the_raw_clock(void)
{
    switch_off();
    uint64_t before = (uint64_t)kernel_now(CLOCK_MONOTONIC_RAW);
    uint64_t ticks = timebase_ticks(), ordered = timebase_ticks_ordered();
    uint64_t after = (uint64_t)kernel_now(CLOCK_MONOTONIC_RAW);
    EXPECT(before <= ticks && ticks <= ordered && ordered <= after);
}

static void select_the_processor_s(void)
{
    switch_off();
    EXPECT(timebase_counter_select((int)TIMEBASE_ARCH_COUNTER) == TIMEBASE_E_PERMISSION);
    EXPECT(timebase_counter_select(TIMEBASE_COUNTER_OS) == TIMEBASE_OK);
    whole_clock_check(timebase_clock_default());
}

/* What counter.h tells a process to do that is about to lose its counter. */
static void choose_the_os_clock_first(void)
{
    const timebase_clock *clock = timebase_clock_default();
    EXPECT(timebase_utc_ns(clock) > 0);
    EXPECT(timebase_utc_at_ns(clock, timebase_ticks()) > 0);
    EXPECT(timebase_counter_select(TIMEBASE_COUNTER_OS) == TIMEBASE_OK);
    EXPECT(timebase_clock_restart(clock) == TIMEBASE_OK);
    switch_off();
    whole_clock_check(clock);
}

static void everything_works_without_the_counter(void **state)
{
    (void)state;
    child_must_pass(use_everything);
}

static void a_conversion_may_come_first_without_the_counter(void **state)
{
    (void)state;
    child_must_pass(convert_first);
}

static void ticks_are_the_kernel_s_raw_nanoseconds(void **state)
{
    (void)state;
    child_must_pass(ticks_are_the_raw_clock);
}

static void the_counter_may_go_once_the_os_clock_was_chosen(void **state)
{
    (void)state;
    child_must_pass(choose_the_os_clock_first);
}

static void the_counter_cannot_be_selected_against_the_kernel_s_will(void **state)
{
    (void)state;
    child_must_pass(select_the_processor_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_works_without_the_counter),
        cmocka_unit_test(a_conversion_may_come_first_without_the_counter),
        cmocka_unit_test(ticks_are_the_kernel_s_raw_nanoseconds),
        cmocka_unit_test(the_counter_may_go_once_the_os_clock_was_chosen),
        cmocka_unit_test(the_counter_cannot_be_selected_against_the_kernel_s_will),
    };
    return run_all(tests);
}
