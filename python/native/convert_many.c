/* SPDX-License-Identifier: MIT */
#include "convert_many.h"

void timebase_utc_at_many(const timebase_clock *clock, const uint64_t *ticks, size_t count,
                          int64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = timebase_utc_at_ns(clock, ticks[i]);
}
