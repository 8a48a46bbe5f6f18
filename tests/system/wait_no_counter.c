/* SPDX-License-Identifier: MIT */
/* Waits on the system's clock, by force or by choice: the polling loop, and all of the rest works.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/prctl.h>

#include "whole_waiter.h"

static void switch_off(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        child_skip("this kernel cannot switch the TSC off");
#else
    child_skip("only x86 can switch its counter off for a process");
#endif
}

static void choose_os_clock(void)
{
    EXPECT(timebase_counter_select(TIMEBASE_COUNTER_OS) == TIMEBASE_OK);
    EXPECT(timebase_clock_restart(timebase_clock_default()) == TIMEBASE_OK);
}

static void assert_polls_and_works(void)
{
    struct timebase_waiter_description d;
    struct timebase_wait_result result;
    EXPECT(timebase_counter_id() == TIMEBASE_COUNTER_OS);
    EXPECT(timebase_waiter_calibrate(the_waiter()) == 0);
    d = description_of(the_waiter());
    EXPECT(d.mechanism == TIMEBASE_MECHANISM_LOOP);
    EXPECT(d.readings == 1);
    EXPECT(d.plain_bias_ns > 0 && d.quantum_ns >= 0.99);
    for (int i = 0; i < 100; i++) {
        wait_by(the_waiter(), UNTIL_TICKS, target_in(UNTIL_TICKS, 20000), 0, &result);
        EXPECT(result.mechanism <= TIMEBASE_MECHANISM_LOOP);
        EXPECT(timebase_delay_ns(the_waiter(), 300, 0, &result) >= 0);
        EXPECT(result.mechanism <= TIMEBASE_MECHANISM_LOOP);
    }
    whole_waiter_check(the_waiter());
}

static void lose_the_counter(void)
{
    switch_off();
    assert_polls_and_works();
}

static void choose_then_lose_the_counter(void)
{
    choose_os_clock();
    assert_polls_and_works();
    switch_off();
    assert_polls_and_works();
}

static void choose(void)
{
    choose_os_clock();
    assert_polls_and_works();
}

/* A waiter is learnt again after the clock was restarted, as it would be on another CPU. */
static void choose_after_use(void)
{
    whole_waiter_check(the_waiter());
    choose_os_clock();
    assert_polls_and_works();
}

static void without_its_counter_a_process_waits_by_polling(void **state)
{
    (void)state;
    child_must_pass(lose_the_counter);
}

static void the_counter_may_go_once_the_os_clock_was_chosen(void **state)
{
    (void)state;
    child_must_pass(choose_then_lose_the_counter);
}

static void on_the_os_clock_a_process_waits_by_polling(void **state)
{
    (void)state;
    child_must_pass(choose);
}

static void a_waiter_is_calibrated_to_another_counter(void **state)
{
    (void)state;
    child_must_pass(choose_after_use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_its_counter_a_process_waits_by_polling),
        cmocka_unit_test(the_counter_may_go_once_the_os_clock_was_chosen),
        cmocka_unit_test(on_the_os_clock_a_process_waits_by_polling),
        cmocka_unit_test(a_waiter_is_calibrated_to_another_counter),
    };
    return run_all(tests);
}
