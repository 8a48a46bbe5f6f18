/* SPDX-License-Identifier: MIT */
#include "scatter.h"

#include <stdbool.h>

/* In this time a remembered correction fades to 1/e. A single pause of this length forgets it. */
#define MEMORY_MS 300000
/* Fractions of a nanosecond, because less than one is forgotten from sample to sample. */
#define PLACES 24
/* Where a step makes the corrections, the largest has usually faded by no more than this part. */
#define FADED_PARTS 4
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

/* What was doubtful is a change of pace unless the two corrections together are explained. */
void scatter_learn(struct scatter *scatter, const struct scatter_sample *sample)
{
    uint64_t size = finely(fixed_abs(sample->correction));
    uint64_t left = finely(fixed_abs(fixed_add(scatter->newest, sample->correction)));
    uint64_t slope = finely_ns(sample->slope_ns), widths = finely_ns(sample->width_ns);
    uint64_t usual = forgotten(scatter->usual, sample->elapsed_ns);
    uint64_t explained = larger(usual, widths / 4) + slope;
    bool is_back = scatter->pace > scatter->sure_pace && left <= explained;
    uint64_t sure = is_back ? scatter->sure_pace : scatter->pace;
    scatter->sure_pace = scatter->pace = forgotten(sure, sample->elapsed_ns);
    if (size > explained && !is_back)
        scatter->pace = larger(scatter->pace, pace_of(size - slope, sample->ticks));
    scatter->newest = sample->correction;
    scatter->usual = slope > widths / 4 ? usual : larger(usual, smaller(size, widths) | 1);
}

uint64_t scatter_ns(const struct scatter *scatter, uint64_t step_ns)
{
    uint64_t usual = scatter->usual, largest = usual + usual / FADED_PARTS;
    return ((usual + smaller(largest, finely_ns(step_ns))) >> (PLACES + 1)) + 1;
}

uint64_t scatter_slope(const struct scatter *scatter, uint64_t error_frac, uint64_t widths_ns,
                       uint64_t ticks)
{
    uint64_t usual_ns = (scatter->usual >> PLACES) + 1;
    if (scatter->usual == 0 || ticks == 0 || usual_ns >= widths_ns)
        return error_frac;
    uint64_t unseen_frac = pace_of(finely_ns(widths_ns - usual_ns), ticks);
    return error_frac > unseen_frac ? error_frac - unseen_frac : 0;
}
