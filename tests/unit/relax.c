/* SPDX-License-Identifier: MIT */
/* Polling at less power: the choice by made-up processors, the length of a turn, and a real one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include <timebase/counter.h>

#include "dice.h"
#include "timing/sleep/relax.h"

#define BIT(n) (UINT64_C(1) << (n))

/* ---- the choice --------------------------------------------------------------------------- */

static void x86_takes_tpause_before_mwaitx_before_pause(void **state)
{
    const uint32_t waitpkg = (uint32_t)BIT(5), monitorx = (uint32_t)BIT(29);
    (void)state;
    assert_int_equal(relax_choose_x86(waitpkg, 0), RELAX_TPAUSE);
    assert_int_equal(relax_choose_x86(waitpkg, monitorx), RELAX_TPAUSE);
    assert_int_equal(relax_choose_x86(0, monitorx), RELAX_MWAITX);
    assert_int_equal(relax_choose_x86(~waitpkg, ~monitorx), RELAX_PAUSE);
}

static void arm64_takes_wfet_before_wfe_and_wfe_only_with_the_event_stream(void **state)
{
    const uint64_t event_stream = BIT(2), wfxt = BIT(31);
    (void)state;
    assert_int_equal(relax_choose_arm64(0, wfxt), RELAX_WFET);
    assert_int_equal(relax_choose_arm64(event_stream, wfxt), RELAX_WFET);
    assert_int_equal(relax_choose_arm64(event_stream, ~wfxt), RELAX_WFE);
    assert_int_equal(relax_choose_arm64(~event_stream, ~wfxt), RELAX_ISB);
}

static void power_lowers_its_priority_from_isa_2_07_on(void **state)
{
    (void)state;
    assert_int_equal(relax_choose_power(BIT(31)), RELAX_PRIORITY);
    assert_int_equal(relax_choose_power(~BIT(31)), RELAX_PAUSE);
}

static void riscv_waits_on_a_reservation_where_the_kernel_says_zawrs(void **state)
{
    (void)state;
    assert_int_equal(relax_choose_riscv(BIT(48)), RELAX_WRS);
    assert_int_equal(relax_choose_riscv(~BIT(48)), RELAX_PAUSE);
}

/* ---- the length of a turn ----------------------------------------------------------------- */

static double turn_ns(struct relax_turn turn, double period_ns)
{
    return turn.ticks * period_ns;
}

/* The one that is left after a turn of a means with a deadline. */
static void a_turn_with_a_deadline_ends_before_the_time_given(void **state)
{
    static const enum relax_means means[] = {RELAX_TPAUSE, RELAX_MWAITX, RELAX_WFET};
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 30000; i++) {
        double period_ns = (double)(dice_below(&dice, 42000) + 1) / 1000;
        int64_t left = (int64_t)((double)dice_below(&dice, 300000) / period_ns);
        struct relax_turn turn = relax_turn(means[i % 3], left, period_ns);
        double rest_ns = turn.depth == RELAX_DEEP ? 9000 : 900;
        if (turn.depth != RELAX_AWAKE)
            assert_true((double)left * period_ns - turn_ns(turn, period_ns) > rest_ns - 1e-6);
    }
}

/* Zero would be for ever; more than 32 bits would not fit MWAITX. */
static void a_turn_is_never_endless(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 30000; i++) {
        double period_ns = (double)(dice_below(&dice, 1000000) + 1) / 1000;
        int64_t left = (int64_t)(dice_wide(&dice) >> 1);
        struct relax_turn turn = relax_turn((enum relax_means)(i % RELAX_MEANS), left, period_ns);
        assert_true((turn.depth == RELAX_AWAKE) == (turn.ticks == 0));
        assert_true(turn_ns(turn, period_ns) < 100000 + 1e-6);
    }
}

static void nothing_sleeps_with_no_time_left(void **state)
{
    static const int64_t lefts[] = {0, 1, -1, 300, -300, INT64_MIN};
    (void)state;
    for (int means = 0; means < RELAX_MEANS; means++)
        for (size_t i = 0; i < sizeof(lefts) / sizeof(lefts[0]); i++)
            assert_int_equal(relax_turn((enum relax_means)means, lefts[i], 1).depth, RELAX_AWAKE);
}

/* By its kernel a WFE lasts up to 100 us; by its manual a WRS.STO some 10 us at most. */
static void what_has_no_deadline_wants_more_time_than_it_may_take(void **state)
{
    (void)state;
    assert_int_equal(relax_turn(RELAX_WFE, 100000, 1).depth, RELAX_AWAKE);
    assert_int_equal(relax_turn(RELAX_WFE, 1000000, 1).depth, RELAX_LIGHT);
    assert_int_equal(relax_turn(RELAX_WRS, 20000, 1).depth, RELAX_AWAKE);
    assert_int_equal(relax_turn(RELAX_WRS, 1000000, 1).depth, RELAX_LIGHT);
}

static void far_away_is_deep_and_near_is_light(void **state)
{
    static const enum relax_means means[] = {RELAX_TPAUSE, RELAX_MWAITX};
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(relax_turn(means[i], 50000, 1).depth, RELAX_DEEP);
        assert_int_equal(relax_turn(means[i], 5000, 1).depth, RELAX_LIGHT);
        assert_int_equal(relax_turn(means[i], 500, 1).depth, RELAX_AWAKE);
    }
}

/* ---- this processor ----------------------------------------------------------------------- */

static void this_processor_s_means_come_back(void **state)
{
    enum relax_means means = relax_means();
    (void)state;
    print_message("here: means %d\n", (int)means);
    assert_int_equal(relax_means(), means);
    for (int64_t left = 0; left < 2000000; left = left * 2 + 1)
        relax(means, timebase_ticks() + (uint64_t)left, 1);
}

static void the_os_clock_for_a_counter_has_no_deadlines(void **state)
{
    int id = timebase_counter_id();
    (void)state;
    assert_int_equal(timebase_counter_select(TIMEBASE_COUNTER_OS), 0);
    assert_int_equal(relax_means(), RELAX_PAUSE);
    timebase_counter_select(id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_takes_tpause_before_mwaitx_before_pause),
        cmocka_unit_test(arm64_takes_wfet_before_wfe_and_wfe_only_with_the_event_stream),
        cmocka_unit_test(power_lowers_its_priority_from_isa_2_07_on),
        cmocka_unit_test(riscv_waits_on_a_reservation_where_the_kernel_says_zawrs),
        cmocka_unit_test(a_turn_with_a_deadline_ends_before_the_time_given),
        cmocka_unit_test(a_turn_is_never_endless),
        cmocka_unit_test(nothing_sleeps_with_no_time_left),
        cmocka_unit_test(what_has_no_deadline_wants_more_time_than_it_may_take),
        cmocka_unit_test(far_away_is_deep_and_near_is_light),
        cmocka_unit_test(this_processor_s_means_come_back),
        cmocka_unit_test(the_os_clock_for_a_counter_has_no_deadlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
