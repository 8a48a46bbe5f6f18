/* SPDX-License-Identifier: MIT */
/* The pure part of spread: inequalities in, a bound out. */
#include "skew.h"

void spread_there(struct spread_range *range, uint64_t sent_here, uint64_t received_there)
{
    int64_t most_ticks = (int64_t)(received_there - sent_here);
    if (most_ticks < range->high_ticks)
        range->high_ticks = most_ticks;
}

void spread_here(struct spread_range *range, uint64_t sent_there, uint64_t received_here)
{
    int64_t least_ticks = (int64_t)(sent_there - received_here);
    if (least_ticks > range->low_ticks)
        range->low_ticks = least_ticks;
}

static bool is_usable(const struct spread_range *range)
{
    return range->low_ticks != INT64_MIN && range->high_ticks != INT64_MAX &&
        range->low_ticks <= range->high_ticks;
}

/* CPU a ahead of b: by a's highest less b's lowest. The first CPU's own offset is 0. */
static uint64_t ahead(const struct spread_range *a, const struct spread_range *b)
{
    return a->high_ticks > b->low_ticks ? (uint64_t)a->high_ticks - (uint64_t)b->low_ticks : 0;
}

uint64_t spread_of(const struct spread_range *ranges, unsigned count)
{
    const struct spread_range first = {0, 0};
    uint64_t most_ticks = 0;
    for (unsigned i = 0; i + 1 < count; i++) {
        if (!is_usable(&ranges[i]))
            return UINT64_MAX;
        for (unsigned j = 0; j <= i; j++) {
            const struct spread_range *other = j == 0 ? &first : &ranges[j - 1];
            uint64_t one = ahead(&ranges[i], other), two = ahead(other, &ranges[i]);
            most_ticks = one > most_ticks ? one : most_ticks;
            most_ticks = two > most_ticks ? two : most_ticks;
        }
    }
    return most_ticks;
}
