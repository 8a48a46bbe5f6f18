/* SPDX-License-Identifier: MIT */
/* What a sample tells, and what others have told since the last one. */
#include "clock/page/publish.h"
#include "steps.h"

static void count_step(struct servo *servo, struct timebase_page *page, int64_t step_ns)
{
    servo->counts.utc_steps++;
    servo->counts.last_utc_step_ns = step_ns;
    publish_count(&page->utc_step_count);
}

/* A sleep explains a jump: the counter went on while the reference stood still. */
static void count_events(struct servo *servo, struct timebase_page *page)
{
    struct servo_counts *counts = &servo->counts;
    unsigned events = servo->events;
    bool was_asleep = events & DISCIPLINE_SUSPENDED;
    counts->samples++;
    counts->rate_changes += !!(events & DISCIPLINE_RATE_CHANGED);
    counts->suspends += was_asleep;
    counts->jumps += (events & DISCIPLINE_JUMPED) && !was_asleep;
    counts->backwards += !!(events & DISCIPLINE_BACKWARDS);
    counts->disruptions += (events & DISCIPLINE_DISRUPTED) && !was_asleep;
    if (events & DISCIPLINE_UTC_STEPPED)
        count_step(servo, page, servo->discipline.utc_step_ns);
    if (events & (DISCIPLINE_DISRUPTED | DISCIPLINE_SUSPENDED))
        publish_count(&page->disruption_marker);
}

/* Clock minus reference where the sample was taken, by the lines then in force. */
static void note_offset(struct servo *servo, const struct timebase_page *page,
                        const struct discipline_sample *sample)
{
    struct timebase_instant instant;
    uint64_t middle = sample->ticks_before + (sample->ticks_after - sample->ticks_before) / 2;
    if (timebase_page_convert(page, middle, &instant))
        servo->offset_ns = instant.mono_ns - sample->mono_ns;
}

void servo_hear_disruption(struct servo *servo, struct timebase_page *page)
{
    if (!servo->is_told_disrupted)
        return;
    servo->is_told_disrupted = false;
    servo->is_mark_due = true;
    servo->counts.disruptions++;
    discipline_distrust(&servo->discipline);
    publish_count(&page->disruption_marker);
}

/* The clock may have been stepped while nobody kept the page. */
static void compare_with_adopted(struct servo *servo, struct timebase_page *page,
                                 const struct discipline_sample *sample)
{
    int64_t step_ns = sample->utc_offset_ns - servo->discipline.plan.after.utc_offset_ns;
    if (!servo->is_adopted)
        return;
    servo->is_adopted = false;
    if (step_ns == 0)
        return;
    servo->events |= DISCIPLINE_UTC_STEPPED;
    count_step(servo, page, step_ns);
}

void servo_observe(struct servo *servo, const struct servo_outside *outside,
                   struct discipline_sample *sample)
{
    struct timebase_page *page = outside->page;
    note_offset(servo, page, sample);
    if (outside->amend != NULL)
        outside->amend(outside->context, sample);
    servo_hear_disruption(servo, page);
    bool had_leapt = servo->discipline.leap.has_stepped;
    servo->events = discipline_observe(&servo->discipline, sample);
    servo->counts.leaps += servo->discipline.leap.has_stepped && !had_leapt;
    count_events(servo, page);
    compare_with_adopted(servo, page, sample);
    servo->unpublished |= servo->events & DISCIPLINE_DISRUPTED;
    servo->is_mark_due = servo->is_mark_due || servo->unpublished != 0;
    /* Readers have not yet heard of the events that could not be published. */
    servo->discipline.events |= servo->unpublished;
}
