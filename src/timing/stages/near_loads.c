/* SPDX-License-Identifier: MIT */
#include "near_loads.h"

#include "timing/waiter/asked.h"

#include "near_code.h"

enum { LOADING_NS = 100 }; /* all lines of one from the second level */

void near_loads_init(struct waiter *waiter, double first_ns, int are_there)
{
    int64_t least = waiter_ticks_of_ns(waiter, first_ns + LOADING_NS);
    waiter->learnt.load_least_ticks = are_there ? least : INT64_MAX;
}

static void load_lines(const struct waiter *waiter)
{
    visit_lines(approach_load, (uintptr_t)waiter, sizeof(*waiter) / APPROACH_LINE);
    visit_code(waiter, EVENT_RETURNS, approach_load);
}

/* On another CPU than it was calibrated on the stages would calibrate anew. */
static int may_load(const struct hurried *asked, int64_t left, double needed)
{
    const struct waiter *waiter = asked->waiter;
    if (event_way_of(asked->function, asked->result) != EVENT_RETURNS || !hurried_is_simple(asked))
        return 0;
    return left < waiter->learnt.near_exact_ticks && (double)left >= needed &&
        evidence_cpu(&waiter->evidence) == waiter->cpu &&
        waiter_prefers_exact(waiter, asked->flags);
}

/* What has been loaded comes from the second level. */
APPROACH_WAY enum near_loaded near_loads(struct hurried *asked, int64_t left)
{
    enum { MORE_NS = 150 };
    struct waiter *waiter = asked->waiter;
    double more = (double)waiter_ticks_of_ns(waiter, MORE_NS);
    double needed = waiter->learnt.near_exact_needs[EVENT_RETURNS].ticks + more;
    if (!may_load(asked, left, needed + (double)waiter_ticks_of_ns(waiter, LOADING_NS)))
        return NEAR_NONE;
    load_lines(waiter);
    uint64_t now = timebase_ticks_ordered();
    if ((double)(int64_t)(asked->ticks - now) < needed)
        return NEAR_TOO_LATE;
    asked->entered_ticks = now;
    return NEAR_LOADED;
}

APPROACH_WAY int near_loads_in_time(struct hurried *asked, int64_t left)
{
    enum near_loaded loaded = near_loads(asked, left);
    if (loaded == NEAR_TOO_LATE)
        caution_doubles(&asked->waiter->far_code);
    else if (loaded == NEAR_LOADED)
        caution_went_well(&asked->waiter->far_code);
    return loaded == NEAR_LOADED;
}
