/* SPDX-License-Identifier: MIT */
/* What a sample tells, and what others have told meanwhile. */
#include "clock/page/publish.h"
#include "disruption.h"
#include "keeper_parts.h"

/* Asleep for less is the looking itself (src/clock/discipline). */
#define SUSPEND_MIN_NS 1000000

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
    keeper->is_mark_owed = true;
    keeper->counts.disruptions++;
    publish_count(&keeper->page.disruption_marker);
}

static void hear_claims(struct keeper *keeper, struct discipline_sample *sample)
{
    struct claims *claims = keeper->outside.claims;
    forget_if_moved(keeper, sample);
    if (claims != NULL)
        claims_apply(claims, sample);
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

void keeper_observe(struct keeper *keeper, struct discipline_sample *sample)
{
    note_offset(keeper, sample);
    hear_of_disruption(keeper);
    deal_with_disruption(keeper, sample);
    hear_claims(keeper, sample);
    bool had_leapt = keeper->discipline.leap.has_stepped;
    keeper->events = discipline_observe(&keeper->discipline, sample);
    keeper->counts.leaps += keeper->discipline.leap.has_stepped && !had_leapt;
    count_events(keeper, keeper->events);
    compare_with_adopted(keeper, sample);
    keeper->owed |= keeper->events & DISCIPLINE_DISRUPTED;
    keeper->is_mark_owed = keeper->is_mark_owed || keeper->owed != 0;
    /* What could not be published is still new to readers. */
    keeper->discipline.events |= keeper->owed;
}
