/* SPDX-License-Identifier: MIT */
/*
 * New lines begin in the future, so that readers have them before their first tick. If the writer
 * was held up between planning and publishing, it plans again with more lead. After publishing it
 * looks whether the last plan was in time, and counts the plan if it was late: readers between the
 * hand-over and the publication were on the old line, which is at most 1,000 ppm of the lateness
 * away from the new one.
 */
#include "clock/page/publish.h"
#include "steps.h"

/* How often a publication that came too late for its first tick is planned again. */
#define PLAN_ATTEMPTS 3
/* Readers follow lines that nobody renews for as long again as the lines were meant to last. */
#define GRACE_FACTOR 2

struct delivery {
    struct discipline_output output;
    bool is_ahead;     /* has to be early; not the first lines, held ones, or after a disruption */
    uint64_t deadline; /* readers must have the lines by then */
    uint64_t lease;    /* ticks for which readers use copies of the lines before */
    uint64_t planned_at; /* ticks */
};

uint64_t servo_hold_ticks(const struct servo *servo, const struct servo_outside *outside)
{
    const struct discipline *discipline = &servo->discipline;
    const struct plan *plan = &discipline->plan;
    uint64_t now = servo_ticks(outside), spread = discipline->sample.spread_ticks;
    if (!discipline->has_plan || (int64_t)(now + spread - discipline->estimator.newest.ticks) < 0)
        return 0; /* no lines, or the counter went back and says nothing of the lines */
    if ((int64_t)(plan->slew.start_ticks - now) > 0)
        return plan->slew.start_ticks - now; /* `before` would lie in the future */
    /* Readers of the old copy would go from slew to after there; those of a new copy would not. */
    int64_t left = (int64_t)(plan->after.start_ticks - now);
    bool is_near = outside->cadence.lease_ns != 0 && left > 0 &&
        (uint64_t)left <= servo_ticks_of(servo, outside->cadence.lead_ns);
    return is_near ? (uint64_t)left : 0;
}

uint64_t servo_followed_ticks(const struct timebase_page *page)
{
    const struct timebase_lines *lines = &page->copy[timebase_page_word(&page->seq) & 1];
    return timebase_page_word(&lines->after.start_ticks) +
        GRACE_FACTOR * timebase_page_word(&page->refresh_ticks);
}

/* The last tick up to which readers may follow the present lines; for plans after a disruption. */
static uint64_t followed_until(const struct servo *servo, const struct timebase_page *page,
                               const struct schedule *schedule)
{
    uint64_t soon = schedule->now_ticks + servo_ticks_of(servo, schedule->lead_ns);
    uint64_t followed = servo_followed_ticks(page);
    return (int64_t)(soon - followed) < 0 ? soon : followed;
}

/* When the plan has been made, a quarter of the time up to its last moment must be left. */
static bool is_in_time(const struct delivery *delivery, uint64_t now)
{
    uint64_t last = delivery->deadline - delivery->lease;
    uint64_t spare = (last - delivery->planned_at) / 4;
    return !delivery->is_ahead || (int64_t)(last - spare - now) > 0;
}

static void plan_ahead(const struct servo *servo, const struct servo_outside *outside,
                       struct delivery *delivery)
{
    const struct discipline *discipline = &servo->discipline;
    bool is_urgent = discipline->events & (DISCIPLINE_UTC_STEPPED | DISCIPLINE_DISRUPTED);
    delivery->is_ahead = discipline->has_plan && !discipline->is_holding &&
        !(discipline->events & DISCIPLINE_DISRUPTED);
    delivery->lease = servo_ticks_of(servo, outside->cadence.lease_ns);
    for (unsigned attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
        struct schedule schedule = cadence_schedule(&outside->cadence, servo->interval_ns,
                                                    servo_ticks(outside), is_urgent, attempt);
        delivery->planned_at = schedule.now_ticks;
        delivery->output =
            discipline_plan(discipline, &schedule, followed_until(servo, outside->page, &schedule));
        delivery->deadline =
            plan_deadline(&discipline->plan, &delivery->output.plan, schedule.now_ticks);
        if (is_in_time(delivery, servo_ticks(outside)))
            break;
    }
}

/* To the page, and to readers elsewhere. If the store fails, all keep the previous lines. */
static bool publish(const struct servo_outside *outside, const struct delivery *delivery)
{
    if (outside->store == NULL) {
        publish_lines(outside->page, &delivery->output.lines, delivery->output.refresh_ticks);
        return true;
    }
    struct timebase_page present = *outside->page;
    publish_lines(outside->page, &delivery->output.lines, delivery->output.refresh_ticks);
    if (outside->store(outside->context, outside->page) == 0)
        return true;
    *outside->page = present;
    return false;
}

/* A reader that copied the previous lines a moment ago uses them for a lease from then. */
static void count_if_late(struct servo *servo, const struct servo_outside *outside,
                          const struct delivery *delivery, uint64_t published_ticks)
{
    uint64_t last_use = published_ticks + delivery->lease;
    if (!delivery->is_ahead || (int64_t)(last_use - delivery->deadline) <= 0)
        return;
    servo->counts.late_publications++;
    publish_count(&outside->page->late_count);
    if (outside->store_counts != NULL)
        outside->store_counts(outside->context, outside->page);
}

/* Held lines are the lines of before: if a disruption is not published yet, they do not publish it,
 * so they are not marked. */
static void record(struct servo *servo, const struct servo_outside *outside,
                   const struct delivery *delivery, uint64_t published_ticks)
{
    bool is_held = servo->discipline.is_holding;
    bool is_marked = servo->is_mark_due && !is_held;
    if (outside->record != NULL)
        outside->record(outside->context, &delivery->output.lines, published_ticks, is_marked);
    if (is_held)
        return;
    servo->unpublished = 0;
    servo->is_mark_due = false;
}

static void count_published(struct servo *servo, const struct timebase_page *page,
                            const struct delivery *delivery, uint64_t published_ticks)
{
    struct timebase_instant instant;
    servo->counts.publications++;
    servo->counts.slews +=
        delivery->is_ahead && fixed_abs(delivery->output.plan.error).ns > SERVO_SLEW_NS;
    /* The lines tell the time of the publication; there may be no sample. */
    if (timebase_page_convert(page, published_ticks, &instant))
        servo->published_ns = instant.mono_ns;
}

enum servo_result servo_publish(struct servo *servo, const struct servo_outside *outside)
{
    struct delivery delivery;
    plan_ahead(servo, outside, &delivery);
    if (!publish(outside, &delivery)) {
        servo->counts.store_failures++;
        return SERVO_NOT_STORED;
    }
    uint64_t published_ticks = servo_ticks(outside);
    count_if_late(servo, outside, &delivery, published_ticks);
    discipline_commit(&servo->discipline, &delivery.output);
    record(servo, outside, &delivery, published_ticks);
    count_published(servo, outside->page, &delivery, published_ticks);
    return SERVO_PUBLISHED;
}
