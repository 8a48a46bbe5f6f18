/* SPDX-License-Identifier: MIT */
/* Arithmetic on ns + frac / 2^64: identities that any 128-bit arithmetic obeys. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "clock/line/fixed.h"

#define CASES 20000

static struct fixed fixed_of(int64_t ns, uint64_t frac)
{
    struct fixed value = {ns, frac};
    return value;
}

static int is_same(struct fixed a, struct fixed b)
{
    return a.ns == b.ns && a.frac == b.frac;
}

static struct fixed roll(struct dice *dice)
{
    return fixed_of((int64_t)dice_wide(dice), dice_wide(dice));
}

static void fractions_carry_into_nanoseconds(void **state)
{
    struct fixed half = fixed_of(0, (uint64_t)1 << 63);
    (void)state;
    assert_true(is_same(fixed_add(half, half), fixed_of(1, 0)));
    assert_true(is_same(fixed_add(fixed_of(6, UINT64_MAX), fixed_of(7, 1)), fixed_of(14, 0)));
    assert_true(
        is_same(fixed_add(fixed_of(6, UINT64_MAX), fixed_of(7, 0)), fixed_of(13, UINT64_MAX)));
    assert_true(is_same(fixed_add(fixed_of(-1, UINT64_MAX), fixed_of(0, 1)), fixed_of(0, 0)));
}

static void nanoseconds_of_a_negative_value_are_rounded_down(void **state)
{
    struct fixed least = fixed_negate(fixed_of(0, 1));
    struct fixed half = fixed_negate(fixed_of(2, (uint64_t)1 << 63));
    (void)state;
    assert_true(is_same(least, fixed_of(-1, UINT64_MAX)));
    assert_true(is_same(half, fixed_of(-3, (uint64_t)1 << 63)));
    assert_true(fixed_is_negative(least));
    assert_false(fixed_is_negative(fixed_of(0, 0)));
    assert_true(is_same(fixed_abs(half), fixed_of(2, (uint64_t)1 << 63)));
}

static void negation_undoes_itself_and_sums_to_nothing(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct fixed a = roll(&dice);
        assert_true(is_same(fixed_negate(fixed_negate(a)), a));
        assert_true(is_same(fixed_add(a, fixed_negate(a)), fixed_of(0, 0)));
        assert_true(is_same(fixed_subtract(a, a), fixed_of(0, 0)));
    }
}

static void subtraction_undoes_addition_at_the_extremes_too(void **state)
{
    struct dice dice = dice_new();
    struct fixed largest = fixed_of(INT64_MAX, UINT64_MAX);
    struct fixed smallest = fixed_of(INT64_MIN, 0);
    (void)state;
    assert_true(is_same(fixed_add(largest, fixed_of(0, 1)), smallest));
    assert_true(is_same(fixed_subtract(smallest, fixed_of(0, 1)), largest));
    for (int i = 0; i < CASES; i++) {
        struct fixed a = roll(&dice), b = roll(&dice);
        assert_true(is_same(fixed_subtract(fixed_add(a, b), b), a));
        assert_true(is_same(fixed_add(a, b), fixed_add(b, a)));
    }
}

static void order_looks_at_nanoseconds_then_at_fractions(void **state)
{
    (void)state;
    assert_true(fixed_less(fixed_of(-1, UINT64_MAX), fixed_of(0, 0)));
    assert_true(fixed_less(fixed_of(5, 1), fixed_of(5, 2)));
    assert_false(fixed_less(fixed_of(5, 2), fixed_of(5, 2)));
    assert_false(fixed_less(fixed_of(5, 2), fixed_of(5, 1)));
    assert_true(fixed_less(fixed_of(INT64_MIN, UINT64_MAX), fixed_of(INT64_MAX, 0)));
    assert_true(fixed_less(fixed_of(5, UINT64_MAX), fixed_of(6, 0)));
}

static void rounding_takes_the_nearest_nanosecond(void **state)
{
    (void)state;
    assert_true(fixed_round(fixed_of(3, ((uint64_t)1 << 63) - 1)) == 3);
    assert_true(fixed_round(fixed_of(3, (uint64_t)1 << 63)) == 4);
    assert_true(fixed_round(fixed_of(-1, UINT64_MAX)) == 0);
    assert_true(fixed_round(fixed_of(-4, 1)) == -4);
}

static void ticks_multiply_one_tick_after_the_other(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct fixed period = fixed_of((int64_t)(dice_wide(&dice) >> 44), dice_wide(&dice));
        uint64_t a = dice_wide(&dice) >> 24, b = dice_wide(&dice) >> 24;
        struct fixed sum = fixed_add(fixed_times(period, a), fixed_times(period, b));
        assert_true(is_same(fixed_times(period, a + b), sum));
        assert_true(is_same(fixed_times(period, 1), period));
        assert_true(is_same(fixed_times(period, 0), fixed_of(0, 0)));
    }
}

static void a_known_product_is_exact(void **state)
{
    struct fixed third = fixed_of(0, UINT64_MAX / 3);
    (void)state;
    assert_true(is_same(fixed_times(third, 3), fixed_of(0, UINT64_MAX)));
    assert_true(is_same(fixed_times(fixed_of(41, (uint64_t)1 << 63), 1000), fixed_of(41500, 0)));
    assert_true(is_same(fixed_times(fixed_of(0, 1), UINT64_MAX), fixed_of(0, UINT64_MAX)));
    assert_true(is_same(fixed_times(fixed_of(0, 2), (uint64_t)1 << 63), fixed_of(1, 0)));
}

static void assert_quotient(uint64_t high, uint64_t low, uint64_t divisor)
{
    uint64_t quotient = fixed_quotient(high, low, divisor);
    uint64_t back_low, back_high = timebase_multiply(quotient, divisor, &back_low);
    uint64_t rest = low - back_low;
    uint64_t rest_high = high - back_high - (low < back_low);
    if (rest_high == 0 && rest < divisor)
        return;
    fail_msg("(%#llx, %#llx) / %#llx", (unsigned long long)high, (unsigned long long)low,
             (unsigned long long)divisor);
}

static void a_quotient_leaves_a_rest_smaller_than_the_divisor(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    assert_quotient(UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);
    assert_quotient(0, UINT64_MAX, 1);
    assert_quotient((uint64_t)1 << 63, 0, ((uint64_t)1 << 63) + 1);
    assert_quotient(0, 0, 7);
    for (int i = 0; i < CASES; i++) {
        uint64_t divisor = dice_wide(&dice) | 1;
        assert_quotient(dice_below(&dice, divisor), dice_wide(&dice), divisor);
    }
}

static void a_division_is_rounded_down_by_less_than_the_last_place(void **state)
{
    struct dice dice = dice_new();
    struct fixed least = fixed_of(0, 1);
    (void)state;
    assert_true(is_same(fixed_over(fixed_from_ns(7), 2), fixed_of(3, (uint64_t)1 << 63)));
    for (int i = 0; i < CASES; i++) {
        struct fixed value = fixed_of((int64_t)(dice_wide(&dice) >> 2), dice_wide(&dice));
        uint64_t ticks = (dice_wide(&dice) >> 3) + 1;
        struct fixed one = fixed_over(value, ticks);
        assert_false(fixed_less(value, fixed_times(one, ticks)));
        assert_true(fixed_less(value, fixed_times(fixed_add(one, least), ticks)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_carry_into_nanoseconds),
        cmocka_unit_test(nanoseconds_of_a_negative_value_are_rounded_down),
        cmocka_unit_test(negation_undoes_itself_and_sums_to_nothing),
        cmocka_unit_test(subtraction_undoes_addition_at_the_extremes_too),
        cmocka_unit_test(order_looks_at_nanoseconds_then_at_fractions),
        cmocka_unit_test(rounding_takes_the_nearest_nanosecond),
        cmocka_unit_test(ticks_multiply_one_tick_after_the_other),
        cmocka_unit_test(a_known_product_is_exact),
        cmocka_unit_test(a_quotient_leaves_a_rest_smaller_than_the_divisor),
        cmocka_unit_test(a_division_is_rounded_down_by_less_than_the_last_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
