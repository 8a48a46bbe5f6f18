/* SPDX-License-Identifier: MIT */
#include "readings.h"

int waiter_intersect(const struct waiter *waiter, const uint32_t readings[APPROACH_FINE],
                     uint64_t base_ticks, struct timebase_fine_reading *out)
{
    return vernier_intersect(&waiter->vernier, readings, waiter->vernier.readings,
                             (uint32_t)base_ticks, out);
}

void waiter_intersect_event(const struct waiter *waiter, const uint32_t readings[APPROACH_FINE],
                            uint64_t base_ticks, struct timebase_fine_reading *out)
{
    int is_series = waiter_has_vernier(waiter), count = is_series ? APPROACH_VERNIER : 1;
    const uint32_t *first = readings + (is_series ? APPROACH_FINE - APPROACH_VERNIER : 0);
    vernier_intersect(&waiter->vernier, first, count, (uint32_t)base_ticks, out);
}
