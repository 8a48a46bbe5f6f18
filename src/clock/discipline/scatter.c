/* SPDX-License-Identifier: MIT */
#include "scatter.h"

/* In this time a remembered correction fades to 1/e. A single pause of this length forgets it. */
#define MEMORY_MS 300000
/* Fractions of a nanosecond, because less than one is forgotten from sample to sample. */
#define PLACES 24
/* Larger values count as this one, so that a sum of two does not overflow. */
#define LARGEST_NS ((uint64_t)1 << (62 - PLACES))

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t forgotten(uint64_t value, uint64_t elapsed_ns)
{
    uint64_t ms = smaller(elapsed_ns / 1000000 + 1, MEMORY_MS);
    return value - value / MEMORY_MS * ms;
}

static uint64_t finely(struct fixed value)
{
    uint64_t ns = (uint64_t)value.ns;
    return ns < LARGEST_NS ? ns << PLACES | value.frac >> (64 - PLACES) : LARGEST_NS << PLACES;
}

static uint64_t finely_ns(uint64_t ns)
{
    return smaller(ns, LARGEST_NS) << PLACES;
}

static uint64_t pace_of(uint64_t fine, uint64_t ticks)
{
    struct fixed excess = {(int64_t)(fine >> PLACES), fine << (64 - PLACES)};
    struct fixed pace = fixed_over(excess, larger(ticks, 1));
    return pace.ns > 0 ? UINT64_MAX : pace.frac;
}

void scatter_learn(struct scatter *scatter, const struct scatter_sample *sample)
{
    uint64_t size = finely(fixed_abs(sample->correction));
    uint64_t slope = finely_ns(sample->slope_ns), widths = finely_ns(sample->width_ns);
    uint64_t usual = forgotten(scatter->usual, sample->elapsed_ns);
    uint64_t explained = larger(usual, widths / 4) + slope;
    scatter->pace = forgotten(scatter->pace, sample->elapsed_ns);
    if (size > explained)
        scatter->pace = larger(scatter->pace, pace_of(size - slope, sample->ticks));
    scatter->usual = larger(usual, smaller(size, widths));
}

uint64_t scatter_ns(const struct scatter *scatter)
{
    return (scatter->usual >> (PLACES + 1)) + 1;
}
