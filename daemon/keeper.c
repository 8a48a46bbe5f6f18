/* SPDX-License-Identifier: MIT */
#include "keeper.h"

#include <timebase/error.h>

#include "../src/publish/publish.h"
#include "disruption.h"
#include "drift.h"

/* The first interval; doubled until it is the configured one. Lead and slew must fit in. */
#define INTERVAL_FIRST_NS 60000000
/* Before the first lines: from sample to sample. */
#define LEARNING_NS 1000000
/* Asleep for less is the looking itself (src/discipline). */
#define SUSPEND_MIN_NS 1000000
/* The reference or the store failed: look again after this. */
#define FAILED_NS 100000000
/* Between the end of the longest slew and the next publication. */
#define MARGIN_NS 20000000
/* A publication that was overtaken by time is planned again so often. */
#define PLAN_ATTEMPTS 3
/* Readers follow lines unrenewed for as long again as they were meant to last (src/clock). */
#define GRACE_FACTOR 2

static uint64_t now_ticks(const struct keeper *keeper)
{
    return keeper->outside.ticks(keeper->outside.context);
}

void keeper_set(struct keeper *keeper, uint64_t interval_ns, uint32_t drift_ppb)
{
    keeper->interval_max_ns = interval_ns;
    keeper->drift_ppb = drift_ppb;
    if (keeper->interval_ns > interval_ns)
        keeper->interval_ns = interval_ns;
}

void keeper_start(struct keeper *keeper, const struct keeper_outside *outside, uint64_t interval_ns,
                  uint32_t drift_ppb)
{
    static const struct keeper none;
    *keeper = none;
    keeper->outside = *outside;
    publish_begin(&keeper->page, timebase_counter_id());
    keeper_set(keeper, interval_ns, drift_ppb);
}

void keeper_disrupt(struct keeper *keeper)
{
    keeper->is_told_disrupted = true;
}

/* ---- going on with a page that is there ---------------------------------------------------- */

/*
 * Does the page tell the reference's time as a page of this boot does? Held over by an oscillator
 * that was kept by nobody, it may be off by what no jump is.
 */
static bool fits(const struct timebase_page *page, const struct discipline_sample *sample)
{
    struct timebase_instant instant;
    struct timebase_lines lines;
    if (!publish_read_back(page, &lines) ||
        (int64_t)(sample->ticks_before - lines.before.start_ticks) < 0 ||
        !timebase_page_convert(page, sample->ticks_before, &instant))
        return false;
    int64_t age_ns = sample->mono_ns - (int64_t)lines.before.mono_ns;
    int64_t off_ns;
    if (age_ns < 0 || __builtin_sub_overflow(instant.mono_ns, sample->mono_ns, &off_ns))
        return false;
    return !estimator_is_jump(off_ns, age_ns);
}

bool keeper_adopt(struct keeper *keeper, const struct timebase_page *page)
{
    struct discipline_sample sample = {0};
    struct timebase_lines lines;
    const struct keeper_outside *outside = &keeper->outside;
    if (outside->reference->sample(outside->reference_context, &sample) != TIMEBASE_OK ||
        !fits(page, &sample) || !publish_read_back(page, &lines))
        return false;
    keeper->page = *page;
    discipline_adopt(&keeper->discipline, &lines);
    keeper->is_adopted = true;
    return true;
}

/* ---- what a sample tells ------------------------------------------------------------------- */

static void count_step(struct keeper *keeper, int64_t step_ns)
{
    keeper->counts.utc_steps++;
    keeper->counts.last_utc_step_ns = step_ns;
    publish_count(&keeper->page.utc_step_count);
}

static void count_events(struct keeper *keeper, unsigned events)
{
    struct keeper_counts *counts = &keeper->counts;
    bool is_asleep = events & DISCIPLINE_SUSPENDED;
    counts->samples++;
    counts->rate_changes += !!(events & DISCIPLINE_RATE_CHANGED);
    counts->suspends += is_asleep;
    counts->jumps += (events & DISCIPLINE_JUMPED) && !is_asleep;
    counts->backwards += !!(events & DISCIPLINE_BACKWARDS);
    counts->disruptions += (events & DISCIPLINE_DISRUPTED) && !is_asleep;
    if (events & DISCIPLINE_UTC_STEPPED)
        count_step(keeper, keeper->discipline.utc_step_ns);
    if (events & (DISCIPLINE_DISRUPTED | DISCIPLINE_SUSPENDED))
        publish_count(&keeper->page.disruption_marker);
}

/* Clock minus reference at the sample, by the lines then in force. */
static void note_offset(struct keeper *keeper, const struct discipline_sample *sample)
{
    struct timebase_instant instant;
    uint64_t middle = sample->ticks_before + (sample->ticks_after - sample->ticks_before) / 2;
    if (timebase_page_convert(&keeper->page, middle, &instant))
        keeper->offset_ns = instant.mono_ns - sample->mono_ns;
}

/* A clock that was stepped has another distance from UTC than the claims say. */
static void forget_if_moved(struct keeper *keeper, const struct discipline_sample *sample)
{
    const struct discipline *discipline = &keeper->discipline;
    if (!discipline->has_sample || keeper->outside.claims == NULL)
        return;
    if (sample->utc_offset_ns != discipline->sample.utc_offset_ns ||
        sample->suspended_ns - discipline->sample.suspended_ns > SUSPEND_MIN_NS)
        claims_forget(keeper->outside.claims, sample->mono_ns);
}

/* A reference may have said so (vmclock's marker), or keeper_disrupt(). */
static void hear_of_disruption(struct keeper *keeper)
{
    const struct claims *claims = keeper->outside.claims;
    if (claims == NULL || claims->disruptions == keeper->claims_told)
        return;
    keeper->claims_told = claims->disruptions;
    keeper_disrupt(keeper);
}

/* Before the sample is observed: what the counter did until now is no guide, nor what was said. */
static void deal_with_disruption(struct keeper *keeper, const struct discipline_sample *sample)
{
    if (!keeper->is_told_disrupted)
        return;
    keeper->is_told_disrupted = false;
    if (keeper->outside.claims != NULL)
        claims_forget(keeper->outside.claims, sample->mono_ns);
    disruption_apply(&keeper->discipline);
    keeper->counts.disruptions++;
    publish_count(&keeper->page.disruption_marker);
}

static void hear_claims(struct keeper *keeper, struct discipline_sample *sample)
{
    struct claims *claims = keeper->outside.claims;
    forget_if_moved(keeper, sample);
    if (claims != NULL)
        claims_apply(claims, sample);
    bool was_open = keeper->leap.is_open;
    keeper->counts.leaps += leap_guard_apply(&keeper->leap, sample) && !was_open;
}

/* The clock may have been stepped while there was no daemon. */
static void compare_with_adopted(struct keeper *keeper, const struct discipline_sample *sample)
{
    int64_t step_ns = sample->utc_offset_ns - keeper->discipline.plan.after.utc_offset_ns;
    if (!keeper->is_adopted)
        return;
    keeper->is_adopted = false;
    if (step_ns == 0)
        return;
    keeper->events |= DISCIPLINE_UTC_STEPPED;
    count_step(keeper, step_ns);
}

static void observe(struct keeper *keeper, struct discipline_sample *sample)
{
    note_offset(keeper, sample);
    hear_of_disruption(keeper);
    deal_with_disruption(keeper, sample);
    hear_claims(keeper, sample);
    keeper->events = discipline_observe(&keeper->discipline, sample);
    count_events(keeper, keeper->events);
    compare_with_adopted(keeper, sample);
    keeper->owed |= keeper->events & DISCIPLINE_DISRUPTED;
    /* What could not be published is still new to readers. */
    keeper->discipline.events |= keeper->owed;
}

/* ---- the next lines ------------------------------------------------------------------------ */

/* Ticks of a time below 4 s. */
static uint64_t ticks_of(const struct keeper *keeper, uint64_t ns)
{
    return estimator_ticks(keeper->discipline.estimator.period, ns);
}

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
    uint64_t soon = schedule->now_ticks + ticks_of(keeper, schedule->lead_ns);
    uint64_t followed =
        keeper->discipline.plan.after.start_ticks + GRACE_FACTOR * keeper->page.refresh_ticks;
    return (int64_t)(soon - followed) < 0 ? soon : followed;
}

struct publication {
    struct discipline_output output;
    bool is_ahead;     /* of its first tick: not so for the first lines, nor after a disruption */
    uint64_t deadline; /* readers must have it by then */
};

/* Held up between planning and now? Then the plan is void. */
static bool is_in_time(const struct keeper *keeper, const struct publication *publication)
{
    uint64_t spare = ticks_of(keeper, (KEEPER_LEAD_NS - TIMEBASE_PAGE_LEASE_NS) / 4);
    uint64_t lease = ticks_of(keeper, TIMEBASE_PAGE_LEASE_NS);
    return !publication->is_ahead ||
        (int64_t)(publication->deadline - lease - spare - now_ticks(keeper)) > 0;
}

static void plan(struct keeper *keeper, struct publication *publication)
{
    const struct discipline *discipline = &keeper->discipline;
    publication->is_ahead = discipline->has_plan && !(discipline->events & DISCIPLINE_DISRUPTED);
    for (int attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
        struct schedule schedule = schedule_at(keeper, now_ticks(keeper));
        publication->output =
            discipline_plan(discipline, &schedule, followed_ticks(keeper, &schedule));
        publication->deadline =
            plan_deadline(&discipline->plan, &publication->output.plan, schedule.now_ticks);
        if (is_in_time(keeper, publication))
            break;
    }
    drift_widen(&publication->output.lines, discipline, keeper->drift_ppb);
}

/* Readers who copied the old lines a moment ago use them for a lease from then. */
static void count_if_late(struct keeper *keeper, const struct publication *publication,
                          uint64_t published_ticks)
{
    uint64_t last_use = published_ticks + ticks_of(keeper, TIMEBASE_PAGE_LEASE_NS);
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

static enum keeper_result publish(struct keeper *keeper)
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
    uint64_t published_ticks = now_ticks(keeper);
    count_if_late(keeper, &publication, published_ticks);
    discipline_commit(&keeper->discipline, &publication.output);
    outside->record(outside->context, lines, published_ticks, keeper->owed != 0);
    keeper->owed = 0;
    keeper->counts.publications++;
    keeper->counts.slews += is_slew(&publication);
    keeper->published_ns = keeper->discipline.sample.mono_ns;
    return KEEPER_PUBLISHED;
}

/* ---- one step ------------------------------------------------------------------------------ */

/*
 * Ticks until lines may be published: not before the present slew has begun (`before` would lie in
 * the future), and not when readers are about to go from slew to after: those with the old
 * copy would, and those with the new one would not.
 */
static uint64_t hold_ticks(const struct keeper *keeper)
{
    const struct plan *plan = &keeper->discipline.plan;
    uint64_t now = now_ticks(keeper);
    if (!keeper->discipline.has_plan || (int64_t)(now - plan->before.start_ticks) < 0)
        return 0; /* no lines, or the counter went back: what it says of the lines means nothing */
    if ((int64_t)(plan->slew.start_ticks - now) > 0)
        return plan->slew.start_ticks - now;
    int64_t left = (int64_t)(plan->after.start_ticks - now);
    return left > 0 && (uint64_t)left <= ticks_of(keeper, KEEPER_LEAD_NS) ? (uint64_t)left : 0;
}

static void lengthen_interval(struct keeper *keeper)
{
    uint64_t next_ns = keeper->interval_ns == 0 ? INTERVAL_FIRST_NS : 2 * keeper->interval_ns;
    if (keeper->owed != 0)
        next_ns = INTERVAL_FIRST_NS; /* the pace may have changed too: look again soon */
    keeper->interval_ns = next_ns < keeper->interval_max_ns ? next_ns : keeper->interval_max_ns;
}

enum keeper_result keeper_step(struct keeper *keeper)
{
    struct discipline_sample sample = {0};
    const struct keeper_outside *outside = &keeper->outside;
    keeper->events = 0;
    if (hold_ticks(keeper) > 0)
        return KEEPER_TOO_EARLY;
    if (outside->reference->sample(outside->reference_context, &sample) != TIMEBASE_OK) {
        keeper->counts.reference_failures++;
        return KEEPER_NO_REFERENCE;
    }
    observe(keeper, &sample);
    if (!discipline_is_ready(&keeper->discipline))
        return KEEPER_LEARNING;
    lengthen_interval(keeper);
    return publish(keeper);
}

/* ns of ticks, rounded up; the period is known, for there are lines. */
static uint64_t ns_of(const struct keeper *keeper, uint64_t ticks)
{
    return (uint64_t)fixed_times(keeper->discipline.plan.after.period, ticks).ns + 1;
}

uint64_t keeper_wait_ns(const struct keeper *keeper, enum keeper_result result)
{
    switch (result) {
    case KEEPER_PUBLISHED:
        return keeper->interval_ns;
    case KEEPER_TOO_EARLY:
        return ns_of(keeper, hold_ticks(keeper));
    case KEEPER_LEARNING:
        return LEARNING_NS;
    default:
        return FAILED_NS;
    }
}

bool keeper_now(const struct keeper *keeper, struct timebase_instant *instant)
{
    return timebase_page_convert(&keeper->page, now_ticks(keeper), instant);
}
