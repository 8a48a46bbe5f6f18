/* SPDX-License-Identifier: MIT */
/* The next lines: drawn a lead ahead, stored, looked at afterwards, recorded. */
#include "clock/page/publish.h"
#include "keeper_parts.h"

/* Between the end of the longest slew and the next publication. */
#define MARGIN_NS 20000000
/* A publication that was overtaken by time is planned again so often. */
#define PLAN_ATTEMPTS 3
/* Readers follow lines unrenewed for as long again as they were meant to last (src/clock). */
#define GRACE_FACTOR 2

/*
 * A tenth to all of the interval is for the slew: it ends before the next step, so that no reader
 * is about to change lines when new ones are published.
 */
static struct schedule schedule_at(const struct keeper *keeper, uint64_t ticks)
{
    uint64_t room_ns = keeper->interval_ns - KEEPER_LEAD_NS;
    struct schedule schedule;
    schedule.now_ticks = ticks;
    schedule.lead_ns = KEEPER_LEAD_NS;
    schedule.slew_max_ns = room_ns > 2 * MARGIN_NS ? room_ns - MARGIN_NS : room_ns / 2;
    schedule.slew_ns = schedule.slew_max_ns / 3;
    schedule.horizon_ns = 2 * keeper->interval_ns;
    schedule.utc_offset_ns = 0; /* the discipline sets it */
    return schedule;
}

/* After a disruption: the last tick for which anybody may have been told a time by the old lines.
 */
static uint64_t followed_ticks(const struct keeper *keeper, const struct schedule *schedule)
{
    uint64_t soon = schedule->now_ticks + keeper_ticks_of(keeper, schedule->lead_ns);
    uint64_t followed =
        keeper->discipline.plan.after.start_ticks + GRACE_FACTOR * keeper->page.refresh_ticks;
    return (int64_t)(soon - followed) < 0 ? soon : followed;
}

struct publication {
    struct discipline_output output;
    bool is_ahead;     /* of its first tick: not so the first lines, after a disruption, or held */
    uint64_t deadline; /* readers must have it by then */
};

/* Held up between planning and now? Then the plan is void. */
static bool is_in_time(const struct keeper *keeper, const struct publication *publication)
{
    uint64_t spare = keeper_ticks_of(keeper, (KEEPER_LEAD_NS - TIMEBASE_PAGE_LEASE_NS) / 4);
    uint64_t lease = keeper_ticks_of(keeper, TIMEBASE_PAGE_LEASE_NS);
    return !publication->is_ahead ||
        (int64_t)(publication->deadline - lease - spare - keeper_ticks(keeper)) > 0;
}

static void plan(struct keeper *keeper, struct publication *publication)
{
    const struct discipline *discipline = &keeper->discipline;
    publication->is_ahead = discipline->has_plan && !discipline->is_holding &&
        !(discipline->events & DISCIPLINE_DISRUPTED);
    for (int attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
        struct schedule schedule = schedule_at(keeper, keeper_ticks(keeper));
        publication->output =
            discipline_plan(discipline, &schedule, followed_ticks(keeper, &schedule));
        publication->deadline =
            plan_deadline(&discipline->plan, &publication->output.plan, schedule.now_ticks);
        if (is_in_time(keeper, publication))
            break;
    }
}

/* Readers who copied the old lines a moment ago use them for a lease from then. */
static void count_if_late(struct keeper *keeper, const struct publication *publication,
                          uint64_t published_ticks)
{
    uint64_t last_use = published_ticks + keeper_ticks_of(keeper, TIMEBASE_PAGE_LEASE_NS);
    if (!publication->is_ahead || (int64_t)(last_use - publication->deadline) <= 0)
        return;
    keeper->counts.late_publications++;
    publish_count(&keeper->page.late_count);
    keeper->outside.store_counts(keeper->outside.context, &keeper->page);
}

static bool is_slew(const struct publication *publication)
{
    return publication->is_ahead && fixed_abs(publication->output.plan.error).ns > KEEPER_SLEW_NS;
}

/* Lines that are held are those from before the disruption, which has yet to be published. */
static void record(struct keeper *keeper, const struct timebase_lines *lines,
                   uint64_t published_ticks)
{
    const struct keeper_outside *outside = &keeper->outside;
    bool is_marked = keeper->is_mark_owed && !keeper->discipline.is_holding;
    outside->record(outside->context, lines, published_ticks, is_marked);
    if (!keeper->discipline.is_holding)
        keeper->owed = 0;
    keeper->is_mark_owed = keeper->is_mark_owed && !is_marked;
}

/* By the lines themselves: without a sample nobody else says when. */
static void note_published(struct keeper *keeper, uint64_t published_ticks)
{
    struct timebase_instant instant;
    keeper->counts.publications++;
    if (timebase_page_convert(&keeper->page, published_ticks, &instant))
        keeper->published_ns = instant.mono_ns;
}

enum keeper_result keeper_publish(struct keeper *keeper)
{
    struct publication publication;
    struct timebase_page present = keeper->page;
    const struct keeper_outside *outside = &keeper->outside;
    plan(keeper, &publication);
    const struct timebase_lines *lines = &publication.output.lines;
    publish_lines(&keeper->page, lines, publication.output.refresh_ticks);
    if (outside->store(outside->context, &keeper->page) != 0) {
        /* Readers have the lines before: the next ones begin from those. */
        keeper->page = present;
        keeper->counts.store_failures++;
        return KEEPER_NOT_STORED;
    }
    uint64_t published_ticks = keeper_ticks(keeper);
    count_if_late(keeper, &publication, published_ticks);
    discipline_commit(&keeper->discipline, &publication.output);
    record(keeper, lines, published_ticks);
    note_published(keeper, published_ticks);
    keeper->counts.slews += is_slew(&publication);
    return KEEPER_PUBLISHED;
}
