/* SPDX-License-Identifier: MIT */
/* aim_edge: where a loop ends by a counter whose step is a whole number of ticks. See approach/edge.h. */
#ifndef WAITER_AIM_EDGE_H
#define WAITER_AIM_EDGE_H

#include "timing/approach/edge.h"
#include "timing/learn/in_code.h"

#include "waiter.h"

/* Edges that are whole numbers of ticks apart, and no farther than the chain goes. How long a cycle is has to be known. */
static inline int waiter_may_end_on_edges(const struct waiter *waiter)
{
    const struct vernier *vernier = &waiter->vernier;
    int is_whole = vernier->span_ticks < vernier->step_ticks;
    return EDGE_IS_POSSIBLE && waiter->learnt.exact && waiter_has_vernier(waiter) && is_whole &&
        vernier->step_ticks * waiter->learnt.edge_links_per_tick <= APPROACH_LONGEST_EDGE;
}

/*
 * The loop that would be left at leave_ticks: on which edge, and how many links from there. A tick sooner than the
 * edge, as the phase of steps may be known a tick too late. If it is another one, as a hypervisor has set the counter
 * since, all loops are late by as much more. However far off the core's clock is, the chain is not entered before
 * its first link.
 */
static inline __attribute__((always_inline)) void waiter_aim_edge(struct waiter *waiter,
                                                                  uint64_t leave_ticks)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    double since = (double)(int64_t)(leave_ticks - learnt->edge_ticks);
    double steps = (double)(int64_t)(since * learnt->edge_steps_per_tick);
    double past = since - steps * waiter->vernier.step_ticks;
    int is_there = learnt->edge_steps_per_tick > 0 && since > 0 && past > 0;
    double links = past * learnt->edge_links_per_tick + in_code(0.5), most = in_code(APPROACH_LONGEST_EDGE);
    a->edge_sooner_ticks = is_there ? (int32_t)past + 1 : 0;
    a->edge_links = is_there ? (int32_t)(links < most ? links : most) : 0;
}

#endif
