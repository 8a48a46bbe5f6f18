/* SPDX-License-Identifier: MIT */
/* Both multiplications against a third that has nothing in common with them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/arithmetic.h>

#include "dice.h"
#include "multiply_portable.h"

#define RANDOM_CASES 1500000

struct product {
    uint64_t high, low;
};

static uint32_t limb(uint64_t value, int index)
{
    return (value >> (16 * index)) & 0xffff;
}

/* By hand, in digits of 16 bits: no sum exceeds 32 bits, so nothing can be lost. */
static struct product schoolbook(uint64_t a, uint64_t b)
{
    uint32_t digit[8] = {0};
    struct product result = {0, 0};
    for (int i = 0; i < 4; i++) {
        uint32_t carry = 0;
        for (int j = 0; j < 4; j++) {
            uint32_t sum = limb(a, i) * limb(b, j) + digit[i + j] + carry;
            digit[i + j] = sum & 0xffff;
            carry = sum >> 16;
        }
        digit[i + 4] = carry;
    }
    for (int i = 3; i >= 0; i--) {
        result.high = result.high << 16 | digit[i + 4];
        result.low = result.low << 16 | digit[i];
    }
    return result;
}

/* As printed in 2007: the middle products and the carry share one 64-bit sum. */
static uint64_t article_high(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + a_low * b_high + ((a_low * b_low) >> 32);
    return a_high * b_high + (middle >> 32);
}

static void assert_product(uint64_t a, uint64_t b)
{
    struct product wanted = schoolbook(a, b);
    uint64_t low, portable_low;
    uint64_t high = timebase_multiply(a, b, &low);
    uint64_t portable_high = multiply_portably(a, b, &portable_low);
    if (high == wanted.high && low == wanted.low && portable_high == wanted.high &&
        portable_low == wanted.low && timebase_multiply_high(a, b) == wanted.high)
        return;
    fail_msg("%#llx * %#llx", (unsigned long long)a, (unsigned long long)b);
}

static void the_reference_multiplies_right(void **state)
{
    struct product largest = schoolbook(UINT64_MAX, UINT64_MAX);
    struct product shift = schoolbook(0x123456789abcdef0, (uint64_t)1 << 36);
    (void)state;
    assert_true(largest.high == UINT64_MAX - 1 && largest.low == 1);
    assert_true(shift.high == 0x123456789 && shift.low == 0xabcdef0000000000);
}

static void the_carry_that_the_article_lost_is_kept(void **state)
{
    static const uint64_t cases[][3] = {
        {0xffffffffffffffff, 0xffffffffffffffff, 0xfffffffffffffffe},
        {0x80000000ffffffff, 0xffffffffffffffff, 0x80000000fffffffe},
        {0xffffffffffffffff, 0x80000000ffffffff, 0x80000000fffffffe},
        {0xc0000000c0000000, 0xc0000000c0000000, 0x9000000120000000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t low;
        assert_true(timebase_multiply_high(cases[i][0], cases[i][1]) == cases[i][2]);
        assert_true(multiply_portably(cases[i][0], cases[i][1], &low) == cases[i][2]);
        assert_true(article_high(cases[i][0], cases[i][1]) != cases[i][2]);
        assert_product(cases[i][0], cases[i][1]);
    }
}

/* Ticks at which real machines' scales meet the lost carry for the first time. */
static void ticks_at_which_the_article_fails_are_converted(void **state)
{
    static const uint64_t cases[][2] = {
        {0x3c4e0775ffffffff, 0xf000002843ebeedc}, {0xc999999dffffffff, 0xaa3677d46cefa8d9},
        {0x730011f2ffffffff, 0x9a8d5287e1d4d95c}, {0x86000002ffffffff, 0xa6aaaaaaaaaaaaaa},
        {0x8f000004ffffffff, 0xd055555555555555}, {0x40000001ffffffff, 0xc4ec4ec4ec4ec4ec},
        {0xf5673e86ffffffff, 0xaaaaaab15904a1a7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct product right = schoolbook(cases[i][0], cases[i][1]);
        assert_true(article_high(cases[i][0], cases[i][1]) != right.high);
        assert_product(cases[i][0], cases[i][1]);
    }
}

/* Each power of two with its neighbours and complements, against each. */
static void patterns_of_bits_multiply_exactly(void **state)
{
    uint64_t pattern[64 * 4];
    int count = 0;
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t power = (uint64_t)1 << bit;
        pattern[count++] = power;
        pattern[count++] = power - 1;
        pattern[count++] = ~power;
        pattern[count++] = -power;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            assert_product(pattern[i], pattern[j]);
}

static void random_numbers_multiply_exactly(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < RANDOM_CASES; i++) {
        uint64_t a = dice_roll(&dice), b = dice_roll(&dice);
        assert_product(a, b);
        assert_product(dice_wide(&dice), dice_wide(&dice));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_multiplies_right),
        cmocka_unit_test(the_carry_that_the_article_lost_is_kept),
        cmocka_unit_test(ticks_at_which_the_article_fails_are_converted),
        cmocka_unit_test(patterns_of_bits_multiply_exactly),
        cmocka_unit_test(random_numbers_multiply_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
