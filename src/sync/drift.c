/* SPDX-License-Identifier: MIT */
/* The pure part of drift: the slopes that a line through all ranges can have. */
#include "drift.h"

#include <string.h>

void drift_add(struct skew_drift *drift, uint64_t ticks, const struct skew_range *range)
{
    if (drift->count == SKEW_MEASUREMENTS)
        memmove(&drift->points[0], &drift->points[1],
                (--drift->count) * sizeof(drift->points[0]));
    drift->points[drift->count++] = (struct skew_measurement){ticks, *range};
}

/* From an earlier range to a later one: no steeper than from the lowest end to the highest. */
static void narrow(struct drift_rate *rate, const struct skew_measurement *from,
                   const struct skew_measurement *to)
{
    double ticks = (double)(int64_t)(to->ticks - from->ticks);
    if (ticks <= 0)
        return;
    double low = ((double)to->range.low_ticks - (double)from->range.high_ticks) / ticks;
    double high = ((double)to->range.high_ticks - (double)from->range.low_ticks) / ticks;
    rate->low = low > rate->low ? low : rate->low;
    rate->high = high < rate->high ? high : rate->high;
}

struct drift_rate drift_of(const struct skew_drift *drift)
{
    struct drift_rate rate = DRIFT_UNKNOWN;
    for (unsigned i = 0; i < drift->count; i++)
        for (unsigned j = i + 1; j < drift->count; j++)
            narrow(&rate, &drift->points[i], &drift->points[j]);
    return rate;
}
