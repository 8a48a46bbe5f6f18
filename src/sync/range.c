/* SPDX-License-Identifier: MIT */
/* The pure part of skew: inequalities in, a bound out. */
#include "skew.h"

void skew_there(struct skew_range *range, uint64_t sent_here, uint64_t received_there)
{
    int64_t most_ticks = (int64_t)(received_there - sent_here);
    if (most_ticks < range->high_ticks)
        range->high_ticks = most_ticks;
}

void skew_here(struct skew_range *range, uint64_t sent_there, uint64_t received_here)
{
    int64_t least_ticks = (int64_t)(sent_there - received_here);
    if (least_ticks > range->low_ticks)
        range->low_ticks = least_ticks;
}

bool skew_is_usable(const struct skew_range *range)
{
    return range->low_ticks != INT64_MIN && range->high_ticks != INT64_MAX &&
        range->low_ticks <= range->high_ticks;
}

uint64_t skew_width(const struct skew_range *range)
{
    return (uint64_t)range->high_ticks - (uint64_t)range->low_ticks;
}

int64_t skew_middle(const struct skew_range *range)
{
    return (int64_t)((uint64_t)range->low_ticks + skew_width(range) / 2);
}

struct skew_range skew_chain(const struct skew_range *b_against_a,
                             const struct skew_range *c_against_b)
{
    struct skew_range sum;
    if (!skew_is_usable(b_against_a) || !skew_is_usable(c_against_b) ||
        __builtin_add_overflow(b_against_a->low_ticks, c_against_b->low_ticks, &sum.low_ticks) ||
        __builtin_add_overflow(b_against_a->high_ticks, c_against_b->high_ticks, &sum.high_ticks))
        return SKEW_UNKNOWN;
    return sum;
}

/* Two of the CPUs: the one may be ahead by its highest less the other's lowest. */
static uint64_t ahead(int64_t high_ticks, int64_t low_ticks)
{
    return high_ticks > low_ticks ? (uint64_t)high_ticks - (uint64_t)low_ticks : 0;
}

void skew_extend(struct skew_extremes *extremes, const struct skew_range *range)
{
    int64_t high_ticks = range->high_ticks, low_ticks = range->low_ticks;
    /* Of two CPUs: the new one against those before, which have their extremes. */
    uint64_t over = extremes->is_any ? ahead(high_ticks, extremes->lowest_ticks) : 0;
    uint64_t under = extremes->is_any ? ahead(extremes->highest_ticks, low_ticks) : 0;
    uint64_t most = over > under ? over : under;
    extremes->most_ticks = most > extremes->most_ticks ? most : extremes->most_ticks;
    if (!extremes->is_any || high_ticks > extremes->highest_ticks)
        extremes->highest_ticks = high_ticks;
    if (!extremes->is_any || low_ticks < extremes->lowest_ticks)
        extremes->lowest_ticks = low_ticks;
    extremes->is_any = true;
}

/* ---- the narrowest ------------------------------------------------------------------------- */

static bool do_agree(uint64_t first_ticks, uint64_t second_ticks)
{
    return second_ticks != UINT64_MAX && second_ticks - first_ticks <= first_ticks / 4;
}

static void sort(uint64_t *first_ticks, uint64_t *second_ticks)
{
    uint64_t first = *first_ticks;
    if (first <= *second_ticks)
        return;
    *first_ticks = *second_ticks;
    *second_ticks = first;
}

/* Two that are much narrower and agree were the quickest after all. */
static bool is_true_after_all(struct skew_narrowest *narrowest, uint64_t width_ticks)
{
    uint64_t first = narrowest->doubted_ticks, second = width_ticks;
    sort(&first, &second);
    narrowest->doubted_ticks = width_ticks;
    if (!do_agree(first, second))
        return false;
    *narrowest = (struct skew_narrowest){first, second, UINT64_MAX};
    return true;
}

bool skew_narrow(struct skew_narrowest *narrowest, uint64_t width_ticks)
{
    if (skew_is_settled(narrowest) && width_ticks < narrowest->first_ticks / 2)
        return is_true_after_all(narrowest, width_ticks);
    if (width_ticks < narrowest->second_ticks)
        narrowest->second_ticks = width_ticks;
    sort(&narrowest->first_ticks, &narrowest->second_ticks);
    return true;
}

bool skew_is_settled(const struct skew_narrowest *narrowest)
{
    return do_agree(narrowest->first_ticks, narrowest->second_ticks);
}
