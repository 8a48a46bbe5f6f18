/* SPDX-License-Identifier: MIT */
#include "waiter.h"

int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out)
{
    uint32_t readings[APPROACH_FINE];
    if (waiter->vernier.readings > 1)
        waiter->ways.read_fine(readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
    return vernier_intersect(&waiter->vernier, readings, (uint32_t)base_ticks, out);
}

void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double lead_ticks, int exact)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    double before = exact ? learnt->coarse_ticks : learnt->plain_bias_ticks;
    double base = learnt->shortest_ticks + waiter->vernier.half_step_ticks - lead_ticks;
    a->target_ticks = target_ticks;
    a->leave_ticks = target_ticks - (uint64_t)(int64_t)(before - lead_ticks);
    a->base_256 = (int32_t)(base * 256);
}
