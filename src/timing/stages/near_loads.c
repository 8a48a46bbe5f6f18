/* SPDX-License-Identifier: MIT */
#include "near_loads.h"

#include "timing/waiter/asked.h"

#include "near_code.h"

enum { LOADING_NS = 80 }; /* all lines of one from the second level */

void near_loads_init(struct waiter *waiter, double first_ns, int are_there)
{
    int64_t least = waiter_ticks_of_ns(waiter, first_ns + LOADING_NS);
    waiter->learnt.load_least_ticks = are_there ? least : INT64_MAX;
}

static void load_lines(const struct waiter *waiter, enum event_way way)
{
    visit_lines(approach_load, (uintptr_t)waiter, sizeof(*waiter) / APPROACH_LINE);
    visit_code(waiter, way, approach_load);
    visit_rehearsals(waiter, way, approach_load);
}

/* On another CPU than it was calibrated on the stages would calibrate anew. */
static int may_load(const struct hurried *asked, int64_t left, int64_t needed)
{
    const struct waiter *waiter = asked->waiter;
    return hurried_is_simple(asked) && left < waiter->learnt.near_exact_ticks && left >= needed &&
        evidence_cpu(&waiter->evidence) == waiter->cpu &&
        waiter_prefers_exact(waiter, asked->flags);
}

static int64_t left_now(const struct hurried *asked)
{
    return (int64_t)(asked->ticks - timebase_ticks_ordered());
}

/*
 * From its call to here its code has come from where the lines come from that it has not executed.
 * So it takes about as long again to load them. Is there no time for that, by code that is far?
 */
static enum near_loaded foretell(int64_t way_in, int64_t loading, int64_t spare)
{
    enum { FAR = 3 };
    if (spare >= loading && spare >= way_in)
        return NEAR_LOADED;
    return way_in > FAR * loading ? NEAR_TOO_LATE : NEAR_NONE;
}

/* What has been loaded comes from the second level; its event, and what tells, are foreseen. */
static int64_t needed_behind_it(const struct waiter *waiter, enum event_way way)
{
    enum { MORE_NS = 90, MORE_TO_TELL_NS = 280 };
    int64_t more = waiter_ticks_of_ns(waiter, way == EVENT_TELLS ? MORE_TO_TELL_NS : MORE_NS);
    return (int64_t)waiter->learnt.near_exact_needs[way].ticks + more;
}

APPROACH_WAY enum near_loaded near_loads(struct hurried *asked, int64_t left)
{
    struct waiter *waiter = asked->waiter;
    enum event_way way = event_way_of(asked->function, asked->result);
    int64_t loading = waiter_ticks_of_ns(waiter, LOADING_NS);
    int64_t needed = needed_behind_it(waiter, way);
    if (!may_load(asked, left, needed + loading))
        return NEAR_NONE;
    int64_t now_left = left_now(asked);
    enum near_loaded foretold = foretell(left - now_left, loading, now_left - needed);
    if (foretold != NEAR_LOADED)
        return foretold;
    load_lines(waiter, way);
    now_left = left_now(asked);
    if (now_left < needed)
        return NEAR_TOO_LATE;
    asked->entered_ticks = asked->ticks - (uint64_t)now_left;
    asked->is_loaded = 1;
    asked->is_afresh = way == EVENT_CALLED; /* rehearses its call */
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
