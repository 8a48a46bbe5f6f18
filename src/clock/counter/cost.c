/* SPDX-License-Identifier: MIT */
/*
 * What a read costs when one follows the other, the loop included. The counter is its own
 * stopwatch; the median of several batches leaves interrupts out.
 */
#include <stdlib.h>

#include "probe.h"

enum {
    READS = 128, /* a batch: many, so that the steps of a coarse counter do not count */
    BATCHES = 15,
    BATCHES_LEAST = 3,
};

/* Where reads trap, to an emulator or a system call, fewer batches will do. */
static uint64_t budget_ticks(const struct timebase_counter *counter)
{
    return counter->frequency_hz / 2000; /* 0.5 ms */
}

static uint64_t batch_unordered(void)
{
    uint64_t start = timebase_ticks_ordered();
    for (int i = 0; i < READS; i++)
        (void)timebase_ticks();
    return timebase_ticks_ordered() - start;
}

static uint64_t batch_ordered(void)
{
    uint64_t start = timebase_ticks_ordered();
    for (int i = 0; i < READS; i++)
        (void)timebase_ticks_ordered();
    return timebase_ticks_ordered() - start;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static uint64_t median_batch_ticks(uint64_t (*batch)(void), uint64_t budget)
{
    uint64_t ticks[BATCHES], spent = 0;
    size_t count = 0;
    (void)batch(); /* the first one fetches the code */
    while (count < BATCHES && (count < BATCHES_LEAST || spent < budget)) {
        ticks[count] = batch();
        spent += ticks[count++];
    }
    qsort(ticks, count, sizeof(ticks[0]), compare);
    return ticks[count / 2];
}

uint32_t counter_cost_ps(uint64_t ticks, uint64_t reads, uint64_t frequency_hz)
{
    double ps = (double)ticks * 1e12 / ((double)frequency_hz * (double)reads);
    return ps < (double)UINT32_MAX ? (uint32_t)ps : UINT32_MAX;
}

void counter_find_cost(struct timebase_counter *counter)
{
    uint64_t budget = budget_ticks(counter);
    uint64_t unordered = median_batch_ticks(batch_unordered, budget);
    uint64_t ordered = median_batch_ticks(batch_ordered, budget);
    /* + 1: the read at the batch's end. */
    counter->cost_ps = counter_cost_ps(unordered, READS + 1, counter->frequency_hz);
    counter->cost_ordered_ps = counter_cost_ps(ordered, READS + 1, counter->frequency_hz);
}
