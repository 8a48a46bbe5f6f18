/* SPDX-License-Identifier: MIT */
#include <timebase/error.h>

#include "clock/page/publish.h"
#include "keeper_parts.h"

/* The first interval; doubled until it is the configured one. Lead and slew must fit in. */
#define INTERVAL_FIRST_NS 60000000
/* Before the first lines: from sample to sample. */
#define LEARNING_NS 1000000
/* The reference or the store failed: look again after this. */
#define FAILED_NS 100000000

void keeper_set(struct keeper *keeper, uint64_t interval_ns, uint32_t drift_ppb)
{
    keeper->interval_max_ns = interval_ns;
    keeper->drift_ppm = (drift_ppb + 999) / 1000;
    discipline_allow_drift(&keeper->discipline, keeper->drift_ppm);
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
    discipline_allow_drift(&keeper->discipline, keeper->drift_ppm);
    keeper->is_adopted = true;
    return true;
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
    uint64_t now = keeper_ticks(keeper);
    if (!keeper->discipline.has_plan || (int64_t)(now - plan->before.start_ticks) < 0)
        return 0; /* no lines, or the counter went back: what it says of the lines means nothing */
    if ((int64_t)(plan->slew.start_ticks - now) > 0)
        return plan->slew.start_ticks - now;
    int64_t left = (int64_t)(plan->after.start_ticks - now);
    return left > 0 && (uint64_t)left <= keeper_ticks_of(keeper, KEEPER_LEAD_NS) ? (uint64_t)left
                                                                                 : 0;
}

static void lengthen_interval(struct keeper *keeper)
{
    uint64_t next_ns = keeper->interval_ns == 0 ? INTERVAL_FIRST_NS : 2 * keeper->interval_ns;
    if (keeper->owed != 0)
        next_ns = INTERVAL_FIRST_NS; /* the pace may have changed too: look again soon */
    keeper->interval_ns = next_ns < keeper->interval_max_ns ? next_ns : keeper->interval_max_ns;
}

/* No sample: readers are told for how long the lines go on, and at last that they are held over. */
static void hold(struct keeper *keeper)
{
    keeper->counts.reference_failures++;
    discipline_hold(&keeper->discipline, keeper_ticks(keeper));
    if (keeper->discipline.has_plan)
        keeper_publish(keeper);
}

enum keeper_result keeper_step(struct keeper *keeper)
{
    struct discipline_sample sample = {0};
    const struct keeper_outside *outside = &keeper->outside;
    keeper->events = 0;
    if (hold_ticks(keeper) > 0)
        return KEEPER_TOO_EARLY;
    if (outside->reference->sample(outside->reference_context, &sample) != TIMEBASE_OK) {
        hold(keeper);
        return KEEPER_NO_REFERENCE;
    }
    keeper_observe(keeper, &sample);
    if (!discipline_is_ready(&keeper->discipline))
        return KEEPER_LEARNING;
    lengthen_interval(keeper);
    return keeper_publish(keeper);
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
    return timebase_page_convert(&keeper->page, keeper_ticks(keeper), instant);
}
