/* SPDX-License-Identifier: MIT */
/*
 * By how many ticks the counter steps. Some count slower than the frequency they are told by: a
 * TSC that steps by 2, or by 26 and with it at 100 MHz. The greatest common divisor of the steps
 * shows it; where they are no whole numbers, even_step.c.
 *
 * Two things would deceive it. A loop of constant length makes constant steps on any counter:
 * so the reads are spaced unevenly. And a processor may add 1 to a read that would equal the
 * one before (seen on AMD EPYC: steps of 26, a few of 1 and 25), which makes the divisor of all
 * steps 1: so it is the median of the divisors of small groups, most of which hold no such pair.
 */
#include "probe.h"

enum {
    READS = 1024,    /* a round */
    ROUNDS_MAX = 64, /* coarse counters: most steps are 0 */
    EVEN_ROUNDS = 4,
    STEPS_WANTED = COUNTER_GROUP_STEPS * COUNTER_GROUPS,
};

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void add_step_forward(struct counter_steps *steps, uint64_t step)
{
    if (steps->smallest == 0 || step < steps->smallest)
        steps->smallest = step;
    steps->count++;
    if (steps->groups == COUNTER_GROUPS)
        return;
    steps->divisor = greatest_common_divisor(step, steps->divisor);
    if (steps->count % COUNTER_GROUP_STEPS == 0) {
        steps->divisors[steps->groups++] = steps->divisor;
        steps->divisor = 0;
    }
}

void counter_add_steps(struct counter_steps *steps, const uint64_t *reads, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t step = reads[i] - reads[i - 1];
        if ((int64_t)step < 0)
            steps->backwards++;
        else if (step > 0)
            add_step_forward(steps, step);
    }
}

/* The median, by insertion: there are few groups, and a kernel has no qsort(). */
uint64_t counter_common_step(const struct counter_steps *steps)
{
    uint64_t sorted[COUNTER_GROUPS];
    if (steps->groups == 0)
        return steps->divisor > 0 ? steps->divisor : 1;
    for (size_t group = 0; group < steps->groups; group++) {
        size_t place = group;
        for (; place > 0 && sorted[place - 1] > steps->divisors[group]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = steps->divisors[group];
    }
    return sorted[steps->groups / 2];
}

/* A few cycles, another number each time. */
static void pause_unevenly(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    for (uint32_t left = *seed >> 27; left > 0; left--)
        __asm__ __volatile__("");
}

/* Read first and divide later, or the divisions would be part of every step. */
static void read_unevenly(uint64_t reads[READS], uint32_t *seed)
{
    for (int i = 0; i < READS; i++) {
        pause_unevenly(seed);
        reads[i] = timebase_ticks();
    }
}

/* A round that was held up tells no even step. */
static double find_steps(struct counter_steps *steps)
{
    uint64_t reads[READS];
    uint32_t seed = 1;
    double even = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (steps->count >= STEPS_WANTED && (even > 0 || round >= EVEN_ROUNDS))
            break;
        read_unevenly(reads, &seed);
        counter_add_steps(steps, reads, READS);
        even = even > 0 ? even : counter_even_step(reads, READS);
    }
    return even;
}

static struct counter_steps steps_of(uint64_t (*read)(void))
{
    struct counter_steps steps = {{0}, 0, 0, 0, 0, 0};
    uint64_t reads[READS];
    for (int i = 0; i < READS; i++)
        reads[i] = read();
    counter_add_steps(&steps, reads, READS);
    return steps;
}

static uint64_t read_unordered(void)
{
    return timebase_ticks();
}

static uint64_t read_ordered(void)
{
    return timebase_ticks_ordered();
}

/* 0 is no step; no step at all gives 1. */
static uint64_t smaller_step(uint64_t a, uint64_t b)
{
    uint64_t smaller = a != 0 && (b == 0 || a < b) ? a : b;
    return smaller != 0 ? smaller : 1;
}

static uint64_t rounded_up(double ticks)
{
    uint64_t whole = (uint64_t)ticks;
    return whole + ((double)whole < ticks);
}

double counter_find_granularity(struct timebase_counter *counter)
{
    struct counter_steps uneven = {{0}, 0, 0, 0, 0, 0};
    struct counter_steps close = steps_of(read_unordered);
    double even = find_steps(&uneven);
    double step = even > 0 ? even : (double)counter_common_step(&uneven);

    counter->granularity_ticks = rounded_up(step);
    counter->smallest_step_ticks = smaller_step(close.smallest, uneven.smallest);
    /* Ordered reads: with the others, the processor may have exchanged two that are right. */
    if (steps_of(read_ordered).backwards > 0)
        counter->reasons |= TIMEBASE_REASON_WENT_BACKWARDS;
    return step;
}
