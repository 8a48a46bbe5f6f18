/* SPDX-License-Identifier: MIT */
/*
 * dice: numbers for tests with many cases. Always the same ones, unless TIMEBASE_TEST_SEED says
 * otherwise; the seed is printed, so that a failure can be had again.
 */
#ifndef TEST_DICE_H
#define TEST_DICE_H

#include <stdint.h>
#include <stdlib.h>

struct dice {
    uint64_t state;
};

static inline struct dice dice_new(void)
{
    const char *seed = getenv("TIMEBASE_TEST_SEED");
    struct dice dice = {seed != NULL ? strtoull(seed, NULL, 0) : 20071103u};
    print_message("TIMEBASE_TEST_SEED=%llu\n", (unsigned long long)dice.state);
    return dice;
}

/* SplitMix64: every 64-bit number comes once in 2^64. */
static inline uint64_t dice_roll(struct dice *dice)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t dice_below(struct dice *dice, uint64_t limit)
{
    return dice_roll(dice) % limit;
}

/* Every number of bits equally often, and often runs of ones or noughts at the lower end. */
static inline uint64_t dice_wide(struct dice *dice)
{
    uint64_t value = dice_roll(dice) >> dice_below(dice, 64);
    uint64_t run = UINT64_MAX >> dice_below(dice, 64);
    switch (dice_below(dice, 4)) {
    case 0:
        return value | run;
    case 1:
        return value & ~run;
    default:
        return value;
    }
}

#endif
